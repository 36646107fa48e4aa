import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { GOOD_SETTINGS, runToItsEnd } from '../../test/suite/run-to-its-end.ts';

const ACCOUNT = { ACCOUNT_PRIVATE_URL: 'http://127.0.0.1:9' };

let redis: OwnRedis;
let store: RedisConnection;
let running: ServiceProcess[];

beforeAll(async () => {
  redis = await startRedis(['maxmemory 64mb', 'maxmemory-policy allkeys-lru']);
  store = openRedis(redis.url, createLogger('suite', 'silent'));
  await waitFor(() => store.status === 'ready');
});

beforeEach(() => {
  running = [];
});

afterAll(async () => {
  store.disconnect();
  await redis.stop();
});

async function startAuthOn(url: string, env: Record<string, string> = {}): Promise<ServiceProcess> {
  const service = await startServiceProcess('auth', { ...ACCOUNT, REDIS_URL: url, ...env });
  running.push(service);
  return service;
}

async function stopAll(): Promise<void> {
  await Promise.all(running.map((service) => service.stop()));
}

async function urlOfUserWithout(...commands: string[]): Promise<string> {
  const url = new URL(redis.url);
  const rules = ['on', '>pw', '~*', '&*', '+@all', ...commands.map((command) => `-${command}`)];
  await store.call('ACL', 'SETUSER', 'limited', 'reset', ...rules);
  url.username = 'limited';
  url.password = 'pw';
  return url.href;
}

function refusal(url: string) {
  const { status, output } = runToItsEnd({ ...GOOD_SETTINGS, REDIS_URL: url });
  expect(output).not.toContain('listening');
  return { status, output };
}

describe('a Redis that evicts', () => {
  test.each(['allkeys-lru', 'volatile-ttl', 'allkeys-random'])(
    '%s: a message that says what to do, exit code 1',
    async (policy) => {
      await store.config('SET', 'maxmemory-policy', policy);
      const { status, output } = refusal(redis.url);
      expect(status).toBe(1);
      expect(output).toContain(
        `its maxmemory-policy is ${policy}, but must be noeviction. Change it, or set ALLOW_EVICTING_REDIS=true`,
      );
    },
  );

  test('a Redis that lets CONFIG or INFO be called, but not both, is asked by the other', async () => {
    await store.config('SET', 'maxmemory-policy', 'allkeys-lfu');
    for (const forbidden of ['config', 'info']) {
      const { status, output } = refusal(await urlOfUserWithout(forbidden));
      expect([forbidden, status]).toEqual([forbidden, 1]);
      expect(output).toContain('its maxmemory-policy is allkeys-lfu');
    }
  });

  test('a policy that can’t be read is refused', async () => {
    const { status, output } = refusal(await urlOfUserWithout('config', 'info'));
    expect(status).toBe(1);
    expect(output).toContain('its maxmemory-policy is unreadable');
  });

  test('ALLOW_EVICTING_REDIS=true runs on it', async () => {
    await store.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const service = await startAuthOn(redis.url, { ALLOW_EVICTING_REDIS: 'true' });
    await becomeReady(service);
    await stopAll();
    expect(service.logs()).not.toContain('maxmemory');
  });

  test('one that comes after the start ends the process as well', async () => {
    const later = await startRedis(['maxmemory-policy volatile-lru']);
    await later.kill();
    const service = await startAuthOn(later.url);
    await later.restart();
    await waitFor(() => service.logs().includes('its maxmemory-policy is volatile-lru'));
    expect(await service.stop()).toMatchObject({ code: 1 });
    await later.stop();
  });
});

test('a Redis with noeviction that comes after the start is taken', async () => {
  const later = await startRedis(['maxmemory-policy noeviction']);
  await later.kill();
  const service = await startAuthOn(later.url);
  expect((await fetch(`${service.privateUrl}/health/ready`)).status).toBe(503);
  await later.restart();
  await becomeReady(service);
  await stopAll();
  await later.stop();
});
