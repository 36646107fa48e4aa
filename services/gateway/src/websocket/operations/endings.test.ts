import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import { startGraphqlUpstream } from '../../../test/suite/upstreams/graphql-upstream.ts';
import type { GraphqlUpstream } from '../../../test/suite/upstreams/graphql-upstream.ts';
import { activeEntitlement } from '../../../test/suite/stand-ins.ts';
import { openReady } from '../../../test/suite/raw-socket.ts';

let upstream: GraphqlUpstream;
let gateway: GatewayUnderTest;
let url: string;
beforeAll(async () => {
  upstream = await startGraphqlUpstream();
  gateway = await startGateway({
    env: { UPSTREAM_WS_URL: upstream.url, ENTITLEMENT_CACHE_TTL_MS: '100' },
  });
  url = gateway.graphqlUrl.replace('http', 'ws');
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

const TICKS = { type: 'subscribe', payload: { query: 'subscription { ticks }' } };

function limitTo(accountId: number, limits: Record<string, number>): void {
  const { billing_period } = activeEntitlement(accountId);
  if (billing_period === null) throw new Error('no period');
  const changed = { ...billing_period, limits: { ...billing_period.limits, ...limits } };
  gateway.account.entitle(accountId, { billing_period: changed });
}

test('a subscription beyond the plan’s gets an error, the socket stays, and a slot that is left is free', async () => {
  limitTo(31, { subscription_limit: 1 });
  const raw = await openReady(url, gateway.auth.issue({ accountId: 31 }));
  raw.send({ id: 'a', ...TICKS });
  await raw.message({ type: 'next', id: 'a' });
  raw.send({ id: 'b', ...TICKS });
  expect((await raw.message({ type: 'error', id: 'b' })).payload).toMatchObject([
    { extensions: { code: 'subscription_limit_exceeded', retry_after_sec: 1 } },
  ]);
  raw.send({ id: 'a', type: 'complete' });
  let attempts = 0;
  await waitFor(async () => {
    attempts += 1;
    const id = `c${String(attempts)}`;
    raw.send({ id, ...TICKS });
    return (await raw.message({ id })).type === 'next';
  });
  raw.socket.close();
});

test('used-up time ends the operation with an error, and the socket with 4429', async () => {
  limitTo(32, { time_sec_limit: 1 });
  const raw = await openReady(url, gateway.auth.issue({ accountId: 32 }));
  raw.send({ id: 'a', ...TICKS });
  const { code, reason } = await raw.closed;
  expect([code, reason]).toEqual([4429, expect.stringMatching(/^time_limit_exceeded/)]);
  expect((await raw.message({ type: 'error', id: 'a' })).payload).toMatchObject([
    { extensions: { code: 'time_limit_exceeded' } },
  ]);
});

test('an account that is blocked loses its sockets: 4403', async () => {
  const raw = await openReady(url, gateway.auth.issue({ accountId: 33 }));
  gateway.account.entitle(33, { status: 'blocked' });
  expect(await raw.closed).toMatchObject({ code: 4403, reason: expect.stringMatching(/^account_blocked/) });
});

test('a shutdown closes with 1012, and what was used until then is recorded', async () => {
  const raw = await openReady(url, gateway.auth.issue({ accountId: 34 }));
  raw.send({ id: 'a', ...TICKS });
  await raw.message({ type: 'next' });
  expect((await gateway.process.stop()).code).toBe(0);
  expect(await raw.closed).toMatchObject({ code: 1012, reason: expect.stringMatching(/^service_restart/) });
  const bytes = raw.received
    .filter(({ type }) => type === 'next')
    .reduce((sum, message) => sum + Buffer.byteLength(JSON.stringify(message)), 0);
  const own = (await gateway.usage(1)).filter(({ account_id }) => account_id === 34);
  expect(own.reduce((sum, { requests }) => sum + requests, 0)).toBe(1);
  expect(own.reduce((sum, { traffic_bytes }) => sum + traffic_bytes, 0)).toBe(bytes);
  expect(own.reduce((sum, { time_ms }) => sum + time_ms, 0)).toBeGreaterThan(0);
});
