import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { clockAhead } from '@tollgate/testbed/clock-ahead';
import { startGateway } from './suite/gateway.ts';
import type { GatewayUnderTest } from './suite/gateway.ts';
import { startGraphqlUpstream } from './suite/upstreams/graphql-upstream.ts';
import { openReady } from './suite/raw-socket.ts';

const HOUR_MS = 3_600_000;

/** The clock is off by more than anything is kept, and caches outlive the suite. */
describe.each([
  ['an hour behind', -HOUR_MS],
  ['25 hours ahead', 25 * HOUR_MS],
])('a gateway whose clock is %s', (_name, aheadMs) => {
  let gateway: GatewayUnderTest;
  let upstream: Awaited<ReturnType<typeof startGraphqlUpstream>>;
  let lastAccount = 100;

  beforeAll(async () => {
    upstream = await startGraphqlUpstream();
    gateway = await startGateway({
      env: {
        ...clockAhead(aheadMs),
        ENTITLEMENT_CACHE_TTL_MS: '30000',
        INTROSPECTION_CACHE_TTL_MS: '30000',
        UPSTREAM_WS_URL: upstream.url,
      },
    });
  });

  afterAll(async () => {
    await gateway.stop();
    await upstream.close();
  });

  function newCaller(lifespanSec = 3_600) {
    const accountId = (lastAccount += 1);
    return { accountId, token: gateway.auth.issue({ accountId, lifespanSec }) };
  }

  test('accepts a valid token, keeps what it was told, and nothing for longer', async () => {
    const { accountId, token } = newCaller();
    const [valid_until, valid_for_ms] = [new Date(Date.now() + HOUR_MS).toISOString(), HOUR_MS];
    gateway.account.entitle(accountId, { valid_until, valid_for_ms });
    for (let calls = 0; calls < 3; calls += 1) expect((await gateway.query({ token })).status).toBe(200);
    const asked = gateway.account.requests.filter((path) => path.endsWith(`/${String(accountId)}`));
    expect(asked).toHaveLength(1);
  });

  test('lets no call pass after the end of the period', async () => {
    const { accountId, token } = newCaller();
    const valid_for_ms = 700;
    const endMs = Date.now() + valid_for_ms;
    gateway.account.entitle(accountId, { valid_until: new Date(endMs).toISOString(), valid_for_ms });
    expect((await gateway.query({ token })).status).toBe(200);
    gateway.account.entitle(accountId, { status: 'expired', billing_period: null });
    await waitFor(async () => (await gateway.query({ token })).status === 402);
    expect(Date.now()).toBeGreaterThan(endMs - 50);
  });

  test('refuses a token after its end', async () => {
    const { token } = newCaller(2);
    expect((await gateway.query({ token })).status).toBe(200);
    gateway.auth.revoke(token);
    await waitFor(async () => (await gateway.query({ token })).status === 401);
  });

  test('closes a socket at its token’s end', async () => {
    const { token } = newCaller(3);
    const raw = await openReady(gateway.graphqlUrl.replace('http', 'ws'), token);
    expect(await raw.closed).toMatchObject({ code: 4401 });
  });

  test('stamps usage by Redis’ clock, and says how far its own is off', async () => {
    const skewSec = () => gateway.metric('tollgate_clock_skew_seconds', { reference: 'redis' });
    await waitFor(async () => Math.abs((await skewSec()) - aheadMs / 1_000) < 1);
    const { accountId, token } = newCaller();
    const sentAtMs = Date.now();
    await gateway.query({ token });
    const [event] = await gateway.usage(1, accountId);
    expect(event?.at_ms).toBeGreaterThan(sentAtMs - 1_000);
    expect(event?.at_ms).toBeLessThan(Date.now() + 1_000);
    const lines = gateway.process.logs().split('\n');
    expect(lines.filter((line) => line.includes('this clock is off'))).toHaveLength(1);
  });
});
