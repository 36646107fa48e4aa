import type { Query } from '../database/query.ts';
import { observeBacklog } from './backlog.ts';
import type { BacklogGauges, BacklogTable } from './backlog.ts';

/** Takes batch after batch, each in a transaction of its own, until one isn't full; the backlog is shown on both ends. */
export async function drainOutbox(options: {
  query: Query;
  table: BacklogTable;
  metrics: BacklogGauges;
  batchRows: number;
  /** Works off up to `batchRows` rows, and gives how many those were. */
  takeBatch: () => Promise<number>;
}): Promise<void> {
  const { query, table, metrics, batchRows, takeBatch } = options;
  await observeBacklog(query, table, metrics);
  let taken = batchRows;
  while (taken === batchRows) taken = await takeBatch();
  if (taken > 0) await observeBacklog(query, table, metrics);
}
