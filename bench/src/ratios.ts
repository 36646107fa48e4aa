import type { Round } from './load.ts';

/** Round n of ours and of the peer followed each other; only their ratio says something. */
export type Pair = { ours: Round; peer: Round };

export type Spread = { median: number; min: number; max: number };

/** A server with less of its core in use than this waited for something: for load, or for its store. */
const BUSY = 0.8;
/** A load generator with more of its core in use than this may be what was measured. */
const SATURATED = 0.9;

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const [low = 0, high = 0] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return { median: (low + high) / 2, min: sorted[0] ?? 0, max: sorted.at(-1) ?? 0 };
}

/** How many times ours did what the peer did, per pair of rounds. */
export function ratiosOf(pairs: readonly Pair[]): number[] {
  return pairs.map(({ ours, peer }) => ours.perSec / peer.perSec);
}

/** The smallest value that at least this share (0 to 1) of the ascending values doesn't exceed. */
export function quantile(ascending: readonly number[], share: number): number {
  return ascending[Math.max(0, Math.ceil(ascending.length * share) - 1)] ?? 0;
}

/** What a reader must know of rounds that didn't measure the server alone. */
export function doubtsOf(pairs: readonly Pair[]): string[] {
  return pairs.flatMap((pair, index) =>
    (['ours', 'peer'] as const).flatMap((side) => {
      const { serverCpu, loadCpu } = pair[side];
      const round = `round ${String(index + 1)}, ${side}`;
      return [
        ...(loadCpu > SATURATED ? [`${round}: the load generator used ${percent(loadCpu)} of its core`] : []),
        ...(serverCpu < BUSY ? [`${round}: the server used only ${percent(serverCpu)} of its core`] : []),
      ];
    }),
  );
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
