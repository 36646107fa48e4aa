import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@tollgate/stack/ports';
import { isRunning } from '@tollgate/stack/process-identity';
import type { ProcessIdentity } from '@tollgate/stack/process-identity';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedisCluster } from '@tollgate/testbed/redis-topologies';
import type { Demo } from './demo.ts';
import { takenPorts } from './ports.ts';
import { freePortBase, runLauncher, untilRunning } from './running-launcher.ts';
import type { RunningLauncher } from './running-launcher.ts';
import { portsFrom } from './settings.ts';

let directory: string;
let portBase: number;
let tokenBeforeReset = '';

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-start-'));
  // As root, Postgres runs as another user, who must reach its data.
  chmodSync(directory, 0o711);
  portBase = await freePortBase();
});

afterAll(async () => {
  await runLauncher(directory, portBase, 'reset').exited;
  rmSync(directory, { recursive: true });
});

function processes(): (ProcessIdentity & { name: string })[] {
  return JSON.parse(readFileSync(join(directory, 'processes.json'), 'utf8')) as (ProcessIdentity & {
    name: string;
  })[];
}

/** Data, logs and secrets stay. */
async function expectNothingRuns(started: ProcessIdentity[]): Promise<void> {
  expect(started.filter(isRunning)).toEqual([]);
  expect(await takenPorts(portsFrom(portBase))).toEqual([]);
  expect(readdirSync(join(directory, 'launchers'))).toEqual([]);
  expect(
    readdirSync(directory).filter((file) => !['data', 'launchers', 'logs', 'secrets.json'].includes(file)),
  ).toEqual([]);
}

async function obtainToken({ auth_url, application }: Demo): Promise<string> {
  const { client_id, client_secret } = application;
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    scope: 'api',
    client_id,
    client_secret,
  });
  const response = await fetch(`${auth_url}/oauth2/token`, { method: 'POST', body });
  return ((await response.json()) as { access_token: string }).access_token;
}

async function call({ streaming_url }: Demo, token: string): Promise<number> {
  const response = await fetch(`${streaming_url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ country(code: "CH") { name } }' }),
  });
  await response.text();
  return response.status;
}

/** Uses the printed credentials at the gateway, as a browser would. */
async function signIn({ streaming_url, console: { email, password } }: Demo): Promise<number> {
  const response = await fetch(`${streaming_url}/api/console/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: streaming_url },
    body: JSON.stringify({ email, password }),
  });
  await response.text();
  return response.status;
}

async function requestsUsed({ account_url }: Demo, token: string): Promise<number> {
  const response = await fetch(`${account_url}/api/usage`, { headers: { authorization: `Bearer ${token}` } });
  const usage = (await response.json()) as { billing_period: { usage: { requests_usage: number } } };
  return usage.billing_period.usage.requests_usage;
}

/** Each start takes seconds of both cores, so that tests hand a running stack on. */
describe('npm start', () => {
  let launcher: RunningLauncher;
  let demo: Demo;

  const start = async () => {
    launcher = runLauncher(directory, portBase);
    demo = await untilRunning(launcher, directory);
    // What builds the books runs until then.
    await waitFor(() => launcher.output().includes('Documentation ready'));
  };

  test('brings up a stack that meters a call', async () => {
    await start();
    for (const file of ['demo.json', 'secrets.json', 'processes.json']) {
      expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600);
    }
    const token = await obtainToken(demo);
    const before = await requestsUsed(demo, token);
    expect(await call(demo, token)).toBe(200);
    await waitFor(async () => (await requestsUsed(demo, token)) === before + 1);
    expect(await signIn(demo)).toBe(201);
    for (const path of ['/user', '/docs'])
      expect((await fetch(`${demo.streaming_url}${path}`)).status).toBe(200);
    expect(launcher.output()).toMatch(/Ctrl-C stops it\.\nDocumentation ready/);
    expect(
      processes()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['account', 'auth', 'gateway', 'payments', 'postgres', 'redis', 'upstream']);
  }, 300_000);

  test('after a kill -9 starts again, with its data and the same sample', async () => {
    const before = demo;
    const token = await obtainToken(before);
    tokenBeforeReset = token;
    const earlier = await requestsUsed(before, token);
    expect(await call(before, token)).toBe(200);
    const used = await waitFor(async () => {
      const now = await requestsUsed(before, token);
      return now > earlier ? now : undefined;
    });
    const left = processes();
    launcher.signal('SIGKILL');
    await launcher.exited;
    expect(left.filter(isRunning)).toHaveLength(7);

    await start();
    expect(launcher.output()).toMatch(/Ended what the last start left running: .*postgres/);
    expect(left.filter(isRunning)).toEqual([]);
    expect(demo).toEqual(before);
    expect(await requestsUsed(demo, token)).toBeGreaterThanOrEqual(used);
  }, 300_000);

  test('beside a running one says so, with its addresses, and leaves it alone; so does npm run reset', async () => {
    for (const program of ['start', 'reset'] as const) {
      const second = runLauncher(directory, portBase, program);
      expect(await second.exited).toBe(1);
      expect(second.output()).toContain(`already running here (process ${String(launcher.pid)})`);
      expect(second.output()).toContain(demo.streaming_url);
    }
    expect(await call(demo, await obtainToken(demo))).toBe(200);
  }, 300_000);

  test('waits for one that is stopping, which signals that come again do not disturb', async () => {
    const stopping = launcher;
    const stopped = processes();
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGTERM'] as const) stopping.signal(signal);
    await waitFor(() => !existsSync(join(directory, 'demo.json')), { intervalMs: 5 });
    await start();
    expect(await stopping.exited).toBe(0);
    expect(stopped.filter(isRunning)).toEqual([]);
  }, 300_000);

  test('restarts any part that is killed, and tokens stay valid', async () => {
    const token = await obtainToken(demo);
    for (const name of ['account', 'postgres', 'redis', 'auth', 'gateway', 'upstream']) {
      const pid = processes().find((process) => process.name === name)?.pid ?? 0;
      process.kill(pid, 'SIGKILL');
      await waitFor(() => launcher.output().includes(`${name} is back`));
      expect(launcher.output()).toContain(
        `${name} ended unexpectedly (signal SIGKILL); starting it again. Its log: ${join(directory, `logs/${name}.log`)}`,
      );
      await waitFor(async () => (await call(demo, token)) === 200);
    }
  }, 300_000);

  test('gives up on a service that does not stay up: says which, where its log is, and ends the rest', async () => {
    const started = processes();
    const killed = new Set<number>();
    while (killed.size < 5) {
      const pid = await waitFor(() => {
        const payments = processes().find(({ name }) => name === 'payments');
        return payments === undefined || killed.has(payments.pid) ? undefined : payments.pid;
      });
      killed.add(pid);
      process.kill(pid, 'SIGKILL');
    }
    expect(await launcher.exited).toBe(1);
    expect(launcher.output()).toMatch(/payments doesn't stay up \(.*\)/s);
    expect(launcher.output()).toContain(`Its log: ${join(directory, 'logs/payments.log')}`);
    await expectNothingRuns(started);
  }, 300_000);

  test('with a port taken names it, says what it is for and how to move, and starts nothing', async () => {
    const stranger = createServer();
    const { account } = portsFrom(portBase);
    await new Promise<void>((resolve) => stranger.listen({ host: '127.0.0.1', port: account }, resolve));
    const launcher = runLauncher(directory, portBase);
    expect(await launcher.exited).toBe(1);
    expect(launcher.output()).toContain(`Port ${String(account)}, for account, is taken by another process.`);
    expect(launcher.output()).toMatch(/PORT_BASE=\d+ npm start/);
    await new Promise((resolve) => stranger.close(resolve));
    await expectNothingRuns([]);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'stopped by %s halfway through its start leaves nothing running',
    async (signal) => {
      const launcher = runLauncher(directory, portBase);
      await waitFor(() => launcher.output().includes('Postgres ready'), { intervalMs: 5 });
      const started = processes();
      launcher.signal(signal);
      expect(await launcher.exited).toBe(0);
      await expectNothingRuns(started);
    },
    300_000,
  );

  test('that fails halfway, here at a Redis nobody runs, says why and leaves nothing running', async () => {
    const url = `redis://:the-password@127.0.0.1:${String(await freePort())}`;
    const launcher = runLauncher(directory, portBase, 'start', url);
    expect(await launcher.exited).toBe(1);
    expect(launcher.output()).toContain('The Redis that REDIS_URL names (127.0.0.1:');
    expect(launcher.output()).not.toContain('the-password');
    await expectNothingRuns([]);
  }, 300_000);
});

test('npm run reset forgets the data: the next start makes another sample, here with the Redis Cluster that REDIS_URL names; it stops by itself once npm is killed', async () => {
  const secrets = () => readFileSync(join(directory, 'secrets.json'), 'utf8');
  const before = secrets();
  expect(await runLauncher(directory, portBase, 'reset').exited).toBe(0);
  expect(readdirSync(directory)).toEqual(['launchers']);

  // Only a new database can begin with another Redis (docs/design/settlement.md).
  const redis = await startRedisCluster();
  const launcher = runLauncher(directory, portBase, 'start', redis.url);
  const demo = await untilRunning(launcher, directory);
  expect(processes().map(({ name }) => name)).not.toContain('redis');
  expect(secrets()).not.toBe(before);
  expect(await call(demo, tokenBeforeReset)).toBe(401);
  expect(await call(demo, await obtainToken(demo))).toBe(200);
  const started = processes();
  launcher.disconnect();
  expect(await launcher.exited).toBe(0);
  await redis.stop();
  await expectNothingRuns(started);
}, 300_000);

test.each([
  ['PORT_BASE', 'none'],
  ['PORT_BASE', '65500'],
])('%s=%s is refused before anything starts', async (_name, value) => {
  const launcher = runLauncher(directory, value);
  expect(await launcher.exited).toBe(1);
  expect(launcher.output()).toBe('PORT_BASE must be a whole number from 1024 to 65433.\n');
});
