import { randomUUID } from 'node:crypto';
import { withClient } from '@tollgate/stack/postgres';

/** What a suite beside the real account needs of its database. */

/** An account with an active billing period of that description, without a grace window. */
export async function insertPayer(
  databaseUrl: string,
  description: Readonly<Record<string, unknown>>,
): Promise<{ accountId: number; periodId: number }> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ account_id: string; period_id: string }>(
      `WITH payer AS (
         INSERT INTO accounts (email, name, password_hash) VALUES ($1, 'Someone', 'none') RETURNING account_id
       ), plan AS (
         INSERT INTO plans (name, description, grace_sec) VALUES ($1, $2, 0) RETURNING plan_id
       )
       INSERT INTO billing_periods
         (account_id, plan_id, started_at, ended_at, description, grace_sec, plan_name)
       SELECT account_id, plan_id, date_trunc('second', now() - interval '1 day'),
              date_trunc('second', now() + interval '1 day'), $2, 0, 'Plan'
       FROM payer, plan RETURNING account_id, period_id`,
      [`${randomUUID()}@example.com`, JSON.stringify(description)],
    );
    const [row] = rows;
    if (row === undefined) throw new Error('no period was inserted');
    return { accountId: Number(row.account_id), periodId: Number(row.period_id) };
  });
}

/** Points, calls and bytes. */
export type Counted = { points: number; requests: number; traffic_bytes: number };

/** Counted usage in Postgres, as totals by period and by hour. */
export async function countedUsage(
  databaseUrl: string,
): Promise<{ totals: Map<number, Counted>; hourly: Map<number, Counted>; unassigned: number }> {
  return withClient(databaseUrl, async (client) => {
    const sums = async (table: 'usage_totals' | 'usage_hourly') => {
      const { rows } = await client.query<Record<string, string>>(
        `SELECT period_id, sum(points) AS points, sum(requests) AS requests, sum(traffic_bytes) AS traffic_bytes
         FROM ${table} GROUP BY period_id`,
      );
      return new Map(
        rows.map((row) => [
          Number(row['period_id']),
          {
            points: Number(row['points']),
            requests: Number(row['requests']),
            traffic_bytes: Number(row['traffic_bytes']),
          },
        ]),
      );
    };
    const { rowCount } = await client.query('SELECT 1 FROM usage_unassigned');
    const [totals, hourly] = [await sums('usage_totals'), await sums('usage_hourly')];
    return { totals, hourly, unassigned: rowCount ?? 0 };
  });
}
