import { singleRow } from './single-row.ts';
import type { Query } from './query.ts';

/** The current second by Postgres' clock, so that replicas agree. Call it after waiting for locks. */
export async function databaseNow(query: Query): Promise<Date> {
  const rows = await query<{ now: Date }>("SELECT date_trunc('second', clock_timestamp()) AS now");
  return singleRow(rows).now;
}
