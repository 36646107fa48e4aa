import { createRandom } from './random.ts';
import type { Difference, Rounds } from './rounds.ts';

const ROUND_MAX_MS = 20_000;

export type Fuzzed = { count: number; difference: Difference | null };

/**
 * Makes rounds until one differs, or a limit is reached. Each has random numbers of its own, from the seed and its
 * number. @throws {Error} if a round doesn't end.
 */
export async function fuzz(
  { name, round }: Rounds,
  { seed, maxMs, maxRounds }: { seed: number; maxMs: number; maxRounds: number },
): Promise<Fuzzed> {
  const untilMs = performance.now() + maxMs;
  let count = 0;
  while (count < maxRounds && performance.now() < untilMs) {
    const difference = await inTime(
      round(createRandom(Math.imul(seed, 0x9e3779b1) + count)),
      () => `${name}: round ${String(count)} of seed ${String(seed)} doesn't end`,
    );
    count += 1;
    if (difference !== null) return { count, difference };
  }
  return { count, difference: null };
}

async function inTime<T>(promise: Promise<T>, message: () => string): Promise<T> {
  let overdue: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    overdue = setTimeout(() => {
      reject(new Error(message()));
    }, ROUND_MAX_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(overdue);
  }
}
