import { afterEach, expect, test } from '@jest/globals';
import type { BackgroundLoop } from '@tollgate/server/background-loop';
import { createLogger } from '@tollgate/log';
import { waitFor } from '@tollgate/stack/wait-for';
import { startWorkLoop } from './work-loop.ts';

const loops: BackgroundLoop[] = [];

afterEach(async () => {
  await Promise.all(loops.splice(0).map((loop) => loop.close()));
});

function start(isNeeded: () => boolean): { wake: () => void; runs: () => number } {
  let runs = 0;
  const loop = startWorkLoop({
    work: () => {
      runs += 1;
      return Promise.resolve();
    },
    messages: { failed: 'failed', recovered: 'recovered' },
    isNeeded,
    logger: createLogger('suite', 'silent'),
  });
  loops.push(loop);
  return { wake: loop.wake, runs: () => runs };
}

test('a loop works at once and twice a second; while it is not needed, only when it is woken', async () => {
  let isNeeded = false;
  const [needed, other] = [start(() => true), start(() => isNeeded)];
  await waitFor(() => needed.runs() >= 4);
  expect(other.runs()).toBe(1);
  isNeeded = true;
  other.wake();
  await waitFor(() => other.runs() >= 4);
});
