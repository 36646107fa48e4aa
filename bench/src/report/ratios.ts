import type { Round } from '../load/load.ts';

/** Rounds that followed each other; only their ratio is meaningful. */
export type Pair = { ours: Round; peer: Round };

export type Spread = { median: number; min: number; max: number };

/** A server that uses less of its core waited for load, or for its store. */
const BUSY = 0.8;
/** A load generator that uses more of its core may have been the limit. */
const SATURATED = 0.9;

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const [low = 0, high = 0] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return { median: (low + high) / 2, min: sorted[0] ?? 0, max: sorted.at(-1) ?? 0 };
}

/** Per pair of rounds. */
export function ratiosOf(pairs: readonly Pair[]): number[] {
  return pairs.map(({ ours, peer }) => ours.perSec / peer.perSec);
}

/** The smallest value that at least this share (0 to 1) of the values doesn't exceed. */
export function quantile(ascending: readonly number[], share: number): number {
  return ascending[Math.max(0, Math.ceil(ascending.length * share) - 1)] ?? 0;
}

/** The ratio per CPU second doesn't depend on other load of the machine. */
export function cpuNotes(pairs: readonly Pair[], peer: string): string[] {
  const busy = (side: 'ours' | 'peer', whose: 'serverCpu' | 'loadCpu') =>
    pairs.map((pair) => (pair[side][whose] * 100).toFixed(0)).join(', ');
  const byCpu = spreadOf(pairs.map(({ ours, peer: its }) => perCpuSec(ours) / perCpuSec(its)));
  return [
    `the server's share of its core in %, by round: ours ${busy('ours', 'serverCpu')}; ${peer} ${busy('peer', 'serverCpu')}`,
    `the load generator's share of its own: ours ${busy('ours', 'loadCpu')}; ${peer} ${busy('peer', 'loadCpu')}`,
    `per second of the server's CPU, ours did ${spreadText(byCpu)} times what ${peer} did`,
  ];
}

function perCpuSec({ perSec, serverCpu }: Pick<Round, 'perSec' | 'serverCpu'>): number {
  return perSec / serverCpu;
}

/** Warnings about rounds that didn't measure the server alone. */
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

export function spreadText({ median, min, max }: Spread, digits = 2): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;
}

export function whole(value: number): string {
  return value.toFixed(0);
}

/** 1,000,000 */
export function grouped(value: number): string {
  return value.toLocaleString('en-US');
}
