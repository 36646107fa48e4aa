import type { Knex } from 'knex';
import { createTransact } from '../../../src/platform/database/query.ts';
import { sumHourly, sumTotals } from '../../../src/counting/counters/aggregate.ts';
import { addToHourly, addToTotals } from '../../../src/counting/counters/counters.ts';
import { addToOperations } from '../../../src/counting/operations/store.ts';
import { sumOperations } from '../../../src/counting/operations/sum-operations.ts';
import { ensurePartitions } from '../../../src/counting/retention/partitions.ts';
import { usageEvent } from './usage-streams.ts';

export type PastUsage = { at: string | Date } & Partial<Parameters<typeof usageEvent>[0]>;

/** Counted by the usage reader's statements; `at` is when a call finished. */
export async function countPastUsage(database: Knex, usage: readonly PastUsage[]): Promise<void> {
  const events = usage.map(({ at, ...event }) => usageEvent({ ...event, at_ms: new Date(at).getTime() }));
  await ensurePartitions(
    database,
    events.map(({ at_ms }) => at_ms),
  );
  await createTransact(database)(async (query) => {
    await addToTotals(query, sumTotals(events));
    await addToHourly(query, sumHourly(events));
    await addToOperations(query, sumOperations(events));
  });
}
