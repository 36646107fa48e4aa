import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { withClient } from '@tollgate/stack/postgres';
import { waitFor } from '@tollgate/stack/wait-for';
import { countedUsage } from '../../test/suite/records/billing-records.ts';
import { call } from '../../test/suite/http-client.ts';
import type { Answer } from '../../test/suite/http-client.ts';
import { startRealServices } from '../../test/suite/real-services.ts';
import type { Customer, RealServices } from '../../test/suite/real-services.ts';
import { startServer } from '../../test/suite/upstreams/server.ts';
import type { TestServer } from '../../test/suite/upstreams/server.ts';

/** Two gateways with the real account, where operators set budgets. */
let services: RealServices;
let upstream: TestServer;

/** Of each call. */
const POINTS = 10;

beforeAll(async () => {
  upstream = await startServer((req, res) => {
    req.resume();
    res.writeHead(200, { 'x-points': String(POINTS) }).end('{}');
  });
  services = await startRealServices({ gatewayEnv: { UPSTREAM_URL: `${upstream.url}/graphql` } });
});

afterAll(async () => {
  await services.stop();
  await upstream.close();
});

type Figures = { points_per_period?: number | null; points_per_day?: number | null };

const limitApplication = ({ applicationId }: Customer, budget: Figures) =>
  services.operate('PUT', `/private/applications/${String(applicationId)}/budget`, budget);

const limitMember = ({ accountId }: Customer, budget: Figures) =>
  services.operate('PUT', `/private/members/${String(accountId)}/budget`, budget);

function query({ token }: Customer, gateway: 0 | 1): Promise<Answer> {
  return call(`${services.gateways[gateway].publicUrl}/graphql`, {
    headers: { authorization: `Bearer ${token}` },
    body: '{}',
  });
}

type Refusal = { code: string; budget?: string; window?: string };

const refusalOf = (answer: Answer): Refusal | undefined =>
  (answer.json() as { errors?: { extensions: Refusal }[] }).errors?.[0]?.extensions;

/** By both gateways, until both refuse. While live counters are rebuilt calls may get 503. */
async function useUp(customer: Customer): Promise<{ used: number; refusal: Refusal | undefined }> {
  let used = 0;
  for (let refused = 0, calls = 0; ; calls += 1) {
    const answer = await query(customer, calls % 2 === 0 ? 0 : 1);
    expect([200, 402, 503]).toContain(answer.status);
    if (answer.status === 200) used += POINTS;
    if (answer.status !== 503) refused = answer.status === 402 ? refused + 1 : 0;
    if (refused === 2) return { used, refusal: refusalOf(answer) };
  }
}

/** Until a gateway has heard of a change; returns what the calls that passed have used. */
async function untilStatus(customer: Customer, gateway: 0 | 1, status: number): Promise<number> {
  let used = 0;
  await waitFor(
    async () => {
      const answer = await query(customer, gateway);
      if (answer.status === 200) used += POINTS;
      return answer.status === status;
    },
    { intervalMs: 20 },
  );
  return used;
}

/** All in one team since long ago; the manager pays. */
async function team(manager: Customer, members: readonly Customer[]): Promise<void> {
  await withClient(services.databaseUrl, (client) =>
    client.query(
      `WITH team AS (INSERT INTO teams (name) VALUES ('Suite') RETURNING team_id)
       INSERT INTO team_members (account_id, team_id, role, joined_at)
       SELECT account_id, team_id, CASE account_id WHEN $1 THEN 'manager' ELSE 'member' END, now() - interval '2 days'
       FROM team, unnest(CAST($2 AS bigint[])) AS account_id`,
      [manager.accountId, [manager, ...members].map(({ accountId }) => accountId)],
    ),
  );
}

async function pointsOf({ periodId }: Customer): Promise<number> {
  return (await countedUsage(services.databaseUrl)).totals.get(periodId)?.points ?? 0;
}

const report = (
  { accountId }: Customer,
  points: number,
  more: { application_id?: number; at?: Date } = {},
) => {
  const { at = new Date(), ...application } = more;
  const event = {
    idempotency_key: randomUUID(),
    account_id: accountId,
    api_version: 'v1',
    points,
    occurred_at: at.toISOString(),
    requests: 1,
    time_ms: 0,
    traffic_bytes: 0,
    ...application,
  };
  return services.operate('POST', '/private/usage-reports', { events: [event] });
};

test('an application is held to its budget, and to another one once it is changed', async () => {
  const customer = await services.newCustomer({});
  await limitApplication(customer, { points_per_period: 5 * POINTS });
  let used = await untilStatus(customer, 0, 402);
  used += (await useUp(customer)).used;
  // Calls before the gateways heard of the budget count, too.
  expect(used).toBeGreaterThanOrEqual(5 * POINTS);
  await services.allCounted();
  expect(await pointsOf(customer)).toBe(used);
  await limitApplication(customer, {
    points_per_period: used + 4 * POINTS,
    points_per_day: used + 2 * POINTS,
  });
  await untilStatus(customer, 1, 200);
  expect(await useUp(customer)).toMatchObject({
    used: POINTS,
    refusal: { code: 'budget_exceeded', budget: 'application', window: 'day' },
  });
  await limitApplication(customer, { points_per_period: used + 4 * POINTS });
  await untilStatus(customer, 0, 200);
  expect(await useUp(customer)).toMatchObject({ used: POINTS, refusal: { window: 'period' } });
  await limitApplication(customer, {});
  await untilStatus(customer, 1, 200);
});

test("a member's budget is of the manager's points, and holds neither the manager nor another member", async () => {
  const [manager, member, other] = [
    await services.newCustomer({ points_limit: 100 * POINTS }),
    await services.newCustomer({}),
    await services.newCustomer({}),
  ];
  await team(manager, [member, other]);
  await limitMember(member, { points_per_day: 6 * POINTS });
  await limitMember(other, { points_per_period: 3 * POINTS });
  await untilStatus(member, 0, 402);
  const [first, second] = await Promise.all([useUp(member), useUp(other)]);
  expect(first.refusal).toMatchObject({ code: 'budget_exceeded', budget: 'member', window: 'day' });
  expect(second.refusal).toMatchObject({ code: 'budget_exceeded', budget: 'member', window: 'period' });
  expect((await query(manager, 0)).status).toBe(200);
  await services.allCounted();
  expect(await pointsOf(manager)).toBeGreaterThanOrEqual(10 * POINTS);
  await limitApplication(member, { points_per_day: 0 });
  await limitMember(member, {});
  await waitFor(async () => refusalOf(await query(member, 1))?.budget === 'application');
  await limitApplication(member, {});
  await untilStatus(member, 1, 200);
});

test('reports count: with an application for it, and all for the member; of yesterday for the period only', async () => {
  const [manager, member] = [await services.newCustomer({}), await services.newCustomer({})];
  await team(manager, [member]);
  await limitMember(member, { points_per_period: 30 * POINTS });
  await limitApplication(member, { points_per_day: 10 * POINTS, points_per_period: 20 * POINTS });
  const used = await untilStatus(member, 0, 402);
  expect(used).toBe(10 * POINTS);
  expect(refusalOf(await query(member, 1))).toMatchObject({ budget: 'application', window: 'day' });
  const { applicationId: application_id } = member;
  const yesterday = new Date(Date.now() - 86_400_000);
  await report(member, 10 * POINTS, { application_id, at: yesterday });
  await waitFor(async () => refusalOf(await query(member, 0))?.window === 'period');
  expect(refusalOf(await query(member, 1))).toMatchObject({ budget: 'application' });
  await report(member, 10 * POINTS);
  await waitFor(async () => refusalOf(await query(member, 0))?.budget === 'member');
  expect(refusalOf(await query(member, 1))).toMatchObject({ window: 'period' });
});

test.each(['loses everything', 'is killed'])(
  'Redis %s while calls are made: no point is spent twice',
  async (how) => {
    const customer = await services.newCustomer({});
    const budget = 60 * POINTS;
    await limitApplication(customer, { points_per_period: budget });
    await waitFor(async () => {
      const { rowCount } = await withClient(services.databaseUrl, (client) =>
        client.query('SELECT FROM entitlement_outbox'),
      );
      return rowCount === 0;
    });
    let used = 0;
    const caller = async (gateway: 0 | 1, isOver: () => boolean) => {
      while (!isOver()) {
        const { status } = await query(customer, gateway);
        if (status === 402) return;
        if (status === 200) used += POINTS;
      }
    };
    await Promise.all([caller(0, () => used >= 20 * POINTS), caller(1, () => used >= 20 * POINTS)]);
    if (how === 'is killed') {
      await services.redis.kill();
      await services.redis.restart();
    } else {
      await services.allCounted();
      await services.store.flushall();
    }
    const never = () => false;
    await Promise.all([caller(0, never), caller(1, never)]);
    expect(used).toBeGreaterThanOrEqual(budget);
    expect(used).toBeLessThanOrEqual(budget + 2 * POINTS);
    await services.allCounted();
    expect(await pointsOf(customer)).toBe(used);
  },
);
