import { CONNECTIONS, fullLoad, steadyLoad } from './load.ts';
import type { Target } from './load.ts';
import { expectRight } from './parts.ts';
import type { Part } from './parts.ts';
import { doubtsOf, percent, quantile, ratiosOf, spreadOf } from './ratios.ts';
import type { Pair, Spread } from './ratios.ts';
import type { Servers } from './servers.ts';

const ROUNDS = 5;
const ROUND_SEC = 3;
const WARM_UP_SEC = 3;
const STEADY_SEC = 5;

/** What bench/results.json holds of a part. Rates are per second, times in ms, CPU as shares of a core. */
export type PartResult = Pick<Part, 'name' | 'unit' | 'peer' | 'targetRatio'> & {
  connections: number;
  roundSec: number;
  ratio: Spread;
  reached: boolean;
  ours: Spread;
  peerRate: Spread;
  rounds: Pair[];
  halfLoad: { perSec: number; p50Ms: number; p99Ms: number };
  doubts: string[];
};

/** Runs a part: warm-up, rounds that alternate between ours and the peer, then ours at half of full load. */
export async function measure(
  part: Part,
  servers: Servers,
  say: (line: string) => void,
): Promise<PartResult> {
  const targets = await part.prepare(servers);
  const both: Target[] = [targets.ours, targets.peer];
  for (const target of both) {
    await expectRight(target, part);
    await fullLoad(target, WARM_UP_SEC);
  }
  const rounds: Pair[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const ours = await fullLoad(targets.ours, ROUND_SEC);
    const peer = await fullLoad(targets.peer, ROUND_SEC);
    rounds.push({ ours, peer });
    say(
      `${part.name} ${String(round)}/${String(ROUNDS)}: ours ${ours.perSec.toFixed(0)} ${part.unit} ` +
        `(CPU ${percent(ours.serverCpu)}, load ${percent(ours.loadCpu)}), ${part.peer} ${peer.perSec.toFixed(0)} ` +
        `(CPU ${percent(peer.serverCpu)}, load ${percent(peer.loadCpu)}): ` +
        `${(ours.perSec / peer.perSec).toFixed(2)} times`,
    );
  }
  const ours = spreadOf(rounds.map((pair) => pair.ours.perSec));
  const half = ours.median / 2;
  const answers = await steadyLoad(targets.ours, half, STEADY_SEC);
  for (const target of both) await expectRight(target, part);
  const ratio = spreadOf(ratiosOf(rounds));
  const { name, unit, peer, targetRatio } = part;
  return {
    ...{ name, unit, peer, targetRatio, connections: CONNECTIONS, roundSec: ROUND_SEC },
    ratio,
    reached: ratio.median >= targetRatio,
    ours,
    peerRate: spreadOf(rounds.map((pair) => pair.peer.perSec)),
    rounds,
    halfLoad: { perSec: half, p50Ms: quantile(answers, 0.5), p99Ms: quantile(answers, 0.99) },
    doubts: doubtsOf(rounds),
  };
}
