import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CLIENT_CHANGE_CHANNEL } from '@tollgate/contracts/client-change';
import type { ClientChange } from '@tollgate/contracts/client-change';
import { accessTokenHash } from '@tollgate/credentials/access-token';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import { publishEntitlementEvent } from '../../../test/suite/stand-ins.ts';

let gateway: GatewayUnderTest;
let redis: RedisConnection;

beforeAll(async () => {
  gateway = await startGateway({
    env: { ENTITLEMENT_CACHE_TTL_MS: '30000', INTROSPECTION_CACHE_TTL_MS: '30000' },
  });
  redis = openRedis(gateway.redis.url, createLogger('suite', 'silent'));
});

afterAll(async () => {
  redis.disconnect();
  await gateway.stop();
});

/** Caches are proven five times a second until nothing has used them for a while (docs/design/operations.md). */
async function rest(): Promise<void> {
  await waitFor(async () => {
    const subscribers = (await redis.call('CLIENT', 'LIST', 'TYPE', 'pubsub')) as string;
    return Number(/ idle=(\d+)/.exec(subscribers)?.[1]) >= 2;
  });
}

const asked = () => [...gateway.auth.requests, ...gateway.account.requests].length;

test('after a rest, a call is answered from the caches', async () => {
  const token = gateway.auth.issue();
  expect((await gateway.query({ token })).status).toBe(200);
  const before = asked();
  await rest();
  expect((await gateway.query({ token })).status).toBe(200);
  expect(asked()).toBe(before);
});

test('a change that is published in a rest holds for the first call after it', async () => {
  const [revoked, blocked] = [gateway.auth.issue(), gateway.auth.issue({ accountId: 8 })];
  for (const token of [revoked, blocked]) expect((await gateway.query({ token })).status).toBe(200);
  await rest();
  gateway.auth.revoke(revoked);
  const revocation: ClientChange = {
    change: 'token',
    token_hash: accessTokenHash(revoked),
    client_id: '00000000-0000-4000-8000-000000000000',
    revocation_epoch: 0,
    source: 'auth',
  };
  await redis.publish(CLIENT_CHANGE_CHANNEL, JSON.stringify(revocation));
  expect((await gateway.query({ token: revoked })).status).toBe(401);
  await rest();
  gateway.account.entitle(8, { status: 'blocked', billing_period: null });
  await publishEntitlementEvent(gateway.redis.url, JSON.stringify({ account_id: 8 }));
  expect((await gateway.query({ token: blocked })).status).toBe(403);
});
