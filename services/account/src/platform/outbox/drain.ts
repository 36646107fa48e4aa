import type { Query } from '../database/query.ts';
import { observeBacklog } from './backlog.ts';
import type { BacklogGauges, BacklogTable } from './backlog.ts';

/** Processes batches, each in its own transaction, until one is not full. */
export async function drainOutbox(options: {
  query: Query;
  table: BacklogTable;
  metrics: BacklogGauges;
  batchRows: number;
  /** Returns how many rows it has processed. */
  takeBatch: () => Promise<number>;
}): Promise<void> {
  const { query, table, metrics, batchRows, takeBatch } = options;
  await observeBacklog(query, table, metrics);
  let taken = batchRows;
  while (taken === batchRows) taken = await takeBatch();
  if (taken > 0) await observeBacklog(query, table, metrics);
}
