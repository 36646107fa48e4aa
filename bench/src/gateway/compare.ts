import { until } from '../operator.ts';
import type { Goal } from '../part.ts';
import { cpuNotes, doubtsOf, percent, ratiosOf, spreadOf, spreadText, whole } from '../report/ratios.ts';
import type { Pair } from '../report/ratios.ts';
import type { WrkRound } from '../load/wrk.ts';
import type { Door, RunCalls } from './calls.ts';
import type { Peer } from './peer.ts';

export const CONNECTIONS = 32;
export const ROUNDS = 5;
export const ROUND_SEC = 2;
/** V8 discards unused code while ours waits for the peers' warm-up. */
const WARM_AGAIN_SEC = 10;

export type Comparison = {
  peer: Peer;
  /** Accounts that call; 1 unless stated. */
  payers: number;
  rounds: (Pair & { ours: WrkRound; peer: WrkRound })[];
};

/** @throws {Error} if a peer that records usage has recorded fewer calls than it answered */
export async function compare(
  wrk: RunCalls,
  ours: Door,
  { peer, payers }: Pick<Comparison, 'peer' | 'payers'>,
  say: (line: string) => void,
): Promise<Comparison> {
  const load = { seconds: ROUND_SEC, connections: CONNECTIONS };
  await wrk(ours, { ...load, seconds: WARM_AGAIN_SEC });
  const before = await peer.recordedCalls?.();
  const rounds: Comparison['rounds'] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const pair = { ours: await wrk(ours, load), peer: await wrk(peer.door, load) };
    rounds.push(pair);
    say(
      `gateway ${String(round)}/${String(ROUNDS)}: ours ${whole(pair.ours.perSec)} calls/s (CPU ${percent(pair.ours.serverCpu)}), ` +
        `${peer.door.name} ${whole(pair.peer.perSec)} (CPU ${percent(pair.peer.serverCpu)}): ` +
        `${(pair.ours.perSec / pair.peer.perSec).toFixed(2)} times`,
    );
  }
  const answered = rounds.reduce((sum, pair) => sum + pair.peer.requests, before ?? 0);
  await until(`${peer.door.name} to record its calls`, async () => {
    const recorded = await peer.recordedCalls?.();
    return recorded === undefined || recorded >= answered;
  });
  return { peer, payers, rounds };
}

export function goalOf({ peer, payers, rounds }: Comparison): Goal[] {
  const target = payers === 1 ? peer.targetRatio?.one : peer.targetRatio?.many;
  if (target === undefined) return [];
  const ratio = spreadOf(ratiosOf(rounds));
  return [
    {
      what: `calls/s, times those of ${peer.door.name}${ofPayers(payers)}`,
      figure: spreadText(ratio),
      target: `≥ ${String(target)}`,
      reached: ratio.median >= target,
    },
  ];
}

export function notesOf({ peer: { door }, payers, rounds }: Comparison): string[] {
  const rate = (side: 'ours' | 'peer') => spreadOf(rounds.map((pair) => pair[side].perSec));
  const name = `${door.name}${ofPayers(payers)}`;
  return [
    `${name}: ours ${spreadText(rate('ours'), 0)} calls/s, ${door.name} ${spreadText(rate('peer'), 0)}: ${spreadText(spreadOf(ratiosOf(rounds)))} times`,
    ...cpuNotes(rounds, name),
    ...doubtsOf(rounds).map((doubt) => `beside ${name}, ${doubt}`),
  ];
}

function ofPayers(payers: number): string {
  return payers === 1 ? '' : `, ${String(payers)} accounts calling`;
}
