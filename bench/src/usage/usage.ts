import { accessToken } from '../auth/auth-rates.ts';
import { makeDatabase } from './further-database.ts';
import type { PartResult } from '../part.ts';
import { spreadOf, spreadText, whole } from '../report/ratios.ts';
import type { Servers } from '../servers.ts';
import { findTools } from '../tools.ts';
import { createWrk } from '../load/wrk.ts';
import type { RunWrk } from '../load/wrk.ts';

const ACCOUNTS = 10_000;
const HOURLY_ROWS = 1_000_000;
const PERIODS = 100;
const ROUNDS = 5;
const ROUND_SEC = 2;
const CONNECTIONS = 8;
const GOAL_TIMES_AS_LONG = 1.5;

type Round = { perSec: number; meanMs: number; cpuMsEach: number };
type Side = { url: string; pid: number; stop: () => Promise<unknown> };

/** A database with 10,000 accounts and a million hourly rows should take no longer than the sample's. */
export async function measureUsage(servers: Servers, say: (line: string) => void): Promise<PartResult> {
  const databaseUrl = await makeDatabase(servers, 'large', fillingSql(servers.demo.account_id));
  say('usage: the large database is filled');
  const small = await servers.startFurther('account');
  const large = await servers.startFurther('account', { settings: { DATABASE_URL: databaseUrl } });
  const headers = { authorization: `Bearer ${await accessToken(servers)}` };
  const tools = await findTools(servers, say);
  const wrk = createWrk(servers, tools);
  for (const side of [small, large]) await load(wrk, side, headers);
  const rounds: { small: Round; large: Round }[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const pair = { small: await load(wrk, small, headers), large: await load(wrk, large, headers) };
    rounds.push(pair);
    say(
      `usage ${String(round)}/${String(ROUNDS)}: ${whole(pair.small.perSec)} answers/s, over the large database ${whole(pair.large.perSec)}`,
    );
  }
  await Promise.all([small.stop(), large.stop()]);
  const ratio = spreadOf(rounds.map((pair) => pair.large.meanMs / pair.small.meanMs));
  const rate = (side: 'small' | 'large') => spreadText(spreadOf(rounds.map((pair) => pair[side].perSec)), 0);
  const cpu = spreadOf(rounds.map((pair) => pair.large.cpuMsEach / pair.small.cpuMsEach));
  return {
    goals: [
      {
        what: 'GET /api/usage over the large database, times as long',
        figure: spreadText(ratio),
        target: `< ${String(GOAL_TIMES_AS_LONG)}`,
        reached: ratio.median < GOAL_TIMES_AS_LONG,
      },
    ],
    notes: [
      `${String(ACCOUNTS)} accounts, ${String(HOURLY_ROWS)} hourly rows and ${String(PERIODS)} periods of the account that asks, beside the sample's accounts; two account processes, ${String(ROUNDS)} rounds of ${String(ROUND_SEC)} s each, ${String(CONNECTIONS)} connections`,
      `answers/s: ${rate('small')}, over the large database ${rate('large')}; CPU of account for each answer ${spreadText(cpu)} times`,
    ],
    versions: { wrk: tools.versions.wrk },
    figures: { rounds },
  };
}

async function load(wrk: RunWrk, { url, pid }: Side, headers: Record<string, string>): Promise<Round> {
  const target = { pid, url: `${url}/api/usage`, method: 'GET', headers, body: '' } as const;
  const { perSec, serverCpu } = await wrk(target, { seconds: ROUND_SEC, connections: CONNECTIONS });
  return {
    perSec,
    // Little's law.
    meanMs: (CONNECTIONS / perSec) * 1_000,
    cpuMsEach: (serverCpu / perSec) * 1_000,
  };
}

function fillingSql(askingAccount: number): string {
  const rowsEach = HOURLY_ROWS / ACCOUNTS;
  return `
    INSERT INTO accounts (email, name, password_hash)
    SELECT 'account-' || n || '@bench.example', 'Account', '-' FROM generate_series(1, ${String(ACCOUNTS)}) AS n;
    INSERT INTO plans (name, description) VALUES ('Bench', '{"points_limit": 1000000000}');
    -- Each account has a period that covers now; the one that asks has its earlier ones, too.
    INSERT INTO billing_periods (account_id, plan_id, plan_name, description, grace_sec, started_at, ended_at)
    SELECT account_id, plan_id, plans.name, description, grace_sec,
           date_trunc('second', now()) - back * interval '10 days' - interval '5 days',
           date_trunc('second', now()) - back * interval '10 days' + interval '5 days' - interval '1 second'
    FROM accounts, plans,
         generate_series(0, CASE WHEN account_id = ${String(askingAccount)} THEN ${String(PERIODS - 1)} ELSE 0 END) AS back;
    INSERT INTO usage_totals SELECT period_id, 1000, 1000, 0, 1000000 FROM billing_periods;
    -- The months that account would make itself, by its names.
    DO $$
    DECLARE month timestamp;
    BEGIN
      FOREACH month IN ARRAY ARRAY[date_trunc('month', now() AT TIME ZONE 'UTC') - interval '1 month',
                                   date_trunc('month', now() AT TIME ZONE 'UTC')] LOOP
        EXECUTE format('CREATE TABLE %I PARTITION OF usage_hourly FOR VALUES FROM (%L) TO (%L)',
          to_char(month, '"usage_hourly_"YYYY_MM'), month AT TIME ZONE 'UTC',
          (month + interval '1 month') AT TIME ZONE 'UTC');
      END LOOP;
    END $$;
    INSERT INTO usage_hourly
    SELECT date_trunc('hour', now()) - hour * interval '1 hour', period_id, account_id, 1, 'v2', 10, 10, 0, 10000
    FROM billing_periods, generate_series(0, ${String(rowsEach - 1)}) AS hour
    WHERE ended_at > now();
    -- No cache holds any of these accounts.
    TRUNCATE entitlement_outbox;
    ANALYZE;`;
}
