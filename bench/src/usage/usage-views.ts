import { basic } from '../auth/auth-rates.ts';
import { makeDatabase } from './further-database.ts';
import type { PartResult } from '../part.ts';
import { spreadOf, spreadText } from '../report/ratios.ts';
import type { Servers } from '../servers.ts';

const APPLICATIONS = 98;
const DAYS = 425;
const ROUNDS = 5;
/** A statement that takes longer is a 503. */
const GOAL_MS = 10_000;

const since = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

/** By their name in the results; a range begins on the day on which it is asked for. */
const VIEWS: Readonly<Record<string, () => string>> = {
  '14 months by day': () => `from=${since(DAYS - 2)}`,
  '14 months by day and application, CSV': () => `from=${since(DAYS - 2)}&group_by=application&format=csv`,
  '14 months by day of one application': () => `from=${since(DAYS - 2)}&application_id=1000`,
  '31 days by hour': () => `from=${since(30)}&interval=hour`,
  '30 days by day and application': () => `group_by=application`,
};

/** An account with a million hourly rows in 14 months: 98 applications, used in every hour. */
export async function measureUsageViews(servers: Servers, say: (line: string) => void): Promise<PartResult> {
  const { demo } = servers;
  const databaseUrl = await makeDatabase(servers, 'views', fillingSql(demo.account_id));
  say('usage-views: the database is filled');
  const account = await servers.startFurther('account', { settings: { DATABASE_URL: databaseUrl } });
  const headers = basic(demo.private.client_id, demo.private.client_secret);
  const tookMs: Record<string, number[]> = {};
  const bytes: Record<string, number> = {};
  for (const [what, queryOf] of Object.entries(VIEWS)) {
    const url = `${account.privateUrl}/private/accounts/${String(demo.account_id)}/usage?${queryOf()}`;
    // Not counted: Postgres has yet to read the rows.
    const answers = [];
    for (let round = 0; round <= ROUNDS; round += 1) answers.push(await ask(url, headers));
    tookMs[what] = answers.slice(1).map(({ ms }) => ms);
    bytes[what] = answers[0]?.bytes ?? 0;
    say(`usage-views: ${what}: ${spreadText(spreadOf(tookMs[what]), 0)} ms`);
  }
  await account.stop();
  const slowest = Math.max(...Object.values(tookMs).flat());
  return {
    goals: [
      {
        what: 'the slowest view of a million hourly rows, ms',
        figure: slowest.toFixed(0),
        target: `< ${String(GOAL_MS)}`,
        reached: slowest < GOAL_MS,
      },
    ],
    notes: [
      `one account with ${String(APPLICATIONS)} applications that were used in each hour of ${String(DAYS)} days (${String(APPLICATIONS * DAYS * 24)} hourly rows), ${String(ROUNDS)} rounds, one request at a time`,
      ...Object.entries(tookMs).map(
        ([what, each]) =>
          `${what}: ${spreadText(spreadOf(each), 0)} ms, ${((bytes[what] ?? 0) / 1_000).toFixed(0)} kB`,
      ),
    ],
    figures: { tookMs, bytes },
  };
}

async function ask(url: string, headers: Record<string, string>): Promise<{ ms: number; bytes: number }> {
  const startedMs = performance.now();
  const answer = await fetch(url, { headers });
  const body = await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`${url} answered ${String(answer.status)}`);
  return { ms: performance.now() - startedMs, bytes: body.byteLength };
}

function fillingSql(accountId: number): string {
  const id = String(accountId);
  return `
    INSERT INTO accounts (account_id, email, name, password_hash) OVERRIDING SYSTEM VALUE
    VALUES (${id}, 'views@bench.example', 'Account', '-');
    INSERT INTO plans (name, description) VALUES ('Bench', '{"points_limit": 1000000000}');
    -- One after the other, up to now and over it.
    INSERT INTO billing_periods (account_id, plan_id, plan_name, description, grace_sec, started_at, ended_at)
    SELECT ${id}, plan_id, name, description, grace_sec,
           date_trunc('second', now()) - back * interval '30 days' - interval '25 days',
           date_trunc('second', now()) - back * interval '30 days' + interval '5 days' - interval '1 second'
    FROM plans, generate_series(0, 14) AS back;
    -- The months that account would make itself, by its names.
    DO $$
    DECLARE month timestamp;
    BEGIN
      FOR month IN SELECT generate_series(
        date_trunc('month', now() AT TIME ZONE 'UTC') - interval '15 months',
        date_trunc('month', now() AT TIME ZONE 'UTC'), interval '1 month') LOOP
        EXECUTE format('CREATE TABLE %I PARTITION OF usage_hourly FOR VALUES FROM (%L) TO (%L)',
          to_char(month, '"usage_hourly_"YYYY_MM'), month AT TIME ZONE 'UTC',
          (month + interval '1 month') AT TIME ZONE 'UTC');
      END LOOP;
    END $$;
    INSERT INTO usage_hourly
    SELECT hour, period_id, ${id}, 1000 + application, 'v2', 10, 10, 0, 10000
    FROM generate_series(1, ${String(DAYS * 24)}) AS back,
         LATERAL (SELECT date_trunc('hour', now()) - back * interval '1 hour' AS hour) AS at
         JOIN billing_periods ON hour BETWEEN started_at AND ended_at,
         generate_series(0, ${String(APPLICATIONS - 1)}) AS application;
    TRUNCATE entitlement_outbox;
    ANALYZE;`;
}
