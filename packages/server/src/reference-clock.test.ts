import { afterEach, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { createLogger } from '@tollgate/log';
import { waitFor } from '@tollgate/stack/wait-for';
import { followClock } from './reference-clock.ts';
import type { ReferenceClock } from './reference-clock.ts';

const HOUR_MS = 3_600_000;

let clock: ReferenceClock | undefined;

afterEach(() => {
  clock?.close();
});

/** Follows a reference whose time the test gives; `lines` are those of the log. */
function follow(readMs: () => Promise<number>) {
  const registry = new Registry();
  const lines: string[] = [];
  const logger = createLogger('suite', 'info', { write: (line: string) => lines.push(line) });
  const followed = followClock({ reference: 'redis', readMs, registry, logger });
  clock = followed;
  const skewSec = async () => {
    const metric = await registry.getSingleMetric('tollgate_clock_skew_seconds')?.get();
    return metric?.values.find(({ labels }) => labels['reference'] === 'redis')?.value;
  };
  return { followed, skewSec, lines };
}

test('a clock an hour behind is measured, corrected and said once', async () => {
  const { followed, skewSec, lines } = follow(() => Promise.resolve(Date.now() + HOUR_MS));
  expect(Math.abs(followed.nowMs() - Date.now())).toBeLessThan(HOUR_MS / 2);
  await waitFor(async () => (await skewSec()) !== undefined);
  expect(Math.abs(((await skewSec()) ?? 0) + 3_600)).toBeLessThan(1);
  expect(Math.abs(followed.nowMs() - Date.now() - HOUR_MS)).toBeLessThan(1_000);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('this clock is off');
});

test('a reference that is away at first is asked until it answers', async () => {
  let questions = 0;
  const { followed, lines } = follow(() => {
    questions += 1;
    return questions < 3 ? Promise.reject(new Error('away')) : Promise.resolve(Date.now() - HOUR_MS);
  });
  await waitFor(() => Date.now() - followed.nowMs() > HOUR_MS / 2);
  expect(questions).toBeGreaterThanOrEqual(3);
  expect(lines).toHaveLength(1);
});
