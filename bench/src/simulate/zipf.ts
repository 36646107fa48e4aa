import type { Random } from './random.ts';

export type Zipf = {
  /** Of each rank, of all load; they sum up to 1. */
  shares: Float64Array;
  /** A rank from 0, drawn by its share. */
  draw: () => number;
};

/** Walker's alias method (Vose 1991): one draw takes the same time however many ranks there are. */
export function createZipf(count: number, exponent: number, random: Random): Zipf {
  const shares = Float64Array.from({ length: count }, (_, rank) => 1 / (rank + 1) ** exponent);
  const sum = shares.reduce((total, weight) => total + weight, 0);
  for (let rank = 0; rank < count; rank += 1) shares[rank] = (shares[rank] ?? 0) / sum;

  const own = shares.map((share) => share * count);
  const alias = new Int32Array(count);
  const small: number[] = [];
  const large: number[] = [];
  for (let rank = 0; rank < count; rank += 1) ((own[rank] ?? 0) < 1 ? small : large).push(rank);
  for (;;) {
    const [poor, rich] = [small.pop(), large.pop()];
    if (poor === undefined || rich === undefined) {
      // What rounding leaves over is full.
      for (const rank of [poor, rich, ...small, ...large]) if (rank !== undefined) own[rank] = 1;
      break;
    }
    alias[poor] = rich;
    own[rich] = (own[rich] ?? 0) - (1 - (own[poor] ?? 0));
    ((own[rich] ?? 0) < 1 ? small : large).push(rich);
  }
  const draw = () => {
    const place = random.next() * count;
    const rank = Math.floor(place);
    return place - rank < (own[rank] ?? 1) ? rank : (alias[rank] ?? 0);
  };
  return { shares, draw };
}
