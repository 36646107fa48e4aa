import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import { startGraphqlUpstream } from '../../../test/suite/upstreams/graphql-upstream.ts';
import type { GraphqlUpstream } from '../../../test/suite/upstreams/graphql-upstream.ts';
import { activeEntitlement } from '../../../test/suite/stand-ins.ts';
import { openReady } from '../../../test/suite/raw-socket.ts';
import type { RawSocket } from '../../../test/suite/raw-socket.ts';

let upstream: GraphqlUpstream;
let gateway: GatewayUnderTest;
let url: string;
let account = 300;

beforeAll(async () => {
  upstream = await startGraphqlUpstream();
  gateway = await startGateway({
    env: {
      UPSTREAM_WS_URL: upstream.url,
      ENTITLEMENT_CACHE_TTL_MS: '50',
      SUBSCRIPTION_POINTS_PER_MINUTE: '7',
    },
  });
  url = gateway.graphqlUrl.replace('http', 'ws');
});

afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

const ready = () => openReady(url, gateway.auth.issue({ accountId: ++account }));
const TICKS = { type: 'subscribe', payload: { query: 'subscription { ticks }' } };

async function usageOf(accountId: number): Promise<UsageEvent[]> {
  return (await gateway.usage(0)).filter(({ account_id }) => account_id === accountId);
}

const sum = (events: readonly UsageEvent[], field: 'points' | 'requests' | 'time_ms' | 'traffic_bytes') =>
  events.reduce((total, event) => total + event[field], 0);

/** Ends a socket, and returns its account's usage when all is recorded. */
async function ended(raw: RawSocket, accountId: number): Promise<UsageEvent[]> {
  raw.socket.close();
  await raw.closed;
  await waitFor(async () => (await gateway.metric('tollgate_websockets_open')) === 0);
  await waitFor(async () => (await gateway.metric('tollgate_settlement_queue_events')) === 0);
  return usageOf(accountId);
}

const bytesOf = ({ received }: RawSocket) =>
  received
    .filter(({ type }) => type === 'next')
    .reduce((total, message) => total + Buffer.byteLength(JSON.stringify(message)), 0);

test('each operation is a request, and costs the points of its first minute once, while it is open', async () => {
  const raw = await ready();
  raw.send({ id: 'a', ...TICKS }, { id: 'b', ...TICKS });
  await waitFor(async () => sum(await usageOf(account), 'requests') === 2);
  expect(sum(await usageOf(account), 'points')).toBe(14);
  const events = await ended(raw, account);
  expect([sum(events, 'requests'), sum(events, 'points')]).toEqual([2, 14]);
});

test('while nothing changes, what is open is settled after a second and then every five, however often account is asked', async () => {
  const raw = await ready();
  const beganMs = performance.now();
  const asked = () =>
    gateway.account.requests.filter((path) => path.endsWith(`entitlements/${String(account)}`)).length;
  raw.send({ id: 'a', ...TICKS });
  await raw.message({ type: 'next' });
  const before = asked();
  await waitFor(() => asked() >= before + 6);
  const settlements = (await usageOf(account)).length;
  expect(settlements).toBeGreaterThan(0);
  expect(settlements).toBeLessThanOrEqual(2 + (performance.now() - beganMs) / 5_000);
  await ended(raw, account);
});

test('another payer and period in mid-subscription: what was used until then goes to the former, nothing twice', async () => {
  const raw = await ready();
  raw.send({ id: 'a', ...TICKS });
  await raw.message({ type: 'next' });
  const { billing_period } = activeEntitlement(account);
  if (billing_period === null) throw new Error('no period');
  const changed = { ...billing_period, period_id: 999_001 };
  const beganMs = performance.now();
  gateway.account.entitle(account, { payer_id: 9_999, billing_period: changed });
  await waitFor(async () => (await usageOf(account)).some(({ period_id }) => period_id === 999_001));
  const events = await ended(raw, account);
  const former = events.filter(({ period_id }) => period_id === account * 10);
  const later = events.filter(({ period_id }) => period_id === 999_001);
  expect([former.length + later.length, new Set(later.map(({ payer_id }) => payer_id))]).toEqual([
    events.length,
    new Set([9_999]),
  ]);
  expect([sum(former, 'requests'), sum(former, 'points')]).toEqual([1, 7]);
  expect([sum(later, 'requests'), sum(later, 'points')]).toEqual([0, 0]);
  expect(sum(later, 'time_ms')).toBeLessThanOrEqual(performance.now() - beganMs);
  expect(sum(later, 'traffic_bytes')).toBeGreaterThan(0);
  expect(sum(events, 'traffic_bytes')).toBeGreaterThanOrEqual(bytesOf(raw));
});

test('Redis away while a subscription is open: it goes on, and all of it is recorded once when Redis is back', async () => {
  const raw = await ready();
  const beganMs = performance.now();
  raw.send({ id: 'a', type: 'subscribe', payload: { query: 'subscription { ticks(count: 250) }' } });
  await raw.message({ type: 'next' });
  await waitFor(async () => sum(await usageOf(account), 'requests') === 1);
  const before = raw.received.length;
  await gateway.redis.kill();
  await waitFor(() => raw.received.length > before + 20);
  await gateway.redis.restart();
  await raw.message({ type: 'complete' });
  const openMs = performance.now() - beganMs;
  const complete = Buffer.byteLength(JSON.stringify({ id: 'a', type: 'complete' }));
  await waitFor(async () => sum(await usageOf(account), 'traffic_bytes') >= bytesOf(raw) + complete);
  const events = await ended(raw, account);
  expect(sum(events, 'traffic_bytes')).toBe(bytesOf(raw) + complete);
  expect([sum(events, 'requests'), sum(events, 'points')]).toEqual([1, 7]);
  expect(sum(events, 'time_ms')).toBeLessThanOrEqual(openMs);
});
