import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connect } from 'node:net';
import { isPortTaken } from '@tollgate/stack/ports';
import { withClient } from '@tollgate/stack/postgres';
import { createDatabase } from './database.ts';
import type { Database } from './database.ts';
import { startPostgres } from './postgres.ts';
import { ownProcesses } from './config.ts';
import { startRedis } from './redis/redis.ts';
import type { OwnRedis } from './redis/redis.ts';
import { startServiceProcess } from './service-process.ts';

let databases: Database[];
let redis: OwnRedis;

beforeAll(async () => {
  [databases, redis] = await Promise.all([
    Promise.all([createDatabase(), createDatabase(), createDatabase()]),
    startRedis(),
  ]);
});

afterAll(async () => {
  await Promise.all([...databases.map((database) => database.drop()), redis.stop()]);
});

test('databases are made side by side, migrated and each for itself', async () => {
  const [one, other] = databases;
  await withClient(one?.url ?? '', (client) => client.query('CREATE TABLE mine ()'));
  const tables = await withClient(other?.url ?? '', (client) =>
    client.query<{ tablename: string }>("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"),
  );
  const names = tables.rows.map(({ tablename }) => tablename);
  expect(names.length).toBeGreaterThan(1);
  expect(names).not.toContain('mine');
});

test('a dropped database is gone, sessions or not', async () => {
  const database = await createDatabase();
  await expect(
    withClient(database.url, async (client) => {
      await database.drop();
      await client.query('SELECT 1');
    }),
  ).rejects.toThrow();
  await expect(withClient(database.url, () => Promise.resolve())).rejects.toThrow(/does not exist/);
});

test('a killed Redis comes back at its address with its data', async () => {
  expect(await command(redis, 'SET kept yes')).toContain('+OK');
  await redis.kill();
  expect(await isPortTaken(redis.port)).toBe(false);
  await redis.restart();
  expect(await command(redis, 'GET kept')).toContain('yes');
});

test('a killed Postgres comes back at its address with its data', async () => {
  const postgres = await startPostgres();
  try {
    await withClient(postgres.url, (client) => client.query('CREATE TABLE kept AS SELECT 7 AS number'));
    await postgres.kill();
    await expect(withClient(postgres.url, () => Promise.resolve())).rejects.toThrow(/ECONNREFUSED/);
    await postgres.restart();
    const kept = await withClient(postgres.url, (client) => client.query('SELECT number FROM kept'));
    expect(kept.rows).toEqual([{ number: 7 }]);
  } finally {
    await postgres.stop();
  }
});

describe('a service', () => {
  const startAuth = (env: Record<string, string> = {}) =>
    startServiceProcess('auth', { REDIS_URL: redis.url, ACCOUNT_PRIVATE_URL: 'http://127.0.0.1:1', ...env });
  test('that is stopped leaves its process to the next one, and nothing else', async () => {
    const one = await startAuth({ LOG_LEVEL: 'debug' });
    const pid = one.pid();
    expect(await one.stop()).toEqual({ code: 0, signal: null });
    expect(one.logs()).toMatch(/"listening"[^]*"shut down"/);
    const port = Number(new URL(one.publicUrl).port);
    expect(await isPortTaken(port)).toBe(false);
    const next = await startAuth();
    expect(next.pid()).toBe(pid);
    expect(next.logs()).toContain('"listening"');
    expect(next.logs()).not.toContain(String(port));
    await next.stop();
  });

  test('that is killed takes its process with it, and comes back in another', async () => {
    const service = await startAuth();
    const pid = service.pid();
    await service.kill();
    await expect(fetch(service.privateUrl)).rejects.toThrow();
    await service.restart();
    expect(service.pid()).not.toBe(pid);
    expect(service.logs().split('"listening"')).toHaveLength(3);
    await service.stop();
  });

  test('that can’t start says why, and ends', async () => {
    await expect(startAuth({ TOKEN_PREFIX: 'Wrong' })).rejects.toThrow(
      /auth ended with exit code 1[^]*TOKEN_PREFIX/,
    );
  });

  test('of two at once has a process of its own', async () => {
    const both = await Promise.all([startAuth(), startAuth()]);
    expect(both[0].pid()).not.toBe(both[1].pid());
    await Promise.all(both.map((service) => service.stop()));
  });

  test('of a suite that demands it is a new process, which ends', async () => {
    ownProcesses();
    const one = await startAuth();
    const pid = one.pid();
    expect(await one.stop()).toEqual({ code: 0, signal: null });
    const next = await startAuth();
    expect(next.pid()).not.toBe(pid);
    await next.stop();
  });
});

/** One command by Redis' inline protocol, after AUTH. */
function command({ url, port }: OwnRedis, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port });
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
    socket.once('end', () => {
      resolve(answer);
    });
    socket.once('error', reject);
    socket.write(`AUTH ${new URL(url).password}\r\n${line}\r\nQUIT\r\n`);
  });
}
