import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../ports.ts';
import { removePostgresData, startPostgres, withClient } from './postgres.ts';
import type { Postgres } from './postgres.ts';

let directory: string;
let port: number;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-postgres-'));
  chmodSync(directory, 0o711);
  port = await freePort();
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

function start(dataDir: string, password = 'right'): Promise<Postgres> {
  const logFile = join(directory, 'log');
  return startPostgres({ dataDir, port, password, logFile, durable: false, database: 'sample' });
}

async function numbers(url: string): Promise<unknown[]> {
  const kept = await withClient(url, (client) => client.query<{ number: number }>('SELECT number FROM kept'));
  return kept.rows;
}

test('data outlives a kill -9, also when another process has the pid by then', async () => {
  const dataDir = join(directory, 'killed');
  const postgres = await start(dataDir);
  await withClient(postgres.url, (client) => client.query('CREATE TABLE kept AS SELECT 7 AS number'));
  await postgres.process.stop({ signal: 'SIGKILL' });
  const lockFile = join(dataDir, 'cluster/postmaster.pid');
  const [, ...rest] = readFileSync(lockFile, 'utf8').split('\n');
  writeFileSync(lockFile, [String(process.pid), ...rest].join('\n'));

  const again = await start(dataDir);
  expect(await numbers(again.url)).toEqual([{ number: 7 }]);
  await again.stop();
  await removePostgresData(dataDir);
});

test('a first start that was cut off leaves nothing in the way of the next', async () => {
  const dataDir = join(directory, 'cut-off');
  mkdirSync(join(dataDir, 'new-half'), { recursive: true });
  writeFileSync(join(dataDir, 'new-half/PG_VERSION'), '18');
  const postgres = await start(dataDir);
  await postgres.stop();
  expect(existsSync(join(dataDir, 'new-half'))).toBe(false);
  await removePostgresData(dataDir);
});

test('it listens on 127.0.0.1 only, and lets nobody in without the password', async () => {
  const dataDir = join(directory, 'closed');
  const postgres = await start(dataDir);
  const { rows } = await withClient(postgres.url, (client) =>
    client.query(
      "SELECT name, setting FROM pg_settings WHERE name IN ('listen_addresses', 'unix_socket_directories') ORDER BY name",
    ),
  );
  expect(rows).toEqual([
    { name: 'listen_addresses', setting: '127.0.0.1' },
    { name: 'unix_socket_directories', setting: '' },
  ]);
  const wrong = new URL(postgres.url);
  wrong.password = 'wrong';
  await expect(withClient(wrong.href, () => Promise.resolve())).rejects.toThrow(/password/);
  await postgres.stop();

  await expect(start(dataDir, 'wrong')).rejects.toThrow(/password authentication failed/);
  const again = await start(dataDir);
  await again.stop();
  await removePostgresData(dataDir);
});

const asRoot = process.getuid?.() === 0;

(asRoot ? test : test.skip)(
  "as root, below a directory that Postgres' user may not enter, the data lies elsewhere; removing it finds it",
  async () => {
    const closed = join(directory, 'closed-to-others');
    mkdirSync(closed, { mode: 0o700 });
    const dataDir = join(closed, 'data');
    const postgres = await start(dataDir);
    await withClient(postgres.url, (client) => client.query('CREATE TABLE kept AS SELECT 8 AS number'));
    await postgres.stop();
    const place = readFileSync(join(dataDir, 'elsewhere'), 'utf8');
    expect(existsSync(join(place, 'cluster'))).toBe(true);

    const again = await start(dataDir);
    expect(await numbers(again.url)).toEqual([{ number: 8 }]);
    await again.stop();

    // A new checkout at the path of one deleted without a reset can't know the old password.
    rmSync(dataDir, { recursive: true });
    const anew = await start(dataDir, 'another');
    await expect(numbers(anew.url)).rejects.toThrow(/does not exist/);
    await anew.stop();
    await removePostgresData(dataDir);
    expect(existsSync(place)).toBe(false);
    expect(existsSync(dataDir)).toBe(false);
  },
);
