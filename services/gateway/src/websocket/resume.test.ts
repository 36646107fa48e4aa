import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient } from 'graphql-ws';
import { SubscriptionClient } from 'subscriptions-transport-ws';
import { WebSocket } from 'ws';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';
import { startGraphqlUpstream } from '../../test/suite/upstreams/graphql-upstream.ts';
import type { GraphqlUpstream } from '../../test/suite/upstreams/graphql-upstream.ts';
import { openReady } from '../../test/suite/raw-socket.ts';

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

type Following = {
  /** Results so far. */
  results: () => number;
  /** The client has given up, or the subscription is complete. */
  isOver: () => boolean;
  stop: () => void | Promise<void>;
};

const QUERY = 'subscription { ticks }';

/** Each client as its documentation says, with its own reconnect defaults. */
const CLIENTS: Record<string, (token: string) => Following> = {
  'graphql-ws': (token) => {
    let seen = 0;
    let over = false;
    const client = createClient({ url, webSocketImpl: WebSocket, connectionParams: { token } });
    const done = () => {
      over = true;
    };
    client.subscribe({ query: QUERY }, { next: () => (seen += 1), error: done, complete: done });
    return { results: () => seen, isOver: () => over, stop: () => client.dispose() };
  },
  'subscriptions-transport-ws': (token) => {
    let seen = 0;
    let over = false;
    const client = new SubscriptionClient(url, { reconnect: true, connectionParams: { token } }, WebSocket);
    const done = () => {
      over = true;
    };
    client.request({ query: QUERY }).subscribe({ next: () => (seen += 1), error: done, complete: done });
    return {
      results: () => seen,
      isOver: () => over,
      stop: () => {
        client.close();
      },
    };
  },
};

const closes = (code: number) => gateway.metric('tollgate_websocket_closes_total', { code: String(code) });

describe.each(Object.entries(CLIENTS))('the client of %s', (_, follow) => {
  test('resumes its subscription by itself after the upstream has been away', async () => {
    const [lost, refused] = [await closes(1012), await closes(1013)];
    const following = follow(gateway.auth.issue());
    await waitFor(() => following.results() > 3);
    const port = Number(new URL(upstream.url).port);
    await upstream.close();
    // It reconnects while the upstream is away, too, and is told to try again.
    await waitFor(async () => (await closes(1013)) > refused);
    expect(await closes(1012)).toBe(lost + 1);
    const before = following.results();
    upstream = await startGraphqlUpstream(port);
    await waitFor(() => following.results() > before + 3);
    expect(following.isOver()).toBe(false);
    await following.stop();
  });

  test('resumes it after it had to reconnect while Redis was away', async () => {
    const refused = await closes(1013);
    const following = follow(gateway.auth.issue());
    await waitFor(() => following.results() > 3);
    await gateway.redis.kill();
    const port = Number(new URL(upstream.url).port);
    await upstream.close();
    upstream = await startGraphqlUpstream(port);
    await waitFor(async () => (await closes(1013)) > refused);
    const before = following.results();
    await gateway.redis.restart();
    await waitFor(() => following.results() > before + 3);
    expect(following.isOver()).toBe(false);
    await following.stop();
  });

  test('resumes it after an upstream has restarted at once', async () => {
    const following = follow(gateway.auth.issue());
    await waitFor(() => following.results() > 3);
    for (const socket of upstream.sockets()) socket.terminate();
    const before = following.results();
    await waitFor(() => following.results() > before + 3);
    expect(following.isOver()).toBe(false);
    await following.stop();
  });
});

test('sockets that lose the upstream together are closed spread over WEBSOCKET_RECONNECT_SPREAD_MS', async () => {
  const raws = await Promise.all(
    Array.from({ length: 40 }, (_, index) => openReady(url, gateway.auth.issue({ accountId: 900 + index }))),
  );
  for (const raw of raws) raw.send({ id: '1', type: 'subscribe', payload: { query: QUERY } });
  await Promise.all(raws.map((raw) => raw.message({ type: 'next' })));
  for (const socket of upstream.sockets()) socket.terminate();
  const closed = await Promise.all(raws.map((raw) => raw.closed));
  expect(new Set(closed.map(({ code }) => code))).toEqual(new Set([1012]));
  const times = closed.map(({ atMs }) => atMs);
  // Not all in one sweep, which takes place every quarter of a second.
  expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(200);
});
