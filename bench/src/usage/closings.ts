import { withClient } from '@tollgate/stack/postgres';
import { accessToken } from '../auth/auth-rates.ts';
import { makePayers } from '../cost/callers.ts';
import type { Payer } from '../cost/callers.ts';
import { createCalls } from '../gateway/calls.ts';
import { CONNECTIONS } from '../load/load.ts';
import { until } from '../operator.ts';
import type { PartResult } from '../part.ts';
import { whole } from '../report/ratios.ts';
import type { Servers } from '../servers.ts';
import { findTools } from '../tools.ts';
import { widenLimits } from './wide-limits.ts';

const PERIODS = 10_000;
const CALLS_PER_SEC = 500;
/** With this pause, all connections together make the rate. */
const PACE = { connections: CONNECTIONS, meanPauseMs: (CONNECTIONS / CALLS_PER_SEC) * 1_000 };
const ALONE_SEC = 10;
/** How far ahead the common end lies when it is written: the load has begun by then. */
const AHEAD_SEC = 10;
const GOAL_SEC = 60;
const LIMIT_MS = 600_000;

/**
 * How long it takes to close ten thousand billing periods that end in the same second, as on the first of a month, beside
 * data calls. Each has used more than it includes, so that its closing takes points of a grant.
 */
export async function measureClosings(servers: Servers, say: (line: string) => void): Promise<PartResult> {
  await widenLimits(servers);
  const account = await servers.startFurther('account', { settings: { CLOSING_DELAY_SEC: '0' } });
  const tools = await findTools(servers, say);
  const call = createCalls(servers, tools, await accessToken(servers));
  const gateway = { pid: servers.pidOf('gateway'), url: `${servers.demo.streaming_url}/graphql` };
  const load = (seconds: number) => call(gateway, { ...PACE, seconds });
  const payers = await makePayers(servers, PERIODS, 'closing');
  await giveGrants(servers, payers);
  const openCuts = () => countOf(servers, 'credit_cuts WHERE resolved_at IS NULL');
  await until('all cuts to be resolved', async () => (await openCuts()) === 0, {
    everyMs: 200,
    limitMs: LIMIT_MS,
  });
  say('closings: the periods are ready');
  const alone = await load(ALONE_SEC);
  const [during, seconds] = await Promise.all([load(AHEAD_SEC + GOAL_SEC), closeAll(servers, payers)]);
  say(`closings: ${whole(PERIODS)} periods closed in ${seconds.toFixed(1)} s`);
  await account.stop();
  return {
    goals: [
      {
        what: `seconds from the common end of ${whole(PERIODS)} periods until all are closed, beside ${whole(CALLS_PER_SEC)} calls/s`,
        figure: seconds.toFixed(1),
        target: `< ${String(GOAL_SEC)}`,
        reached: seconds < GOAL_SEC,
      },
    ],
    notes: [
      'One replica of account closes (another is beside it); each period takes 50 points of a grant',
      `${whole(during.perSec)} calls/s: p50 ${during.p50Ms.toFixed(1)} ms and p99 ${during.p99Ms.toFixed(1)} ms; before, without closings, ${whole(alone.perSec)} calls/s with ${alone.p50Ms.toFixed(1)} and ${alone.p99Ms.toFixed(1)} ms`,
    ],
    versions: { wrk: tools.versions.wrk },
    figures: { seconds, during, alone },
  };
}

/** 100 points included, 150 used, and a grant. */
async function giveGrants({ databaseUrl }: Servers, payers: readonly Payer[]): Promise<void> {
  const accountIds = payers.map(({ accountId }) => accountId);
  const periodIds = payers.map(({ periodId }) => periodId);
  await withClient(databaseUrl, async (client) => {
    await client.query(
      `UPDATE billing_periods SET description = description || '{"points_limit": 100}' WHERE period_id = ANY ($1)`,
      [periodIds],
    );
    await client.query('BEGIN');
    await client.query(
      `INSERT INTO credit_grants (account_id, points, source, effective_at, usable_from, reporter, idempotency_key, content_hash)
       SELECT account_id, 1000, 'promotion', date_trunc('second', now()), date_trunc('second', now()), 'bench',
         'closing-' || account_id, repeat('-', 43)
       FROM unnest($1::bigint[]) AS account_id`,
      [accountIds],
    );
    await client.query(
      `INSERT INTO credit_movements (credit_id, account_id, from_ledger, to_ledger, points, reason, at, actor)
       SELECT credit_id, account_id, 'issued', 'grant', points, 'granted', usable_from, 'bench'
       FROM credit_grants WHERE reporter = 'bench'`,
    );
    await client.query('COMMIT');
    await client.query(
      `INSERT INTO usage_totals (period_id, points, requests, time_ms, traffic_bytes)
       SELECT period_id, 150, 1, 0, 0 FROM unnest($1::bigint[]) AS period_id`,
      [periodIds],
    );
    await client.query('DELETE FROM usage_alert_checks');
    await client.query('ANALYZE');
  });
}

/** In one second soon, without a grace window. Returns how many seconds after it the last one was closed. */
async function closeAll({ databaseUrl }: Servers, payers: readonly Payer[]): Promise<number> {
  const periodIds = payers.map(({ periodId }) => periodId);
  return await withClient(databaseUrl, async (client) => {
    await client.query(
      `UPDATE billing_periods SET grace_sec = 0,
         ended_at = date_trunc('second', clock_timestamp()) + $2 * interval '1 second'
       WHERE period_id = ANY ($1)`,
      [periodIds, AHEAD_SEC],
    );
    const secondsOf = async () => {
      const { rows } = await client.query<{ seconds: number | null }>(
        `SELECT CAST(extract(epoch FROM max(closed_at) - max(ended_at + interval '1 second')) AS float8) AS seconds
         FROM billing_periods LEFT JOIN period_credits USING (period_id) WHERE period_id = ANY ($1)
         HAVING count(closed_at) = count(*)`,
        [periodIds],
      );
      return rows[0]?.seconds ?? null;
    };
    await until('all periods to be closed', async () => (await secondsOf()) !== null, {
      everyMs: 500,
      limitMs: LIMIT_MS,
    });
    return (await secondsOf()) ?? Infinity;
  });
}

async function countOf({ databaseUrl }: Servers, rows: string): Promise<number> {
  return await withClient(databaseUrl, async (client) => {
    const { rows: found } = await client.query<{ count: string }>(`SELECT count(*) AS count FROM ${rows}`);
    return Number(found[0]?.count);
  });
}
