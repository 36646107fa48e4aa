import { setTimeout as delay } from 'node:timers/promises';
import type { RedisConnection } from '@tollgate/redis';
import { withClient } from '@tollgate/stack/postgres';
import type { Servers } from '../servers.ts';
import type { Sharing } from '../simulate/unit-costs.ts';

type Redis = Pick<RedisConnection, 'info'>;

/** Postgres' processes tell what they wrote when they have been idle for 10 s. */
const REPORTED_MS = 11_000;

/** Scripts and hourly rows of the work, per call; `work` resolves with the calls. */
export async function measureSharing(
  redis: Redis,
  servers: Pick<Servers, 'databaseUrl'>,
  work: () => Promise<number>,
): Promise<Sharing> {
  await delay(REPORTED_MS);
  const before = { scripts: await scripts(redis), rows: await hourlyRows(servers) };
  const calls = await work();
  const after = await scripts(redis);
  await delay(REPORTED_MS);
  return {
    scriptsPerCall: (after - before.scripts) / calls,
    hourlyRowsPerCall: ((await hourlyRows(servers)) - before.rows) / calls,
  };
}

/** Without those that trim streams, which are account's. */
async function scripts(redis: Redis): Promise<number> {
  const stats = await redis.info('commandstats');
  const callsOf = (command: string) =>
    Number(new RegExp(`^cmdstat_${command}:calls=(\\d+)`, 'm').exec(stats)?.[1] ?? 0);
  return callsOf('evalsha') + callsOf('eval') - callsOf('xtrim');
}

async function hourlyRows({ databaseUrl }: Pick<Servers, 'databaseUrl'>): Promise<number> {
  return await withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ written: string }>(
      `SELECT coalesce(sum(n_tup_ins + n_tup_upd), 0) AS written
       FROM pg_stat_user_tables WHERE relname LIKE 'usage\\_hourly%'`,
    );
    return Number(rows[0]?.written);
  });
}
