/** Random choices that repeat for a seed. */
export type Draw = {
  /** A whole number from 0 up to, without, `end`. */
  below: (end: number) => number;
  /** True in `percent` of 100 cases. */
  chance: (percent: number) => boolean;
  of: <T>(choices: readonly [T, ...T[]]) => T;
};

/** By mulberry32. */
export function createDraw(seed: number): Draw {
  let state = seed | 0;

  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  const below = (end: number) => Math.floor(next() * end);
  return {
    below,
    chance: (percent) => below(100) < percent,
    of: (choices) => choices[below(choices.length)] ?? choices[0],
  };
}
