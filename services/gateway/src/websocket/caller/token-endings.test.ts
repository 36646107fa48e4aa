import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import { startGraphqlUpstream } from '../../../test/suite/upstreams/graphql-upstream.ts';
import type { GraphqlUpstream } from '../../../test/suite/upstreams/graphql-upstream.ts';
import { withLimits } from '../../../test/suite/stand-ins.ts';
import { openReady } from '../../../test/suite/raw-socket.ts';
import type { RawSocket } from '../../../test/suite/raw-socket.ts';

let upstream: GraphqlUpstream;
let gateway: GatewayUnderTest;
let url: string;

beforeAll(async () => {
  upstream = await startGraphqlUpstream();
  gateway = await startGateway({ env: { UPSTREAM_WS_URL: upstream.url } });
  url = gateway.graphqlUrl.replace('http', 'ws');
});

afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

const TICKS = { type: 'subscribe', payload: { query: 'subscription { ticks }' } };

test('a token that expires while its socket is open: 4401, and its operations end', async () => {
  const raw = await openReady(url, gateway.auth.issue({ accountId: 51, lifespanSec: 3 }));
  raw.send({ id: '1', ...TICKS });
  await raw.message({ type: 'next' });
  expect(await raw.closed).toMatchObject({
    code: 4401,
    reason: 'unauthorized: The access token has expired',
  });
  await waitFor(() => upstream.sockets().length === 0);
});

test('while revocations can’t be heard of, auth is asked: a dead token’s sockets are closed, the others stay', async () => {
  const [dead, good] = [gateway.auth.issue({ accountId: 52 }), gateway.auth.issue({ accountId: 53 })];
  const [lost, kept] = await Promise.all([openReady(url, dead), openReady(url, good)]);
  await gateway.redis.kill();
  gateway.auth.revoke(dead);
  expect(await lost.closed).toMatchObject({ code: 4401 });
  expect(kept.socket.readyState).toBe(kept.socket.OPEN);

  // auth can't confirm it now: closed, but not as if the token were invalid.
  await gateway.auth.goAway();
  expect(await kept.closed).toMatchObject({
    code: 1013,
    reason: expect.stringMatching(/^service_unavailable/),
  });
  await gateway.auth.comeBack();
  await gateway.redis.restart();
  await waitFor(async () => (await gateway.query()).status === 200);
});

test('a subscription limit over two gateways and hundreds of subscribes at once: never one over', async () => {
  const limit = 37;
  gateway.account.entitle(54, withLimits(54, { subscription_limit: limit }));
  const token = gateway.auth.issue({ accountId: 54 });
  const twin = await gateway.startTwin();
  const urls = [url, `${twin.process.publicUrl.replace('http', 'ws')}/graphql`];
  const sockets = await Promise.all(
    Array.from({ length: 12 }, (_, index) => openReady(urls[index % 2] ?? url, token)),
  );
  const answered = (raw: RawSocket, kind: string) =>
    new Set(raw.received.filter(({ type }) => type === kind).map(({ id }) => id)).size;
  const count = (kind: string) => sockets.reduce((sum, raw) => sum + answered(raw, kind), 0);
  for (const raw of sockets) {
    raw.send(...Array.from({ length: 25 }, (_, index) => ({ id: String(index), ...TICKS })));
  }
  await waitFor(() => count('next') + count('error') >= 300);
  expect([count('next'), count('error')]).toEqual([limit, 300 - limit]);

  // A killed gateway's slots are free when their leases end; until then none is given twice.
  const here = sockets.filter((_, index) => index % 2 === 0);
  const held = here.reduce((sum, raw) => sum + answered(raw, 'next'), 0);
  await twin.process.kill();
  const late = await openReady(url, token);
  let tries = 0;
  const opened = () => answered(late, 'next');
  await waitFor(
    () => {
      late.send({ id: `late ${String(++tries)}`, ...TICKS });
      return opened() >= limit - held;
    },
    { intervalMs: 100 },
  );
  late.send({ id: 'one over', ...TICKS });
  await late.message({ type: 'error', id: 'one over' });
  expect(opened() + held).toBe(limit);
  for (const { socket } of [...here, late]) socket.terminate();
});
