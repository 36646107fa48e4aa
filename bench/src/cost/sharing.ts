import { setTimeout as delay } from 'node:timers/promises';
import type { RedisConnection } from '@tollgate/redis';
import { withClient } from '@tollgate/stack/postgres';
import { spreadOf } from '../report/ratios.ts';
import type { Servers } from '../servers.ts';
import type { CallScripts } from '../simulate/unit-costs.ts';

/** Postgres' processes tell what they wrote when they have been idle for 10 s. */
const REPORTED_MS = 11_000;

/** Hourly rows written per call of the work, which resolves with the calls. */
export async function hourlyRowsPerCall(
  servers: Pick<Servers, 'databaseUrl'>,
  work: () => Promise<number>,
): Promise<number> {
  await delay(REPORTED_MS);
  const before = await hourlyRows(servers);
  const calls = await work();
  await delay(REPORTED_MS);
  return ((await hourlyRows(servers)) - before) / calls;
}

/**
 * Scripts that ran so far, without those that trim streams, which are account's. Only settlements add to a stream, and
 * set the lifetime of each payer's counters in seconds, which besides only the first call of a payer does; what a
 * gateway says about shares counts as admission.
 */
export async function scriptsSoFar(redis: Pick<RedisConnection, 'info'>): Promise<CallScripts> {
  const stats = await redis.info('commandstats');
  const callsOf = (command: string) =>
    Number(new RegExp(`^cmdstat_${command}:calls=(\\d+)`, 'm').exec(stats)?.[1] ?? 0);
  const settlements = callsOf('xadd');
  return {
    admissions: callsOf('evalsha') + callsOf('eval') - callsOf('xtrim') - settlements,
    settlements,
    settledPayers: callsOf('expire'),
  };
}

export function scriptsPerCall(before: CallScripts, after: CallScripts, calls: number): CallScripts {
  const perCall = (kind: keyof CallScripts) => (after[kind] - before[kind]) / calls;
  return {
    admissions: perCall('admissions'),
    settlements: perCall('settlements'),
    settledPayers: perCall('settledPayers'),
  };
}

export function medianScripts(rounds: readonly CallScripts[]): CallScripts {
  const median = (kind: keyof CallScripts) => spreadOf(rounds.map((scripts) => scripts[kind])).median;
  return {
    admissions: median('admissions'),
    settlements: median('settlements'),
    settledPayers: median('settledPayers'),
  };
}

export function scriptsText({ admissions, settlements, settledPayers }: CallScripts): string {
  return `${admissions.toFixed(2)} admission and ${settlements.toFixed(2)} settlement scripts, with ${settledPayers.toFixed(2)} payers in these`;
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
