import { afterEach, expect, test } from '@jest/globals';
import { startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import { openReady } from '../../../test/suite/raw-socket.ts';
import { startSilentAddress } from '../../../test/suite/upstreams/silent-address.ts';

let gateway: GatewayUnderTest;
let close: () => Promise<void>;

afterEach(async () => {
  await gateway.stop();
  await close();
});

test('a single upstream address that doesn’t answer is waited for once, then the socket ends with 1013', async () => {
  const silent = await startSilentAddress();
  close = silent.close;
  gateway = await startGateway({
    env: {
      UPSTREAM_WS_URL: `${silent.url.replace('http', 'ws')}/graphql`,
      UPSTREAM_CONNECT_TIMEOUT_MS: '500',
      WEBSOCKET_RECONNECT_SPREAD_MS: '0',
    },
  });
  const caller = await openReady(gateway.graphqlUrl.replace('http', 'ws'), gateway.auth.issue());
  caller.send({ id: '1', type: 'subscribe', payload: { query: 'subscription { a }' } });
  expect(await caller.closed).toMatchObject({ code: 1013 });
  expect(await gateway.metric('tollgate_upstream_failures_total')).toBe(1);
});
