import { afterEach, describe, expect, test } from '@jest/globals';
import { applicationPart } from '@tollgate/credentials/access-token';
import { createLogger } from '@tollgate/log';
import { mastersOf, openRedis } from '@tollgate/redis';
import type { Redis, RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import type { OwnRedis, RunningRedis } from '@tollgate/testbed/redis';
import { FAILOVER, startRedisCluster, startRedisSentinel } from '@tollgate/testbed/redis-topologies';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { startAccountStandIn } from './suite/account-stand-in.ts';
import type { AccountStandIn } from './suite/account-stand-in.ts';
import { addClient } from './suite/auth-under-test.ts';
import type { TestClient } from './suite/auth-under-test.ts';
import { isActive, obtainToken, postIntrospection, postToken, tokenForm } from './suite/requests.ts';
import { revokeTokens } from './suite/revoke.ts';
import { GOOD_SETTINGS, runToItsEnd } from './suite/run-to-its-end.ts';

const TIME_LIMIT_MS = 150_000;

let account: AccountStandIn;
let service: ServiceProcess;
let running: RunningRedis;
let store: RedisConnection;

async function startAuthOn(redis: RunningRedis): Promise<void> {
  running = redis;
  account = await startAccountStandIn();
  service = await startServiceProcess('auth', { REDIS_URL: redis.url, ACCOUNT_PRIVATE_URL: account.url });
  store = openRedis(redis.url, createLogger('suite', 'silent'));
  await waitFor(() => store.status === 'ready');
  await becomeReady(service);
}

async function stopAll(): Promise<void> {
  store.disconnect();
  await service.stop();
  await Promise.all([running.stop(), account.close()]);
}

type Known = { client: TestClient; live: string; dead: string };

/** Each with a revoked token and an active one. */
async function clientsWithTokens(count: number): Promise<Known[]> {
  return await Promise.all(
    Array.from({ length: count }, async () => {
      const client = addClient(account);
      const dead = await obtainToken(service, client);
      await revokeTokens({ account, service }, client);
      return { client, dead, live: await obtainToken(service, client) };
    }),
  );
}

/** Kills a master: meanwhile there are 503s, but never a wrong answer. */
async function expectToOutlive(master: OwnRedis | undefined, known: readonly Known[]): Promise<void> {
  // A token that no replica has yet may be lost.
  await Promise.all(mastersOf(store).map(untilReplicated));
  await master?.kill();
  const seen = new Set<string>();
  const looksRight = async ({ client, live, dead }: Known) => {
    const answers = await Promise.all([
      postIntrospection(service, { token: live }),
      postIntrospection(service, { token: dead }),
      postToken(service, tokenForm(client)),
    ]);
    for (const [index, name] of ['live', 'dead'].entries()) {
      const { active } = (await (answers[index] as Response).json()) as { active?: boolean };
      if (active !== undefined) seen.add(`${name} ${active ? 'active' : 'inactive'}`);
    }
    return answers.every(({ status }) => status === 200);
  };
  await waitFor(async () => !(await Promise.all(known.map(looksRight))).every(Boolean));
  await waitFor(async () => (await Promise.all(known.map(looksRight))).every(Boolean), FAILOVER);
  expect([...seen].toSorted()).toEqual(['dead inactive', 'live active']);
}

/** WAIT would wait for this connection's own writes only. */
async function untilReplicated(master: Redis): Promise<void> {
  const offset = async (field: RegExp) => Number(field.exec(await master.info('replication'))?.[1]);
  const written = await offset(/^master_repl_offset:(\d+)/m);
  await waitFor(async () => (await offset(/^slave0:.*\boffset=(\d+)/m)) >= written, {
    what: 'a replica to have all writes',
  });
}

describe('a Redis Cluster', () => {
  afterEach(stopAll);

  test(
    'clients are spread over three masters; one is killed: 503, then all holds by itself',
    async () => {
      const cluster = await startRedisCluster({ replicas: true });
      await startAuthOn(cluster);
      const known = await clientsWithTokens(24);
      const sizes = await Promise.all(mastersOf(store).map((master) => master.dbsize()));
      expect(sizes).toHaveLength(3);
      for (const size of sizes) expect(size).toBeGreaterThan(0);
      await expectToOutlive(cluster.nodes[0], known);
    },
    TIME_LIMIT_MS,
  );

  test('a slot that moves with its keys: tokens are found, and the epoch is verified anew', async () => {
    const cluster = await startRedisCluster();
    await startAuthOn(cluster);
    const [known] = await clientsWithTokens(1);
    if (known === undefined) throw new Error('no client');
    const part = applicationPart(known.client.client_id);
    const asked = () => account.requests.filter((path) => path.endsWith(known.client.client_id)).length;
    expect(await isActive(service, known.live)).toBe(true);
    const before = asked();
    await moveSlot(`{${part}}`);
    expect([await isActive(service, known.live), await isActive(service, known.dead)]).toEqual([true, false]);
    expect(asked()).toBe(before + 1);
    await revokeTokens({ account, service }, known.client);
    expect(await isActive(service, known.live)).toBe(false);
  });
});

/** As redis-cli --cluster reshard does. */
async function moveSlot(key: string): Promise<void> {
  const masters = mastersOf(store);
  const slot = await store.cluster('KEYSLOT', key);
  const ids = await Promise.all(masters.map((master) => master.call('CLUSTER', 'MYID').then(String)));
  const owners = await Promise.all(masters.map((master) => keysIn(master, slot)));
  const from = owners.findIndex((keys) => keys.length > 0);
  const to = (from + 1) % masters.length;
  const [source, target] = [masters[from], masters[to]];
  if (source === undefined || target === undefined) throw new Error('no master has the slot');
  await target.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', ids[from] ?? '');
  await source.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', ids[to] ?? '');
  const { host = '', port = 0, password = '' } = target.options;
  const keys = owners[from] ?? [];
  await source.call('MIGRATE', host, port, '', 0, 5_000, 'AUTH', password, 'KEYS', ...keys);
  for (const master of [target, source, ...masters]) {
    await master.call('CLUSTER', 'SETSLOT', slot, 'NODE', ids[to] ?? '');
  }
  expect(await keysIn(target, slot)).toContain(`auth:${key}:epoch`);
}

async function keysIn(master: Redis, slot: number): Promise<string[]> {
  return (await master.call('CLUSTER', 'GETKEYSINSLOT', slot, 1_000)) as string[];
}

describe('Sentinel', () => {
  afterEach(stopAll);

  test(
    'the master is killed: 503, then all holds by itself on the new one',
    async () => {
      const sentinel = await startRedisSentinel();
      await startAuthOn(sentinel);
      await expectToOutlive(sentinel.master, await clientsWithTokens(5));
    },
    TIME_LIMIT_MS,
  );
});

test('one node of three that evicts is enough: auth ends with exit code 1', async () => {
  const cluster = await startRedisCluster();
  const store = openRedis(cluster.url, createLogger('suite', 'silent'));
  await waitFor(() => store.status === 'ready' && mastersOf(store).length === 3);
  await mastersOf(store)[1]?.config('SET', 'maxmemory-policy', 'allkeys-lru');
  const { status, output } = runToItsEnd({ ...GOOD_SETTINGS, REDIS_URL: cluster.url });
  expect(status).toBe(1);
  expect(output).toContain('its maxmemory-policy is allkeys-lru');
  store.disconnect();
  await cluster.stop();
});
