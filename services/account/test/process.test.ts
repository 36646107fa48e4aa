import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { VERSION } from '@tollgate/server/version';
import { freePort } from '@tollgate/stack/ports';
import { becomeReady } from '@tollgate/testbed/service-process';
import { ownProcesses } from '@tollgate/testbed/config';
import { startAccount } from './suite/account-under-test.ts';
import type { AccountUnderTest } from './suite/account-under-test.ts';
import { runProgram } from './suite/programs.ts';

ownProcesses();

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount({ settings: { SHUTDOWN_IDLE_GRACE_MS: '500' } });
});

afterAll(async () => {
  await suite.close();
});

/** Valid settings whose peers don't exist. */
async function settings(): Promise<Record<string, string>> {
  return {
    PUBLIC_PORT: String(await freePort()),
    PRIVATE_PORT: String(await freePort()),
    PUBLIC_HOST: '127.0.0.1',
    PRIVATE_HOST: '127.0.0.1',
    SERVICE_CREDENTIALS: 'suite:0123456789abcdef',
    SERVICE_CLIENT_ID: 'suite',
    SERVICE_CLIENT_SECRET: '0123456789abcdef',
    PUBLIC_URL: 'http://127.0.0.1:1',
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    REDIS_URL: 'redis://127.0.0.1:1',
    AUTH_PRIVATE_URL: 'http://127.0.0.1:1',
    CLIENT_SECRET_PEPPERS: `p1:${Buffer.alloc(32).toString('base64')}`,
    TOKEN_SEALING_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
  };
}

test('missing and wrong settings are all named, none repeated, and account ends with 1', async () => {
  const wrong = { DATABASE_URL: 'mysql://root:hunter2@db/x', DATABASE_POOL_MAX: '0', TOKEN_PREFIX: 'Nope!' };
  const { code, stdout, stderr } = await runProgram('main', wrong);
  expect([code, stdout]).toEqual([1, '']);
  for (const name of [
    'PUBLIC_PORT',
    'PRIVATE_PORT',
    'SERVICE_CREDENTIALS',
    'SERVICE_CLIENT_ID',
    'SERVICE_CLIENT_SECRET',
    'DATABASE_URL',
    'PUBLIC_URL',
    'DATABASE_POOL_MAX',
    'REDIS_URL',
    'AUTH_PRIVATE_URL',
    'CLIENT_SECRET_PEPPERS',
    'TOKEN_SEALING_KEYS',
    'TOKEN_PREFIX',
  ]) {
    expect(stderr).toMatch(new RegExp(`^  - ${name}: `, 'm'));
  }
  expect(stderr).not.toMatch(/hunter2|Nope|mysql/);
});

test('an introspection may not be kept for longer than ten minutes', async () => {
  const { code, stderr } = await runProgram('main', {
    ...(await settings()),
    INTROSPECTION_CACHE_TTL_MS: '600001',
  });
  expect([code, stderr]).toEqual([1, expect.stringContaining('INTROSPECTION_CACHE_TTL_MS')]);
});

test('a mail server without a sender is a fault', async () => {
  const { code, stderr } = await runProgram('main', {
    ...(await settings()),
    SMTP_URL: 'smtp://127.0.0.1:1',
  });
  expect([code, stderr]).toEqual([1, expect.stringContaining('MAIL_FROM')]);
});

test('a sender that no mail can be from is a fault that says what is wrong', async () => {
  const { code, stderr } = await runProgram('main', {
    ...(await settings()),
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: '=?UTF-8?Q?Z=C3=BCrich?= <no-reply@tollgate.example>',
  });
  expect([code, stderr]).toEqual([1, expect.stringContaining('MAIL_FROM: the name must not be encoded')]);
});

test('a taken port is said plainly, and account ends with 1', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = String((server.address() as AddressInfo).port);
  const { code, stdout } = await runProgram('main', { ...(await settings()), PRIVATE_PORT: port });
  server.close();
  expect(code).toBe(1);
  expect(stdout).toContain(`The private port ${port} on 127.0.0.1 is taken`);
});

test('the private listener tells health and metrics, and asks for a credential for all else', async () => {
  const { privateUrl } = suite.account;
  const ready = await fetch(`${privateUrl}/health/ready`);
  expect([ready.status, await ready.json()]).toEqual([
    200,
    { status: 'ready', checks: { postgres: 'ok', redis: 'ok' } },
  ]);
  const metrics = await (await fetch(`${privateUrl}/metrics`)).text();
  for (const name of [
    'tollgate_http_request_duration_seconds',
    'tollgate_usage_reader_entries_total',
    'tollgate_usage_reader_events_total',
    'tollgate_usage_reader_unassigned_total',
    'tollgate_usage_reader_lag_seconds',
  ]) {
    expect(metrics).toContain(`# TYPE ${name} `);
  }
  expect((await fetch(`${privateUrl}/private/anything`)).status).toBe(401);
  expect((await fetch(`${privateUrl}/api/usage`)).status).toBe(404);
});

describe('on a schema of a newer version', () => {
  const record = (version: string, oldest_served_version: string) =>
    suite.database('schema_version').update({ version, oldest_served_version });
  const ready = async () => {
    const response = await fetch(`${suite.account.privateUrl}/health/ready`);
    return [response.status, await response.json()] as const;
  };

  afterEach(async () => {
    await record(VERSION, VERSION);
  });

  test('that serves this one, it starts and is ready', async () => {
    await record('99.0.0', VERSION);
    await suite.account.stop();
    await suite.account.restart();
    await becomeReady(suite.account);
    expect(await ready()).toEqual([200, { status: 'ready', checks: { postgres: 'ok', redis: 'ok' } }]);
  });

  test('that no longer serves this one, it refuses to start, and says which version to install', async () => {
    await record('99.0.0', '98.0.0');
    const DATABASE_URL = suite.settings['DATABASE_URL'] ?? '';
    const { code, stdout } = await runProgram('main', { ...(await settings()), DATABASE_URL });
    expect(code).toBe(1);
    expect(stdout).toContain(`Tollgate 99.0.0 has changed the database, and Tollgate ${VERSION} can't work`);
    expect(stdout).toContain('Install 98.0.0 or newer');
    expect(stdout).not.toContain('listening');
  });

  test('that stops serving this one while it runs, it is not ready, and says why', async () => {
    await record('99.0.0', '98.0.0');
    expect(await ready()).toEqual([
      503,
      {
        status: 'unavailable',
        checks: { postgres: expect.stringContaining('Install 98.0.0 or newer'), redis: 'ok' },
      },
    ]);
  });
});

test('SIGTERM ends it with 0', async () => {
  expect(await suite.account.stop()).toEqual({ code: 0, signal: null });
  expect(suite.account.logs()).toContain('shut down');
  await suite.account.restart();
});
