import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { takeLock } from './lock.ts';

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-lock-'));
  file = join(directory, 'lock');
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

const silent = () => undefined;

test('a lock is held until it is released, and refuses others with its addresses', async () => {
  const lock = await takeLock(file, ['here'], silent);
  await expect(takeLock(file, ['there'], silent)).rejects.toThrow(/runs here already[^]*here/);
  lock.release();
  expect(readdirSync(directory)).toEqual([]);
  (await takeLock(file, ['there'], silent)).release();
});

test.each([
  ['a killed process', JSON.stringify({ pid: 1, startTime: 'long ago', addresses: [], stopping: false })],
  [
    'a killed process that was stopping',
    JSON.stringify({ pid: 1, startTime: '', addresses: [], stopping: true }),
  ],
  ['a machine that went down while writing', ''],
])('the lock of %s counts for nothing', async (_whose, content) => {
  writeFileSync(file, content);
  const lock = await takeLock(file, [], silent);
  await expect(takeLock(file, [], silent)).rejects.toThrow(/runs here already/);
  lock.release();
});

test('of many at once, over a stale lock, exactly one gets it', async () => {
  writeFileSync(
    file,
    JSON.stringify({ pid: process.pid, startTime: 'before', addresses: [], stopping: false }),
  );
  const program = `
    const { takeLock } = await import(${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'lock.ts')).href)});
    process.send('ready');
    await new Promise((resolve) => process.once('message', resolve));
    const got = await takeLock(${JSON.stringify(file)}, [], () => {}).then(() => true, () => false);
    process.send(got);
    await new Promise((resolve) => process.once('disconnect', resolve));
  `;
  const racers = Array.from({ length: 6 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    }),
  );
  const nextMessages = () =>
    Promise.all(racers.map((racer) => new Promise((resolve) => racer.once('message', resolve))));
  try {
    await nextMessages();
    const results = nextMessages();
    for (const racer of racers) racer.send('go');
    expect((await results).filter((got) => got === true)).toHaveLength(1);
    expect(existsSync(file)).toBe(true);
  } finally {
    for (const racer of racers) racer.disconnect();
  }
});
