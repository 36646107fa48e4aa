import { createFullLoad } from './full-load.ts';
import { CONNECTIONS } from './load.ts';
import type { Target } from './load.ts';
import { expectRight } from './auth-rates.ts';
import type { Rate } from './auth-rates.ts';
import type { PartResult } from './part.ts';
import { cpuNotes, doubtsOf, percent, quantile, ratiosOf, spreadOf, spreadText, whole } from './ratios.ts';
import type { Pair } from './ratios.ts';
import type { Servers } from './servers.ts';
import { steadyLoad } from './steady-load.ts';

const ROUNDS = 5;
const ROUND_SEC = 3;
const WARM_UP_SEC = 3;
const STEADY_SEC = 5;
const P99_GOAL_MS = 10;

/** A rate beside the peer's: warm-up, rounds that alternate between ours and the peer, then ours at half of full load. */
export async function measureRate(
  part: Rate,
  servers: Servers,
  say: (line: string) => void,
): Promise<PartResult> {
  const { fullLoad, versions } = await createFullLoad(servers, say);
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
  const steady = await steadyLoad(targets.ours, half, STEADY_SEC);
  for (const target of both) await expectRight(target, part);
  const ratio = spreadOf(ratiosOf(rounds));
  const { unit, peer, targetRatio } = part;
  const peerRate = spreadOf(rounds.map((pair) => pair.peer.perSec));
  const [p50Ms, p99Ms] = [quantile(steady.answersMs, 0.5), quantile(steady.answersMs, 0.99)];
  const sentLateP99Ms = quantile(steady.sentLateMs, 0.99);
  const doubts = doubtsOf(rounds);
  return {
    goals: [
      {
        what: `${unit}, times those of ${peer}`,
        figure: spreadText(ratio),
        target: `≥ ${String(targetRatio)}`,
        reached: ratio.median >= targetRatio,
      },
      {
        what: 'p99 at half of full load, in ms',
        figure: p99Ms.toFixed(1),
        target: `< ${String(P99_GOAL_MS)}`,
        reached: p99Ms < P99_GOAL_MS,
      },
    ],
    notes: [
      `${String(ROUNDS)} rounds of ${String(ROUND_SEC)} s each, ${String(CONNECTIONS)} kept-alive connections of wrk`,
      `ours ${whole(ours.median)} ${unit} (${whole(ours.min)}–${whole(ours.max)}), ${peer} ${whole(peerRate.median)} (${whole(peerRate.min)}–${whole(peerRate.max)}); good for nothing but this machine`,
      `ours at ${whole(half)}/s: p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms from when each was due; the generator sent them up to ${sentLateP99Ms.toFixed(1)} ms late (p99) and used ${percent(steady.loadCpu)} of its core`,
      ...cpuNotes(rounds, peer),
      ...(doubts.length === 0 ? ['neither the load generator nor an idle server limited a round'] : doubts),
    ],
    versions,
    figures: {
      ratio,
      ours,
      peerRate,
      rounds,
      halfLoad: { perSec: half, p50Ms, p99Ms, sentLateP99Ms, loadCpu: steady.loadCpu },
    },
  };
}
