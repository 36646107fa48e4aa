import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { startGraphqlUpstream } from '../suite/upstreams/graphql-upstream.ts';
import type { GraphqlUpstream } from '../suite/upstreams/graphql-upstream.ts';
import { openCaller, startMeteredUpstream } from '../suite/load/load.ts';
import type { MeteredUpstream, Seen } from '../suite/load/load.ts';
import { openReady } from '../suite/raw-socket.ts';
import type { RawSocket } from '../suite/raw-socket.ts';
import { startRealServices } from '../suite/real-services.ts';
import type { RealServices } from '../suite/real-services.ts';

const SOCKETS = 500;
const AT_A_TIME = 25;
/** One at each gateway. */
const CALLERS = 2;

/** Caches would forget a token after 30 s (../revocation.test.ts). */
const LONG_BEFORE_EXPIRY_MS = 10_000;

let upstream: MeteredUpstream;
let wsUpstream: GraphqlUpstream;
let services: RealServices;

beforeAll(async () => {
  [upstream, wsUpstream] = await Promise.all([startMeteredUpstream(() => 1), startGraphqlUpstream()]);
  services = await startRealServices({
    gatewayEnv: {
      UPSTREAM_URL: upstream.url,
      UPSTREAM_WS_URL: wsUpstream.url,
      // No cache entry expires within this suite.
      INTROSPECTION_CACHE_TTL_MS: '30000',
    },
  });
});

afterAll(async () => {
  await services.stop();
  await Promise.all([upstream.close(), wsUpstream.close()]);
});

const SUBSCRIBE = {
  type: 'subscribe',
  id: 'a',
  payload: { query: 'subscription { ticks(everyMs: 5000) }' },
};

async function subscribed(gateway: number, token: string): Promise<RawSocket> {
  const { publicUrl } = services.gateways[gateway] as ServiceProcess;
  const socket = await openReady(`${publicUrl.replace('http', 'ws')}/graphql`, token);
  socket.send(SUBSCRIBE);
  await socket.message({ type: 'next' });
  return socket;
}

test('an operator revokes an application with 500 subscriptions open over two gateways, and calls under way', async () => {
  const { token, applicationId } = await services.newCustomer({ subscription_limit: 2 * SOCKETS });
  const sockets: RawSocket[] = [];
  while (sockets.length < SOCKETS) {
    const opening = Array.from({ length: AT_A_TIME }, (_, index) => subscribed(index % 2, token));
    sockets.push(...(await Promise.all(opening)));
  }
  const caller = openCaller(services.gateways, CALLERS);
  const seen: Seen[] = [];
  let over = false;
  const callers = Array.from({ length: CALLERS }, async (_, first) => {
    for (let id = first; !over; id += CALLERS) seen.push(await caller.call(id, token));
  });
  await waitFor(() => seen.length > 50);

  const revokedMs = performance.now();
  const closes = Promise.all(sockets.map(({ closed }) => closed));
  const answer = await services.operate('POST', `/private/applications/${String(applicationId)}/revoke`);
  expect(answer).toMatchObject({ status: 'revoked', delivered: true });
  const ended = await closes;
  const refusedBy = (gateway: number) =>
    seen.filter(({ id, status }) => id % CALLERS === gateway && status === 401);
  await waitFor(() => [0, 1].every((gateway) => refusedBy(gateway).length > 50));
  over = true;
  await Promise.all(callers);
  await caller.close();

  expect(new Set(ended.map(({ code }) => code))).toEqual(new Set([4401]));
  const lastClosedMs = Math.max(...ended.map(({ atMs }) => atMs)) - revokedMs;
  const passed = seen.filter(({ status }) => status === 200);
  const lastPassedMs = Math.max(...passed.map(({ beganMs }) => beganMs)) - revokedMs;
  process.stdout.write(
    `revoked: the last of ${String(SOCKETS)} sockets closed after ${lastClosedMs.toFixed(0)} ms; the last call that passed had begun after ${lastPassedMs.toFixed(0)} ms\n`,
  );
  expect(lastClosedMs).toBeLessThan(LONG_BEFORE_EXPIRY_MS);
  expect(lastPassedMs).toBeLessThan(LONG_BEFORE_EXPIRY_MS);
  // A gateway that has refused the token lets none of the calls after that one through.
  for (const gateway of [0, 1]) {
    const firstRefused = Math.min(...refusedBy(gateway).map(({ beganMs }) => beganMs));
    const later = passed.filter(({ id, beganMs }) => id % CALLERS === gateway && beganMs > firstRefused);
    expect(later).toEqual([]);
  }
  expect(new Set(seen.map(({ status }) => status))).toEqual(new Set([200, 401]));
  await waitFor(() => wsUpstream.ended.length === SOCKETS, { what: 'the upstream’s subscriptions to end' });
});
