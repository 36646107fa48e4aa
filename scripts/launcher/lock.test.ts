import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { takeLock } from './lock.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-lock-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

const silent = () => undefined;

function leaveStale(inDirectory: string, content: string): void {
  mkdirSync(inDirectory, { recursive: true });
  writeFileSync(join(inDirectory, '00000000-0000-0000-0000-000000000000.json'), content);
}

const killed = { pid: process.pid, startTime: 'before', addresses: [], stopping: false, ticket: 1 };

test('a lock is held until it is released, and refuses others with its addresses', async () => {
  const lock = await takeLock(directory, ['here'], silent);
  await expect(takeLock(directory, ['there'], silent)).rejects.toThrow(/already running here[^]*here/);
  lock.release();
  expect(readdirSync(directory)).toEqual([]);
  (await takeLock(directory, ['there'], silent)).release();
});

test.each([
  ['a killed process', JSON.stringify(killed)],
  ['a killed process that was stopping', JSON.stringify({ ...killed, stopping: true })],
  ['a process that was killed while it chose its place', JSON.stringify({ ...killed, ticket: null })],
  ['a machine that went down while writing', ''],
])('the lock of %s counts for nothing', async (_whose, content) => {
  leaveStale(directory, content);
  const lock = await takeLock(directory, [], silent);
  expect(readdirSync(directory)).toHaveLength(1);
  await expect(takeLock(directory, [], silent)).rejects.toThrow(/already running here/);
  lock.release();
});

describe('of many processes at once exactly one gets it', () => {
  const RACERS = 6;
  const ROUNDS = 50;
  let racers: ChildProcess[];

  beforeAll(async () => {
    const lock = pathToFileURL(join(import.meta.dirname, 'lock.ts')).href;
    const program = `
      const { takeLock } = await import(${JSON.stringify(lock)});
      process.on('message', async (directory) => {
        process.send(await takeLock(directory, [], () => {}).then(() => true, (error) => error.message));
      });
      process.send('ready');
    `;
    racers = Array.from({ length: RACERS }, () =>
      spawn(process.execPath, ['--input-type=module', '-e', program], {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      }),
    );
    await answers();
  });

  afterAll(() => {
    for (const racer of racers) racer.disconnect();
  });

  const answers = () =>
    Promise.all(racers.map(async (racer) => ((await once(racer, 'message')) as unknown[])[0]));

  const race = (forDirectory: string) => {
    const results = answers();
    for (const racer of racers) racer.send(forDirectory);
    return results;
  };

  const ONE = [
    ...Array.from({ length: RACERS - 1 }, () => expect.stringContaining('already running here')),
    true,
  ];
  const sorted = (results: unknown[]) => results.sort((a, b) => Number(a === true) - Number(b === true));

  test('where a killed one has left its own', async () => {
    for (let round = 1; round <= ROUNDS; round += 1) {
      const own = join(directory, String(round));
      leaveStale(own, JSON.stringify(killed));
      expect(sorted(await race(own))).toEqual(ONE);
    }
  });

  test('when the one that they have waited for is over', async () => {
    for (let round = 1; round <= ROUNDS; round += 1) {
      const own = join(directory, String(round));
      const before = await takeLock(own, [], silent);
      before.announceStop();
      const results = race(own);
      before.release();
      expect(sorted(await results)).toEqual(ONE);
    }
  });
});
