export type Random = {
  /** From 0 to below 1. */
  next: () => number;
  below: (limit: number) => number;
  /** Time to the next event of a Poisson process. */
  gap: (perSec: number) => number;
};

const UINT32 = 2 ** 32;

/** mulberry32: the same seed gives the same sequence in every run. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / UINT32;
  };
  return {
    next,
    below: (limit) => Math.floor(next() * limit),
    gap: (perSec) => -Math.log(1 - next()) / perSec,
  };
}

/** Spreads consecutive numbers evenly, as hashes of ids do. */
export function scattered(key: number, limit: number): number {
  let mixed = Math.imul(key ^ (key >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) % limit;
}
