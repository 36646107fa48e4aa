import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import { startGraphqlUpstream } from '../../../test/suite/upstreams/graphql-upstream.ts';
import type { GraphqlUpstream } from '../../../test/suite/upstreams/graphql-upstream.ts';
import { openReady } from '../../../test/suite/raw-socket.ts';

let upstream: GraphqlUpstream;
let gateway: GatewayUnderTest;
beforeAll(async () => {
  upstream = await startGraphqlUpstream();
  gateway = await startGateway({
    env: { UPSTREAM_WS_URL: upstream.url, WEBSOCKET_OPERATIONS: 'subscriptions' },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

test.each([
  ['a query', { query: '{ hello }' }],
  ['a mutation', { query: 'mutation { hello }' }],
  ['what could be either', { query: 'query A { hello } subscription B { ticks(count: 1) }' }],
])('WEBSOCKET_OPERATIONS=subscriptions: %s gets an error, and the socket stays', async (_, payload) => {
  const raw = await openReady(gateway.graphqlUrl.replace('http', 'ws'), gateway.auth.issue());
  raw.send({ id: '1', type: 'subscribe', payload });
  expect((await raw.message({ type: 'error', id: '1' })).payload).toMatchObject([
    { extensions: { code: 'subscriptions_only' } },
  ]);
  raw.send({ id: '2', type: 'subscribe', payload: { query: 'subscription { ticks(count: 1) }' } });
  await raw.message({ type: 'complete', id: '2' });
  raw.socket.close();
});
