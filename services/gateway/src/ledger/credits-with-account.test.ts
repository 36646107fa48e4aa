import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { redisTimeMs } from '@tollgate/redis';
import { withClient } from '@tollgate/stack/postgres';
import { waitFor } from '@tollgate/stack/wait-for';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { countedUsage } from '../../test/suite/records/billing-records.ts';
import { begin, call } from '../../test/suite/http-client.ts';
import type { Answer } from '../../test/suite/http-client.ts';
import { holdAnswers } from '../../test/suite/load/limited-calls.ts';
import { startRealServices } from '../../test/suite/real-services.ts';
import type { Customer, RealServices } from '../../test/suite/real-services.ts';
import { startServer } from '../../test/suite/upstreams/server.ts';
import type { TestServer } from '../../test/suite/upstreams/server.ts';
import { untilStatus } from '../../test/suite/until-status.ts';

/** Two gateways with the real account, which grants, voids and settles credits, and closes periods. */
let services: RealServices;
let upstream: TestServer;
let respond: RequestListener;

/** Of an answer of the upstream, unless a test says otherwise. */
const POINTS = 10;

beforeAll(async () => {
  upstream = await startServer((req, res) => {
    req.resume();
    respond(req, res);
  });
  services = await startRealServices({
    gatewayEnv: {
      UPSTREAM_URL: `${upstream.url}/graphql`,
      SUBSCRIPTION_POINTS_PER_MINUTE: String(POINTS),
    },
    commonEnv: {
      CLOSING_DELAY_SEC: '3',
      PUBLIC_URL: 'https://tollgate.example',
      PAYMENTS: 'stripe',
      STRIPE_SECRET_KEY: 'sk_test_12345678',
      STRIPE_WEBHOOK_SECRET: 'whsec_12345678',
    },
  });
});

beforeEach(() => {
  answerAt(POINTS);
});

afterAll(async () => {
  await services.stop();
  await upstream.close();
});

function answerAt(points: number): void {
  respond = (_req, res) => res.writeHead(200, { 'x-points': String(points) }).end('{}');
}

function answerBy(handler: RequestListener): void {
  respond = handler;
}

function query({ token }: Customer, gateway: 0 | 1): Promise<Answer> {
  return call(`${services.gateways[gateway].publicUrl}/graphql`, {
    headers: { authorization: `Bearer ${token}` },
    body: '{}',
  });
}

async function subscribe({ publicUrl }: ServiceProcess, { token }: Customer) {
  const response = await begin(`${publicUrl}/graphql`, {
    headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
    body: '{"query":"subscription { a }"}',
  }).answer;
  expect(response.statusCode).toBe(200);
  const stream = { received: '', ended: false };
  response.on('data', (chunk: Buffer) => (stream.received += chunk.toString()));
  response.once('end', () => (stream.ended = true));
  return stream;
}

/** By both gateways, until both refuse a call for want of points. Returns the points of all calls that passed. */
async function useUp(customer: Customer): Promise<number> {
  let used = 0;
  for (let refused = 0, calls = 0; refused < 2; calls += 1) {
    const { status } = await query(customer, calls % 2 === 0 ? 0 : 1);
    expect([200, 402]).toContain(status);
    used += status === 200 ? POINTS : 0;
    refused = status === 200 ? 0 : refused + 1;
  }
  return used;
}

type Credit = { credit_id: number; status: string; points_remaining: number; points_voided: number | null };

async function grant({ accountId }: Customer, points: number, terms: object = {}): Promise<Credit> {
  const body = { account_id: accountId, points, source: 'compensation', ...terms };
  const key = { 'Idempotency-Key': randomUUID() };
  return (await services.operate('POST', '/private/credits', body, key)) as Credit;
}

const passes = (customer: Customer) =>
  waitFor(async () => (await query(customer, 0)).status === 200, { intervalMs: 0 });

/** While live counters are rebuilt calls get 503; none is refused for want of points. */
const passesAfterFlush = (customer: Customer, gateway: 0 | 1) =>
  untilStatus(async () => (await query(customer, gateway)).status, 200, [503]);

/** Redis loses everything that is counted. */
async function flush(): Promise<void> {
  await services.allCounted();
  await services.store.flushall();
}

const sql = <Row extends object>(statement: string, values: readonly unknown[]) =>
  withClient(services.databaseUrl, async (client) => (await client.query<Row>(statement, [...values])).rows);

/** Of a period that ends with it. */
const LAST_SECOND = "date_trunc('second', clock_timestamp()) - interval '1 second'";

/** The account's period ends, and another one begins at once, on the same plan. */
async function renewPeriod({ accountId, periodId }: Customer): Promise<number> {
  const rows = await sql<{ period_id: string }>(
    `WITH former AS (
       UPDATE billing_periods SET ended_at = ${LAST_SECOND} WHERE period_id = $2
       RETURNING plan_id, ended_at, description, plan_name
     )
     INSERT INTO billing_periods
       (account_id, plan_id, started_at, ended_at, description, grace_sec, plan_name)
     SELECT $1, plan_id, ended_at + interval '1 second', ended_at + interval '1 day', description, 0, plan_name FROM former
     RETURNING period_id`,
    [accountId, periodId],
  );
  return Number(rows[0]?.period_id);
}

/** account closes no period of the customer until `work` is done, as if its closing delay outlasted every call. */
function beforeClosing<T>({ accountId }: Customer, work: () => Promise<T>): Promise<T> {
  return withClient(services.databaseUrl, async (client) => {
    await client.query('BEGIN');
    await client.query('SELECT FROM accounts WHERE account_id = $1 FOR NO KEY UPDATE', [accountId]);
    const result = await work();
    await client.query('COMMIT');
    return result;
  });
}

async function pointsOf(periodId: number): Promise<number> {
  return (await countedUsage(services.databaseUrl)).totals.get(periodId)?.points ?? 0;
}

async function periodsClosed(periodIds: readonly number[]): Promise<void> {
  await waitFor(
    async () => {
      const open = 'SELECT FROM period_closings WHERE period_id = ANY ($1)';
      return (await sql(open, [periodIds])).length === 0;
    },
    { what: 'periods to be closed' },
  );
}

/** Ends the account's periods; once they are closed, where the points of its grants went, by ledger. */
async function settled(customer: Customer): Promise<Record<string, number>> {
  const ended = await sql<{ period_id: string }>(
    `UPDATE billing_periods
     SET ended_at = least(ended_at, greatest(started_at + interval '1 second', ${LAST_SECOND}))
     WHERE account_id = $1 RETURNING period_id`,
    [customer.accountId],
  );
  await periodsClosed(ended.map(({ period_id }) => Number(period_id)));
  const check = await services.operate('POST', '/private/credit-checks', { account_id: customer.accountId });
  expect(check).toMatchObject({ checked: 1, differences: [] });
  const rows = await sql<{ ledger: string; points: string }>(
    `SELECT ledger, sum(points) AS points FROM (
       SELECT to_ledger AS ledger, points FROM credit_movements WHERE account_id = $1
       UNION ALL SELECT from_ledger, -points FROM credit_movements WHERE account_id = $1
     ) AS sides WHERE ledger <> 'issued' GROUP BY ledger HAVING sum(points) <> 0`,
    [customer.accountId],
  );
  return Object.fromEntries(rows.map(({ ledger, points }) => [ledger, Number(points)]));
}

test('a grant while calls are refused: calls pass again, and exactly its points are used', async () => {
  const customer = await services.newCustomer({ points_limit: 2 * POINTS });
  expect(await useUp(customer)).toBe(2 * POINTS);
  await grant(customer, 5 * POINTS);
  await passes(customer);
  expect(await useUp(customer)).toBe(4 * POINTS);
  await grant(customer, 3 * POINTS);
  await passes(customer);
  expect(await useUp(customer)).toBe(2 * POINTS);
  expect(await settled(customer)).toEqual({ used: 8 * POINTS });
  expect(await pointsOf(customer.periodId)).toBe(10 * POINTS);
});

/** The account's period ends, and a subscription begins, to a plan with so many points. Its changes keep the usage. */
async function subscribed(points: number) {
  const customer = await services.newCustomer({ points_limit: 0 });
  await sql(`UPDATE billing_periods SET ended_at = ${LAST_SECOND} WHERE period_id = $1`, [customer.periodId]);
  const planOf = async (points_limit: number) =>
    services.operate('POST', '/private/plans', {
      name: randomUUID(),
      description: { points_limit },
      grace_sec: 0,
    });
  const { subscription_id } = await services.operate('POST', '/private/subscriptions', {
    account_id: customer.accountId,
    plan_id: (await planOf(points))['plan_id'],
    billing_interval: 'month',
  });
  await passes(customer);
  return {
    customer,
    changeTo: async (points_limit: number) => {
      const { plan_id } = await planOf(points_limit);
      const path = `/private/subscriptions/${String(subscription_id)}/change-plan`;
      await services.operate('POST', path, { plan_id, effective: 'now', usage: 'keep' });
    },
  };
}

test('a larger plan within a period: exactly its points and the credits are used, by both gateways', async () => {
  const { customer, changeTo } = await subscribed(6 * POINTS);
  await grant(customer, 4 * POINTS);
  expect(POINTS + (await useUp(customer))).toBe(10 * POINTS);
  // What both have used is settled with the first grant.
  await grant(customer, 2 * POINTS);
  await passes(customer);
  expect(POINTS + (await useUp(customer))).toBe(2 * POINTS);
  await changeTo(20 * POINTS);
  await passes(customer);
  expect(13 * POINTS + (await useUp(customer))).toBe(26 * POINTS);
  expect(await settled(customer)).toEqual({ used: 6 * POINTS });
});

test('a larger plan within a period gives back the credits that the smaller one needed', async () => {
  const { customer, changeTo } = await subscribed(2 * POINTS);
  await grant(customer, 4 * POINTS);
  expect(POINTS + (await useUp(customer))).toBe(6 * POINTS);
  await grant(customer, POINTS);
  await changeTo(20 * POINTS);
  await passes(customer);
  expect(await settled(customer)).toEqual({ grant: 5 * POINTS });
});

test('a smaller plan within a period: its usage counts against the new points', async () => {
  const { customer, changeTo } = await subscribed(20 * POINTS);
  await grant(customer, 4 * POINTS);
  for (let calls = 1; calls < 8; calls += 1) expect((await query(customer, 0)).status).toBe(200);
  await changeTo(6 * POINTS);
  await waitFor(async () => (await query(customer, 0)).status === 402, { intervalMs: 0 });
  expect(await useUp(customer)).toBe(0);
  expect(await settled(customer)).toMatchObject({ used: 4 * POINTS });
});

test('a refusal says where to buy points, also without any grant', async () => {
  const customer = await services.newCustomer({ points_limit: POINTS });
  await useUp(customer);
  const refused = await query(customer, 1);
  expect(refused.status).toBe(402);
  expect(refused.json()).toMatchObject({
    errors: [{ extensions: { credits_remaining: 0, buy_url: 'https://tollgate.example/user/plan' } }],
  });
});

test('a grant pays for no use before it, also when Redis loses everything right after it', async () => {
  const customer = await services.newCustomer({ points_limit: POINTS });
  await grant(customer, POINTS);
  answerAt(10 * POINTS);
  expect((await query(customer, 0)).status).toBe(200);
  answerAt(POINTS);
  expect(await useUp(customer)).toBe(0);
  await grant(customer, 4 * POINTS);
  await flush();
  await passesAfterFlush(customer, 1);
  expect(await useUp(customer)).toBe(3 * POINTS);
  expect(await settled(customer)).toEqual({ used: 5 * POINTS });
});

test("a grant ends with the second that it expires in by Redis' clock, on both gateways", async () => {
  const customer = await services.newCustomer({ points_limit: 0 });
  const expiresMs = Math.ceil((await redisTimeMs(services.store)) / 1_000) * 1_000 + 3_000;
  const points = 1_000_000;
  await grant(customer, points, { expires_at: new Date(expiresMs).toISOString().replace('.000', '') });
  await passes(customer);
  let used = POINTS;
  for (const gateway of [0, 1] as const) expect((await query(customer, gateway)).status).toBe(200);
  used += 2 * POINTS;
  const refusedFrom = async (gateway: 0 | 1) => {
    for (;;) {
      const beganMs = await redisTimeMs(services.store);
      const { status } = await query(customer, gateway);
      if (status === 402) return redisTimeMs(services.store);
      expect(status).toBe(200);
      expect(beganMs).toBeLessThan(expiresMs);
      used += POINTS;
    }
  };
  for (const refusedMs of await Promise.all([refusedFrom(0), refusedFrom(1)]))
    expect(refusedMs).toBeGreaterThanOrEqual(expiresMs);
  const { used: taken = 0, expired = 0, ...others } = await settled(customer);
  expect([taken + expired, others]).toEqual([points, {}]);
  // One call of each gateway may have been answered after the expiry.
  expect(used - taken).toBeGreaterThanOrEqual(0);
  expect(used - taken).toBeLessThanOrEqual(2 * POINTS);
});

test('once a void is answered no gateway admits a call by its points, and what is left of them is void', async () => {
  const customer = await services.newCustomer({ points_limit: 0 });
  const { credit_id } = await grant(customer, 100 * POINTS);
  await passes(customer);
  for (const gateway of [1, 0, 1] as const) expect((await query(customer, gateway)).status).toBe(200);
  await services.operate('POST', `/private/credits/${String(credit_id)}/void`);
  expect(await useUp(customer)).toBe(0);
  const credit = await waitFor(async () => {
    const found = (await services.operate('GET', `/private/credits/${String(credit_id)}`)) as Credit;
    return found.status === 'void' ? found : undefined;
  });
  expect(credit).toMatchObject({ points_voided: 96 * POINTS, points_remaining: 0 });
  expect(await settled(customer)).toEqual({ used: 4 * POINTS, voided: 96 * POINTS });
});

test('open subscriptions of both gateways use credits, and end with a void', async () => {
  const customer = await services.newCustomer({ points_limit: 0 });
  const { credit_id } = await grant(customer, 100 * POINTS);
  await passes(customer);
  respond = (_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write('event: next\n\n');
  };
  const streams = await Promise.all(services.gateways.map((gateway) => subscribe(gateway, customer)));
  await waitFor(async () => (await pointsOf(customer.periodId)) === 3 * POINTS);
  expect(streams.map(({ ended }) => ended)).toEqual([false, false]);
  await services.operate('POST', `/private/credits/${String(credit_id)}/void`);
  await waitFor(() => streams.every(({ ended }) => ended));
  for (const { received } of streams) expect(received).toContain('"code":"points_limit_exceeded"');
  expect(await settled(customer)).toEqual({ used: 3 * POINTS, voided: 97 * POINTS });
});

test('the border of two periods, with calls in flight in both: credits are used once, and Redis may lose everything', async () => {
  const customer = await services.newCustomer({ points_limit: 0 });
  await grant(customer, 200 * POINTS);
  await passes(customer);
  let used = POINTS;
  const next = await beforeClosing(customer, async () => {
    const held = holdAnswers(answerBy);
    const inFlight = [query(customer, 0), query(customer, 1)];
    await waitFor(() => held.length === 2);
    const nextPeriod = await renewPeriod(customer);
    answerAt(POINTS);
    const statuses = new Set<number>();
    await waitFor(
      async () => {
        for (const gateway of [0, 1] as const) {
          statuses.add((await query(customer, gateway)).status);
          used += POINTS;
        }
        return (await pointsOf(nextPeriod)) > 0;
      },
      { intervalMs: 50 },
    );
    expect([...statuses]).toEqual([200]);
    const ofNext = holdAnswers(answerBy);
    inFlight.push(query(customer, 0), query(customer, 1));
    await waitFor(() => ofNext.length === 2);
    await flush();
    for (const end of [...held, ...ofNext]) end(2 * POINTS);
    expect((await Promise.all(inFlight)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    // What is counted after the closing could be spent once more until then.
    await services.allCounted();
    return nextPeriod;
  });
  used += 8 * POINTS;
  answerAt(POINTS);
  await passesAfterFlush(customer, 0);
  used += POINTS;
  // Until the calls that were in flight are settled, what they cost can be spent once more.
  await waitFor(async () => (await pointsOf(customer.periodId)) + (await pointsOf(next)) === used);
  used += await useUp(customer);
  expect(used).toBe(200 * POINTS);
  await periodsClosed([customer.periodId]);
  // What the closed period used isn't free for the current one.
  expect(await useUp(customer)).toBe(0);
  await flush();
  const refused = async () => {
    const { status } = await query(customer, 1);
    expect(status).not.toBe(200);
    return status === 402;
  };
  await waitFor(refused);
  expect(await settled(customer)).toEqual({ used: 200 * POINTS });
  expect((await pointsOf(customer.periodId)) + (await pointsOf(next))).toBe(200 * POINTS);
});

test('eight callers over a void, the border of two periods, an expiry and a grant: all that they used is settled', async () => {
  const included = 5 * POINTS;
  const customer = await services.newCustomer({ points_limit: included });
  const expiresMs = Math.ceil((await redisTimeMs(services.store)) / 1_000) * 1_000 + 3_000;
  const expires_at = new Date(expiresMs).toISOString().replace('.000', '');
  const granted = [100_000 * POINTS, 50_000 * POINTS, 40 * POINTS] as const;
  await grant(customer, granted[0], { expires_at });
  let used = 0;
  const passed = async (gateway: 0 | 1) => {
    const { status } = await query(customer, gateway);
    expect([200, 402]).toContain(status);
    if (status === 200) used += POINTS;
    return status === 200;
  };
  await waitFor(() => passed(0));
  const stopped = new AbortController();
  const calling = async (gateway: 0 | 1) => {
    while (!stopped.signal.aborted) await passed(gateway);
  };
  const callers = ([0, 1, 0, 1, 0, 1, 0, 1] as const).map(calling);
  const { credit_id } = await grant(customer, granted[1], { priority: 1 });
  await waitFor(async () => (await pointsOf(customer.periodId)) > 100 * POINTS);
  await services.operate('POST', `/private/credits/${String(credit_id)}/void`);
  const next = await renewPeriod(customer);
  await waitFor(async () => (await redisTimeMs(services.store)) > expiresMs);
  const beforeGrant = used;
  await grant(customer, granted[2]);
  await waitFor(() => used > beforeGrant + 20 * POINTS);
  await waitFor(async () => !(await passed(0)) && !(await passed(1)));
  stopped.abort();
  await Promise.all(callers);
  const { used: taken = 0, expired = 0, voided = 0, ...others } = await settled(customer);
  expect((await pointsOf(customer.periodId)) + (await pointsOf(next))).toBe(used);
  expect([taken + expired + voided, others]).toEqual([granted[0] + granted[1] + granted[2], {}]);
  const overuse = used - 2 * included - taken;
  // Only calls that were under way at the expiry, and at the last of the points.
  expect(overuse).toBeGreaterThanOrEqual(0);
  expect(overuse).toBeLessThanOrEqual(2 * 9 * POINTS);
});
