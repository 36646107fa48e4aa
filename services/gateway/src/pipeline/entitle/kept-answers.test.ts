import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ENTITLEMENT_SHAPE, entitlementKey } from '@tollgate/contracts/entitlement';
import type { Entitlement } from '@tollgate/contracts/entitlement';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import { activeEntitlement } from '../../../test/suite/stand-ins.ts';

const CACHE_TTL_MS = 60_000;
const KEPT_FOR_MS = 90_000;

let gateway: GatewayUnderTest;
let store: RedisConnection;
let accountId = 500;
let token: string;

beforeAll(async () => {
  gateway = await startGateway({ env: { ENTITLEMENT_CACHE_TTL_MS: String(CACHE_TTL_MS) } });
  store = openRedis(gateway.redis.url, createLogger('suite', 'silent'));
  await waitFor(() => store.status === 'ready');
});

afterAll(async () => {
  store.disconnect();
  await gateway.stop();
});

beforeEach(() => {
  accountId += 1;
  token = gateway.auth.issue({ accountId });
  // What account itself says in these tests, so that the answer tells who was asked.
  gateway.account.entitle(accountId, { status: 'grace' });
});

async function dataSet(): Promise<string> {
  return /master_replid:([0-9a-f]{40})/.exec(await store.info('replication'))?.[1] ?? '';
}

type Kept = { answer?: string; dataSet?: string; leftMs?: number };

async function keep(changes: Partial<Entitlement> = {}, kept: Kept = {}): Promise<void> {
  const key = entitlementKey(accountId);
  const shape = ENTITLEMENT_SHAPE;
  const answer = kept.answer ?? JSON.stringify({ ...activeEntitlement(accountId), shape, ...changes });
  const generation = `${kept.dataSet ?? (await dataSet())}:any`;
  await store.hset(key, { generation, answer, kept_for_ms: String(KEPT_FOR_MS) });
  await store.pexpire(key, kept.leftMs ?? KEPT_FOR_MS);
}

async function statusOfCall(): Promise<string | undefined> {
  const answer = await gateway.query({ token });
  expect(answer.status).toBe(200);
  return answer.headers['x-billing-status'] as string | undefined;
}

const asked = () => gateway.account.requests.filter((path) => path.endsWith(`/${String(accountId)}`)).length;

test('what account keeps in Redis lets a call pass without a request to account', async () => {
  await keep();
  expect(await statusOfCall()).toBe('active');
  expect(await statusOfCall()).toBe('active');
  expect(asked()).toBe(0);
  expect(await gateway.metric('tollgate_entitlement_loads_total', { outcome: 'redis' })).toBe(1);
});

test('a call of a second gateway asks Redis too', async () => {
  await keep();
  const twin = await gateway.startTwin();
  expect((await twin.query({ token })).headers['x-billing-status']).toBe('active');
  expect(asked()).toBe(0);
});

test.each<[string, () => Promise<void>]>([
  ['is older than the cache’s lifetime', () => keep({}, { leftMs: KEPT_FOR_MS - CACHE_TTL_MS })],
  ['is of another data set', () => keep({}, { dataSet: '0'.repeat(40) })],
  ['comes from the future of a clock that was set back', () => keep({}, { leftMs: KEPT_FOR_MS + 60_000 })],
  [
    'was kept by account of another version',
    () => keep({}, { answer: JSON.stringify(activeEntitlement(accountId)) }),
  ],
  ['is no JSON', () => keep({}, { answer: '{' })],
  ['is not an entitlement', () => keep({}, { answer: '{"status":"active"}' })],
  [
    'is only a generation',
    async () => {
      await keep();
      await store.hdel(entitlementKey(accountId), 'answer');
    },
  ],
])('account is asked where the answer in Redis %s', async (_name, prepare) => {
  await prepare();
  expect(await statusOfCall()).toBe('grace');
  expect(asked()).toBe(1);
});

test('what time alone changes counts from when account read it', async () => {
  const leftMs = KEPT_FOR_MS - 5_000;
  await keep({ valid_until: new Date(Date.now() + 5_500).toISOString(), valid_for_ms: 5_500 }, { leftMs });
  expect(await statusOfCall()).toBe('active');
  await waitFor(async () => (await statusOfCall()) === 'grace');
  expect(asked()).toBe(1);
});

test('a key of another kind does not stop calls', async () => {
  await store.set(entitlementKey(accountId), 'text');
  expect(await statusOfCall()).toBe('grace');
});
