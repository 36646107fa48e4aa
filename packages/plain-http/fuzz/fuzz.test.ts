import { expect, test } from '@jest/globals';
import { openClientRounds } from './client-rounds.ts';
import { fuzz } from './fuzz-rounds.ts';
import { openServerRounds } from './server-rounds.ts';

/** Both limits hold. On a busy machine the time ends it, on an idle one the number. */
const LIMITS = { maxMs: 25_000, maxRounds: 2_500 };
const MIN_PLAIN = 20;

test.each([
  ['a server with a fast path answers as node:http alone', openServerRounds],
  ['a pool gives and sends what undici alone does', openClientRounds],
])(
  '%s, whatever is sent',
  async (_name, open) => {
    const seed = Math.floor(Math.random() * 4_294_967_296);
    const rounds = await open();
    const { count, difference } = await fuzz(rounds, { seed, ...LIMITS });
    rounds.close();
    // A failure shows the seed, with which `fuzz.ts` repeats it.
    expect({ seed, count, difference }).toEqual({ seed, count, difference: null });
    expect(rounds.plain()).toBeGreaterThan(MIN_PLAIN);
  },
  60_000,
);
