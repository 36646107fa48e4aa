import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { withClient } from '@tollgate/stack/postgres';
import { waitFor } from '@tollgate/stack/wait-for';
import { simulation } from '@tollgate/testbed/config';
import {
  SAMPLE_SECRET_KEY,
  SAMPLE_WEBHOOK_SECRET,
  startSamplePayments,
} from '@tollgate/testbed/payments/sample-payments';
import type { SamplePayments } from '@tollgate/testbed/payments/sample-payments';
import { openCaller, startMeteredUpstream } from '../suite/load/load.ts';
import type { Caller, MeteredUpstream } from '../suite/load/load.ts';
import { ledgerFaults } from '../suite/records/ledger-faults.ts';
import { startRealServices } from '../suite/real-services.ts';
import type { Customer, RealServices } from '../suite/real-services.ts';

/**
 * Five gateways with the real account, and customers whose grants, calls, expiries, voids, renewals, plan changes, late
 * usage and caps of further points come at random, while processes are killed: no point is spent twice, none is lost, none
 * is refused while there are usable points, and what was used of a cap is charged once. `SIMULATION_STEPS=200` runs longer, and `SIMULATION_SEED` repeats the steps of a run.
 */
const GATEWAYS = 5;
const CUSTOMERS = 4;
/** One minor unit for a point, so that amounts are points. */
const OVERAGE = { price_per_1000: 1_000, currency: 'eur' };
/** Of each customer, all the time. */
const CALLERS = 3;
const MAX_POINTS = 9;
/** Calls from here on cost one point. */
const FIRST_CHEAP_ID = 1_000_000_000;

let upstream: MeteredUpstream;
let services: RealServices;
let payments: SamplePayments;
let caller: Caller;
let nextId = 0;
let nextCheapId = FIRST_CHEAP_ID;

const { steps, seed } = simulation();

const costOf = (id: number) => (id >= FIRST_CHEAP_ID ? 1 : 1 + ((id * 7_919) % MAX_POINTS));

beforeAll(async () => {
  upstream = await startMeteredUpstream(costOf);
  payments = await startSamplePayments();
  services = await startRealServices({
    gatewayEnv: { UPSTREAM_URL: upstream.url },
    commonEnv: {
      CLOSING_DELAY_SEC: '1',
      PAYMENTS: 'stripe',
      STRIPE_SECRET_KEY: SAMPLE_SECRET_KEY,
      STRIPE_WEBHOOK_SECRET: SAMPLE_WEBHOOK_SECRET,
      STRIPE_API_URL: payments.url,
    },
    gatewayCount: GATEWAYS,
  });
  caller = openCaller(services.gateways, CUSTOMERS * CALLERS);
});

afterAll(async () => {
  await caller.close();
  await services.stop();
  await payments.stop();
  await upstream.close();
});

const sql = <Row extends object>(statement: string, values: readonly unknown[] = []) =>
  withClient(services.databaseUrl, async (client) => (await client.query<Row>(statement, [...values])).rows);

/** Mulberry32: the same seed, the same steps. */
function randomOf(from: number): (below: number) => number {
  let state = from;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

type History = {
  customer: Customer;
  /** In order; the last one is the present one. */
  periods: number[];
  /** Of further points: what is agreed to now, and the most that was while each period ran. */
  cap: number;
  caps: Map<number, number>;
  capChanges: number;
  credits: number[];
  calls: number;
  refused: number;
  /** Points of calls that were answered. */
  answered: number;
  /** Of calls that failed on the way: counted or not. */
  uncertain: number;
  reported: number;
};

async function newHistory(): Promise<History> {
  const customer = await services.newCustomer({ points_limit: 50, overage: OVERAGE });
  const periods = [customer.periodId];
  const counts = { calls: 0, refused: 0, answered: 0, uncertain: 0, reported: 0, capChanges: 0 };
  return { customer, periods, credits: [], cap: 0, caps: new Map(), ...counts };
}

async function call(history: History, id: number): Promise<number> {
  const { status } = await caller.call(id, history.customer.token);
  history.calls += 1;
  if (status === 200) history.answered += costOf(id);
  else if (status === 402) history.refused += 1;
  else history.uncertain += costOf(id);
  return status;
}

/** Until `isOver`, without a pause. */
async function keepCalling(history: History, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    nextId += 1;
    await call(history, nextId);
  }
}

const goesOn = ({ calls }: History, history: History, more: number) =>
  waitFor(() => history.calls >= calls + more, { what: 'more calls' });

async function grant(history: History, random: (below: number) => number): Promise<void> {
  const begins = random(3) === 0 ? new Date((Math.floor(Date.now() / 1_000) + 2) * 1_000) : null;
  const lives = [null, 3, 5][random(3)] ?? null;
  const fromMs = begins?.getTime() ?? Math.floor(Date.now() / 1_000) * 1_000;
  const seconds = (at: Date) => at.toISOString().replace('.000', '');
  const body = {
    account_id: history.customer.accountId,
    points: 60 + random(200),
    source: ['promotion', 'compensation', 'purchase'][random(3)],
    priority: random(2) * 50,
    ...(begins !== null && { effective_at: seconds(begins) }),
    ...(lives !== null && { expires_at: seconds(new Date(fromMs + lives * 1_000)) }),
  };
  const key = { 'Idempotency-Key': randomUUID() };
  const { answered } = history;
  const { credit_id } = await operate('POST', '/private/credits', body, key);
  if (credit_id === undefined) return;
  history.credits.push(Number(credit_id));
  // One that expires soon may do so while account is being restarted, before gateways hear of it.
  if (begins !== null || lives !== null) return;
  await waitFor(() => history.answered > answered, { what: 'calls to pass by a grant' });
}

/** The grant may be used up by now. */
async function voidOne({ credits }: History, random: (below: number) => number): Promise<void> {
  if (credits.length === 0) return;
  await operate('POST', `/private/credits/${String(credits[random(credits.length)])}/void`);
}

/** As `PUT /api/console/overage` stores it; account brings the grants to it. */
async function setCap(history: History, cap: number): Promise<void> {
  history.cap = cap;
  history.capChanges += 1;
  noteCap(history);
  await sql(
    `WITH settings AS (
       INSERT INTO overage_settings (account_id, cap_points, price_per_1000, currency) VALUES ($1, $2, $3, $4)
       ON CONFLICT (account_id) DO UPDATE SET cap_points = excluded.cap_points)
     INSERT INTO overage_checks (account_id) VALUES ($1)`,
    [history.customer.accountId, history.cap, OVERAGE.price_per_1000, OVERAGE.currency],
  );
}

const changeCap = (history: History, random: (below: number) => number) =>
  setCap(history, [0, 40, 150, 400][random(4)] ?? 0);

function noteCap({ periods, caps, cap }: History): void {
  const present = periods.at(-1) ?? 0;
  caps.set(present, Math.max(cap, caps.get(present) ?? 0));
}

/** Another period begins at once, on the same plan or another one. */
async function renew(history: History, random: (below: number) => number): Promise<void> {
  const { customer, periods } = history;
  const former = periods.at(-1);
  const begin = async () => {
    const rows = await sql<{ period_id: string }>(
      `WITH former AS (
         UPDATE billing_periods SET ended_at = date_trunc('second', clock_timestamp()) - interval '1 second'
         WHERE period_id = $2 AND started_at < clock_timestamp() - interval '3 seconds'
         RETURNING plan_id, ended_at, plan_name
       )
       INSERT INTO billing_periods (account_id, plan_id, started_at, ended_at, description, grace_sec, plan_name)
       SELECT $1, plan_id, ended_at + interval '1 second', ended_at + interval '1 day', $3, 0, plan_name
       FROM former RETURNING period_id`,
      [
        customer.accountId,
        former,
        JSON.stringify({ points_limit: [0, 20, 50, 100][random(4)], overage: OVERAGE }),
      ],
    );
    return rows[0]?.period_id;
  };
  // Periods are whole seconds.
  const period_id = await waitFor(begin, { what: 'the period to be some seconds old' });
  periods.push(Number(period_id));
  noteCap(history);
}

/** Of now, or of the first period, which may be closed. */
async function report(history: History, random: (below: number) => number): Promise<void> {
  const points = 1 + random(30);
  const isLate = random(2) === 0;
  const event = {
    idempotency_key: randomUUID(),
    account_id: history.customer.accountId,
    api_version: 'v1',
    points,
    occurred_at: new Date(Date.now() - (isLate ? 3_600_000 : 0)).toISOString(),
    requests: 1,
    time_ms: 0,
    traffic_bytes: 0,
  };
  await operate('POST', '/private/usage-reports', { events: [event] });
  history.reported += points;
}

/**
 * A process that is being restarted is asked again: each request has a key, or can be repeated. Nothing if it is refused,
 * since a time of the request has passed meanwhile.
 */
async function operate(...request: Parameters<RealServices['operate']>): Promise<Record<string, unknown>> {
  let answer: Record<string, unknown> = {};
  await waitFor(
    async () => {
      answer = await services.operate(...request).catch((error: unknown) => {
        if (error instanceof Error && error.message.endsWith(': 400')) return {};
        throw error;
      });
      return true;
    },
    { what: `${request[0]} ${request[1]}` },
  );
  return answer;
}

const ACTIONS = [grant, grant, grant, voidOne, renew, report, changeCap, changeCap] as const;

async function live(history: History, random: (below: number) => number): Promise<void> {
  for (let step = 0; step < steps; step += 1) {
    const action = ACTIONS[random(ACTIONS.length)] ?? grant;
    await action(history, random);
    await goesOn({ ...history }, history, 10 + random(30));
  }
}

/** kill -9 of a gateway and of account, one after the other, in the middle of calls. */
async function killSome(histories: readonly History[]): Promise<void> {
  for (const victim of [services.gateways[2], services.account, services.gateways[0]]) {
    if (victim === undefined) continue;
    await Promise.all(histories.map((history) => goesOn({ ...history }, history, 20)));
    await victim.kill();
    await victim.restart();
    await services.ready(victim);
  }
}

/** Nothing begins or ends by time any more, everything is counted, and every cut is resolved. */
async function atRest({ customer: { accountId } }: History): Promise<void> {
  let waiting: { what: string }[] = [];
  await waitFor(
    async () => {
      waiting = await sql<{ what: string }>(
        `SELECT 'a cut at ' || at AS what FROM credit_cuts WHERE account_id = $1 AND at <= now() AND resolved_at IS NULL
         UNION ALL SELECT 'the correction of ' || period_id FROM credit_corrections JOIN billing_periods USING (period_id)
         WHERE account_id = $1
         UNION ALL SELECT 'a check of further points at ' || next_attempt_at FROM overage_checks WHERE account_id = $1
         UNION ALL SELECT charge_key || ' at ' || next_attempt_at FROM overage_charges
         WHERE account_id = $1 AND next_attempt_at IS NOT NULL
         UNION ALL SELECT 'the closing of ' || period_id FROM period_closings JOIN billing_periods USING (period_id)
         WHERE billing_periods.account_id = $1 AND ends_at < now()`,
        [accountId],
      );
      return waiting.length === 0;
    },
    // A charge that account died of is due again after the lease.
    {
      timeoutMs: 90_000,
      what: () => `an account to be settled: ${waiting.map(({ what }) => what).join(', ')}`,
    },
  );
}

/** How many points the account can use now: included ones, and what grants have that no open period needs. */
async function usablePoints({ customer: { accountId } }: History): Promise<number> {
  const [row] = await sql<{ included: string; credits: string }>(
    `WITH open AS (
       SELECT CAST(description ->> 'points_limit' AS bigint) AS included, coalesce(usage_totals.points, 0) AS used,
         coalesce(settled_points, 0) AS settled, period.ended_at > now() AS is_present
       FROM period_closings JOIN billing_periods AS period USING (period_id)
       LEFT JOIN usage_totals USING (period_id) LEFT JOIN period_credits USING (period_id)
       WHERE period.account_id = $1
     )
     SELECT (SELECT greatest(0, included - used) FROM open WHERE is_present) AS included,
       greatest(0, (SELECT coalesce(sum(points_remaining), 0) FROM credit_grants
         WHERE account_id = $1 AND usable_from <= now() AND coalesce(expires_at > now(), true)
           AND void_requested_at IS NULL)
         - (SELECT coalesce(sum(greatest(0, used - included - settled)), 0) FROM open)) AS credits`,
    [accountId],
  );
  return Number(row?.included) + Number(row?.credits);
}

/** By calls of one point through each gateway in turn, until all refuse. */
async function useUp(history: History): Promise<number> {
  let used = 0;
  for (let refused = 0; refused < GATEWAYS;) {
    nextCheapId += 1;
    const status = await call(history, nextCheapId);
    if (status === 200) used += 1;
    refused = status === 402 ? refused + 1 : 0;
  }
  return used;
}

async function closeAll({ customer: { accountId } }: History): Promise<void> {
  await sql(
    `UPDATE billing_periods
     SET ended_at = least(ended_at, date_trunc('second', clock_timestamp()) - interval '1 second')
     WHERE account_id = $1 AND started_at < ended_at`,
    [accountId],
  );
  await waitFor(
    async () => (await sql('SELECT FROM period_closings WHERE account_id = $1', [accountId])).length === 0,
    { what: 'all periods to be closed' },
  );
}

type Charge = { amount: string; points: string; used: string; period_id: string };

/** What the ledger says was used of each period's further points, and what was charged for it. */
function chargesOf({ customer: { accountId } }: History): Promise<Charge[]> {
  return sql<Charge>(
    `SELECT period_id, (
         SELECT coalesce(sum(CASE WHEN to_ledger = 'used' THEN points ELSE -points END), 0)
         FROM overage_grants JOIN credit_movements AS moved USING (credit_id)
         WHERE overage_grants.period_id = overage.period_id AND 'used' IN (from_ledger, to_ledger)) AS used,
       (SELECT coalesce(sum(points), 0) FROM overage_charges WHERE period_id = overage.period_id) AS points,
       (SELECT coalesce(sum(amount), 0) FROM overage_charges WHERE period_id = overage.period_id) AS amount
     FROM period_overages AS overage WHERE account_id = $1`,
    [accountId],
  );
}

/** By the payment server's invoice items. */
async function chargedAtStripe({ customer: { accountId } }: History): Promise<number> {
  const response = await fetch(`${payments.url}/v1/invoiceitems?limit=100`, {
    headers: { authorization: `Bearer ${SAMPLE_SECRET_KEY}` },
  });
  const { data, has_more } = (await response.json()) as {
    data: { amount: number; metadata: Record<string, string> }[];
    has_more: boolean;
  };
  expect(has_more).toBe(false);
  const own = data.filter(({ metadata }) => metadata['account_id'] === String(accountId));
  return own.reduce((sum, { amount }) => sum + amount, 0);
}

/** What was used of further points is charged, never beyond the cap that the period had. */
async function expectCharged(history: History): Promise<void> {
  const charges = await chargesOf(history);
  for (const { period_id, used, points, amount } of charges) {
    expect({ seed, period_id, points, amount }).toEqual({ seed, period_id, points: used, amount: used });
    expect(Number(used)).toBeLessThanOrEqual(history.caps.get(Number(period_id)) ?? 0);
  }
  expect(charges.some(({ used }) => Number(used) > 0)).toBe(true);
  const total = charges.reduce((sum, { amount }) => sum + Number(amount), 0);
  expect({ seed, charged: await chargedAtStripe(history) }).toEqual({ seed, charged: total });
}

test('no point is spent twice, none is lost, and none is refused while there are usable ones', async () => {
  const random = randomOf(seed);
  const histories = await Promise.all(Array.from({ length: CUSTOMERS }, newHistory));
  let isOver = false;
  const calling = histories.flatMap((history) =>
    Array.from({ length: CALLERS }, () => keepCalling(history, () => isOver)),
  );
  const living = histories.map((history) => live(history, randomOf(random(2 ** 31))));
  try {
    await Promise.all([...living, killSome(histories)]);
  } finally {
    isOver = true;
    await Promise.all(calling);
  }
  // So that each has something that is charged.
  await Promise.all(histories.map((history) => setCap(history, 40)));
  await waitFor(
    async () => {
      const ahead = `SELECT FROM credit_grants
        WHERE void_requested_at IS NULL AND source <> 'overage' AND (usable_from > now() OR expires_at > now())`;
      return (await sql(ahead)).length === 0;
    },
    { what: 'the last grant to begin or expire' },
  );
  await services.allCounted();
  for (const history of histories) {
    await atRest(history);
    const usable = await usablePoints(history);
    expect({ seed, used: await useUp(history) }).toEqual({ seed, used: usable });
  }
  await services.allCounted();
  for (const history of histories) {
    await closeAll(history);
    await atRest(history);
    await expectCharged(history);
    const { accountId } = history.customer;
    expect({ seed, faults: await ledgerFaults(services.databaseUrl, accountId) }).toEqual({
      seed,
      faults: [],
    });
    const check = await operate('POST', '/private/credit-checks', { account_id: accountId });
    expect({ seed, ...check }).toMatchObject({ seed, checked: 1, differences: [] });
    const [sums] = await sql<{ counted: string; overuse: string }>(
      `SELECT coalesce(sum(points), 0) AS counted, coalesce(sum(overuse_points), 0) AS overuse
       FROM billing_periods LEFT JOIN usage_totals USING (period_id) LEFT JOIN period_credits USING (period_id)
       WHERE account_id = $1`,
      [accountId],
    );
    const { answered, uncertain, reported, credits, periods, capChanges } = history;
    // Every answered call is counted once; of one that failed on the way, the caller can't know.
    expect(Number(sums?.counted)).toBeGreaterThanOrEqual(answered + reported);
    expect(Number(sums?.counted)).toBeLessThanOrEqual(answered + reported + uncertain);
    // Only calls that were under way when points ran out or ended, and reports, which aren't asked before.
    const ends = 2 * (credits.length + capChanges) + periods.length + 1;
    expect(Number(sums?.overuse)).toBeLessThanOrEqual(ends * CALLERS * MAX_POINTS + reported + uncertain);
  }
}, 400_000);
