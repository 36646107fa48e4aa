import { afterEach, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';

let gateway: GatewayUnderTest | undefined;

afterEach(async () => {
  await gateway?.stop();
});

test('the log says when plans allow a payer more subscriptions than the gateway holds', async () => {
  gateway = await startGateway({ env: { UPSTREAM_STREAMS_PER_PAYER: '499' } });
  const { process: own } = gateway;
  await waitFor(() => own.logs().includes('"subscription_limit":500'));
  expect(own.logs()).toContain('"streams_per_payer":499');
  expect(own.logs()).toContain('UPSTREAM_STREAMS_PER_PAYER');
});

test('and nothing when it holds as many', async () => {
  gateway = await startGateway({ env: { UPSTREAM_STREAMS_PER_PAYER: '500' } });
  await gateway.query();
  await gateway.process.stop();
  expect(gateway.process.logs()).not.toContain('subscription_limit');
});
