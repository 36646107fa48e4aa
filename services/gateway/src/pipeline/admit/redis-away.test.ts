import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import { call } from '../../../test/suite/http-client.ts';
import { callsIn } from '../../../test/suite/records/recorded-usage.ts';

let gateway: GatewayUnderTest;

beforeAll(async () => {
  gateway = await startGateway();
});

afterAll(() => gateway.stop());

test('Redis away: 503 with Retry-After and not ready; Redis back: 200 by itself, and nothing is lost', async () => {
  expect((await gateway.query()).status).toBe(200);
  await gateway.usage(1);
  await gateway.redis.kill();
  await waitFor(async () => (await gateway.query()).status === 503);
  const refused = await gateway.query();
  expect(refused.headers['retry-after']).toBe('1');
  expect(refused.json()).toMatchObject({ errors: [{ extensions: { code: 'service_unavailable' } }] });
  const readiness = await call(`${gateway.process.privateUrl}/health/ready`, { method: 'GET' });
  expect(readiness.status).toBe(503);
  expect(readiness.json()).toMatchObject({ checks: { redis: 'unreachable' } });

  await gateway.redis.restart();
  await waitFor(async () => (await gateway.query()).status === 200);
  const answered = await gateway.metric('tollgate_data_calls_total', { outcome: 'answered' });
  expect(callsIn(await gateway.usage(answered))).toBe(answered);
});
