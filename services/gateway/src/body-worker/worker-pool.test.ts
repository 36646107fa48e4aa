import { afterEach, expect, test } from '@jest/globals';
import { createWorkerPool } from './worker-pool.ts';
import type { WorkerPool, WorkerPoolOptions } from './worker-pool.ts';

/** Does as the first byte of the body says, and answers with the body. */
const PROGRAM = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    const kept = [];
    parentPort.on('message', ({ body }) => {
      switch (String.fromCharCode(body[0])) {
        case 'c': throw new Error('crash');
        case 'e': process.exit(3);
        case 'm': for (;;) kept.push(new Array(100_000).fill({}));
        case 'h': for (;;);
        default: parentPort.postMessage(body);
      }
    });
  `)}`,
);

const LIMIT_MS = 400;

let pool: WorkerPool;

afterEach(() => pool.close());

function open(options: Partial<WorkerPoolOptions> = {}) {
  pool = createWorkerPool({ maxBodyBytes: 1, program: PROGRAM, timeLimitMs: () => 60_000, ...options });
  return (what: string, payerId = 1) =>
    pool.run({ kind: 'withTexts', body: Buffer.from(what), found: [] }, payerId);
}

const UNAVAILABLE = { code: 'service_unavailable' };

test.each([
  ['throws', 'c'],
  ['ends the thread', 'e'],
  ['needs too much memory', 'm'],
])('a job that %s fails alone', async (_how, what) => {
  const run = open({ threads: 1 });
  const jobs = [run('1').answer, run(what).answer, run('2', 2).answer, run('3').answer];
  const [first, failed, second, third] = await Promise.allSettled(jobs);
  expect([first?.status, second?.status, third?.status]).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
  expect(failed).toMatchObject({ status: 'rejected', reason: UNAVAILABLE });
});

test('a job that takes too long is ended, and holds no other up', async () => {
  const run = open({ timeLimitMs: () => LIMIT_MS });
  const hanging = run('h', 1).answer;
  const others = [run('2', 2).answer, run('3', 3).answer];
  expect((await Promise.all(others)).map(String)).toEqual(['50', '51']);
  await expect(hanging).rejects.toMatchObject(UNAVAILABLE);
  expect(String(await run('4', 1).answer)).toBe('52');
});

test('payers take turns, and one with many jobs leaves a thread to others', async () => {
  const run = open({ timeLimitMs: () => LIMIT_MS });
  // Without others, both threads are the payer's.
  const hanging = Array.from({ length: 64 }, () => run('h', 1).answer);
  for (const one of hanging) one.catch(() => undefined);
  await expect(run('2', 2).answer).resolves.toBeDefined();
  const ended: number[] = [];
  hanging.forEach((one, index) => void one.catch(() => ended.push(index)));
  await expect(run('3', 3).answer).resolves.toBeDefined();
  expect(ended.length).toBeLessThan(6);
  await pool.close();
  expect(await Promise.allSettled(hanging)).toEqual(
    hanging.map(() => ({ status: 'rejected', reason: expect.objectContaining(UNAVAILABLE) as unknown })),
  );
});

test('a payer has so many at a time', async () => {
  const run = open();
  const jobs = Array.from({ length: 64 }, () => run('1').answer);
  expect(() => run('1')).toThrow(expect.objectContaining({ code: 'too_many_requests' }));
  await expect(run('1', 2).answer).resolves.toBeDefined();
  await Promise.all(jobs);
  await expect(run('1').answer).resolves.toBeDefined();
});

test('a job that waits can be dropped, and no longer counts', async () => {
  const run = open({ threads: 1 });
  const first = run('1');
  const waiting = Array.from({ length: 63 }, () => run('2'));
  expect(first.drop()).toBe(false);
  expect(waiting.map(({ drop }) => drop())).not.toContain(false);
  expect(waiting[0]?.drop()).toBe(false);
  await Promise.all(Array.from({ length: 63 }, () => run('3').answer));
  await expect(first.answer).resolves.toBeDefined();
});
