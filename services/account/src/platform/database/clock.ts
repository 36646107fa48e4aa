import { singleRow } from './single-row.ts';
import type { Query } from './query.ts';

/**
 * The present second, by Postgres' clock: replicas whose own clocks differ agree on what has begun. To be asked
 * after the locks that a change waits for.
 */
export async function databaseNow(query: Query): Promise<Date> {
  const rows = await query<{ now: Date }>("SELECT date_trunc('second', clock_timestamp()) AS now");
  return singleRow(rows).now;
}
