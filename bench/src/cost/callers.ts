import type { RedisConnection } from '@tollgate/redis';
import { withClient } from '@tollgate/stack/postgres';
import { freshApplication } from '../operator.ts';
import type { Servers } from '../servers.ts';
import { WIDE_LIMITS } from '../usage/wide-limits.ts';

const ROWS_WEIGHED = 100_000;

export type Payer = { accountId: number; periodId: number };

/** Accounts with a current period and wide limits. `name` tells them from those of other parts. */
export async function makePayers({ databaseUrl }: Servers, count: number, name: string): Promise<Payer[]> {
  return await withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<Payer>(
      `WITH made AS (
         INSERT INTO accounts (email, name, password_hash)
         SELECT $3 || '-' || n || '@bench.example', 'Payer', '-' FROM generate_series(1, $1::integer) AS n
         RETURNING account_id
       )
       INSERT INTO billing_periods
         (account_id, plan_id, plan_name, product_id, description, grace_sec, started_at, ended_at)
       SELECT account_id, plan_id, name, product_id, description || $2::jsonb, grace_sec,
              now() - interval '1 day', now() + interval '1 day'
       FROM made, (SELECT * FROM plans ORDER BY plan_id LIMIT 1) AS plan
       RETURNING account_id::integer AS "accountId", period_id::integer AS "periodId"`,
      [count, JSON.stringify(WIDE_LIMITS), name],
    );
    // New periods ask for a look at their team's slots, which would be measured with the calls.
    await client.query('DELETE FROM usage_alert_checks');
    await client.query('ANALYZE');
    return rows;
  });
}

/** Each token belongs to an application of its own. */
export async function makeTokens(servers: Servers, payers: readonly Payer[]): Promise<string[]> {
  const tokens: string[] = [];
  for (const { accountId } of payers) tokens.push((await freshApplication(servers, accountId)).token);
  return tokens;
}

export async function countedCalls({ databaseUrl }: Servers): Promise<number> {
  return await withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ sum: string }>(
      'SELECT coalesce(sum(requests), 0) AS sum FROM usage_totals',
    );
    return Number(rows[0]?.sum);
  });
}

/** With its indexes, measured with rows of the same shape. */
export async function hourlyRowBytes({ databaseUrl }: Servers): Promise<number> {
  return await withClient(databaseUrl, async (client) => {
    await client.query('CREATE TABLE weighed (LIKE usage_hourly INCLUDING ALL)');
    await client.query(
      `INSERT INTO weighed
       SELECT date_trunc('hour', now()) - (n / 1000) * interval '1 hour', n % 1000, n % 1000, 1, 'v2', 10, 10, 0, 10000
       FROM generate_series(1, $1::integer) AS n`,
      [ROWS_WEIGHED],
    );
    const { rows } = await client.query<{ bytes: string }>(
      "SELECT pg_total_relation_size('weighed') AS bytes",
    );
    await client.query('DROP TABLE weighed');
    return Number(rows[0]?.bytes) / ROWS_WEIGHED;
  });
}

export async function redisBytes(redis: Pick<RedisConnection, 'info'>): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
}
