import { afterEach, expect, test } from '@jest/globals';
import type { BackgroundLoop } from '@tollgate/server/background-loop';
import { createLogger } from '@tollgate/log';
import { waitFor } from '@tollgate/stack/wait-for';
import { startWorkLoop } from './work-loop.ts';
import type { Due } from './work-loop.ts';

const loops: BackgroundLoop[] = [];

afterEach(async () => {
  await Promise.all(loops.splice(0).map((loop) => loop.close()));
});

function start({
  work = () => Promise.resolve(),
  ...options
}: {
  work?: () => Promise<void>;
  isNeeded?: () => boolean;
  due?: Due;
  worksAtStart?: boolean;
}): {
  wake: () => void;
  runs: () => number;
} {
  let runs = 0;
  const loop = startWorkLoop({
    work: () => {
      runs += 1;
      return work();
    },
    messages: { failed: 'failed', recovered: 'recovered' },
    ...options,
    logger: createLogger('suite', 'silent'),
  });
  loops.push(loop);
  return { wake: loop.wake, runs: () => runs };
}

test('a loop works at once and twice a second; while it is not needed, only when it is woken', async () => {
  let isNeeded = false;
  const [needed, other] = [start({}), start({ isNeeded: () => isNeeded })];
  await waitFor(() => needed.runs() >= 4);
  expect(other.runs()).toBe(1);
  isNeeded = true;
  other.wake();
  await waitFor(() => other.runs() >= 4);
});

test('work that failed is tried again soon, also where nothing is due', async () => {
  const dueWatch = { watch: () => () => undefined, close: () => Promise.resolve() };
  const work = () => Promise.reject(new Error('Redis is away'));
  const failing = start({ due: { dueWatch, condition: 'false' }, worksAtStart: true, work });
  await waitFor(() => failing.runs() >= 3);
});

test('a loop whose work is watched for works when it is due; at its start, if it has to', async () => {
  const wakes: (() => void)[] = [];
  const due: Due = {
    condition: 'true',
    dueWatch: {
      watch: (_condition, wake) => {
        wakes.push(wake);
        return () => undefined;
      },
      close: () => Promise.resolve(),
    },
  };
  const [watched, atStart] = [start({ due }), start({ due, worksAtStart: true })];
  expect([watched.runs(), atStart.runs()]).toEqual([0, 1]);
  for (const wake of wakes) wake();
  await waitFor(() => watched.runs() === 1 && atStart.runs() === 2);
});
