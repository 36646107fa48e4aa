export type Random = {
  /** A whole number from 0 to `below` - 1. */
  below: (below: number) => number;
  oneOf: <T>(values: readonly T[]) => T;
  /** True in one of `times` cases. */
  oneIn: (times: number) => boolean;
};

/** mulberry32: the same seed gives the same numbers on every machine. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;

  function below(limit: number): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * limit);
  }

  return {
    below,
    oneOf: <T>(values: readonly T[]) => values[below(values.length)] as T,
    oneIn: (times) => below(times) === 0,
  };
}

/** Replaces, removes or inserts one character, each of which is a byte. */
export function damaged(text: string, { below, oneOf }: Random): string {
  const at = below(text.length);
  const kind = oneOf(['replace', 'remove', 'insert']);
  const byte = kind === 'remove' ? '' : String.fromCharCode(oneOf([10, 13, 32, 58, 0, below(256)]));
  return text.slice(0, at) + byte + text.slice(kind === 'insert' ? at : at + 1);
}

/** More writes than that, each with a turn of the event loop, take longer than a round may. */
const SINGLE_BYTES_MAX = 4_096;

/** Whole, in a few pieces, or byte by byte. */
export function pieces(text: string, { below, oneIn }: Random): string[] {
  if (oneIn(3)) return [text];
  if (oneIn(8)) {
    const rest = text.slice(SINGLE_BYTES_MAX);
    return [...Array.from(text.slice(0, SINGLE_BYTES_MAX)), ...(rest === '' ? [] : [rest])];
  }
  const cuts = Array.from({ length: 1 + below(4) }, () => below(text.length)).sort((a, b) => a - b);
  return [0, ...cuts]
    .map((from, index) => text.slice(from, cuts[index] ?? text.length))
    .filter((piece) => piece !== '');
}
