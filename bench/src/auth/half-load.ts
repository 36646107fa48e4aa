import { undelayed, withCpu } from '../cores.ts';
import type { Places } from '../cores.ts';
import { steadyLoad } from '../load/steady-load.ts';
import type { SteadyLoad } from '../load/steady-load.ts';
import type { Target } from '../load/load.ts';
import type { Goal } from '../part.ts';
import { percent, quantile, spreadOf, spreadText, whole } from '../report/ratios.ts';

const ROUNDS = 5;
const ROUND_SEC = 5;
const P99_GOAL_MS = 10;

/** `rounds`: of each, in ms, with the shares of a core that the server and the generator used. */
export type HalfLoad = {
  goal: Goal;
  note: string;
  figures: {
    perSec: number;
    rounds: { p50Ms: number; p99Ms: number; sentLateP99Ms: number; serverCpu: number; loadCpu: number }[];
  };
};

/** How long requests take at a steady rate. One round can be the machine's worst moment, so the median counts. */
export async function measureHalfLoad(
  places: Places | undefined,
  target: Target,
  perSec: number,
  connections: number,
): Promise<HalfLoad> {
  const loads: (SteadyLoad & { serverCpu: number })[] = [];
  while (loads.length < ROUNDS) {
    const { result, cpu } = await withCpu(target.pid, () =>
      undelayed(places, () => steadyLoad(target, perSec, ROUND_SEC)),
    );
    loads.push({ ...result, serverCpu: cpu });
  }
  const rounds = loads.map(({ answersMs, sentLateMs, serverCpu, loadCpu }) => ({
    p50Ms: quantile(answersMs, 0.5),
    p99Ms: quantile(answersMs, 0.99),
    sentLateP99Ms: quantile(sentLateMs, 0.99),
    serverCpu,
    loadCpu,
  }));
  const spread = (field: keyof (typeof rounds)[number]) => spreadOf(rounds.map((round) => round[field]));
  const p99 = spread('p99Ms');
  return {
    goal: {
      what: `p99 at half the rate of ${String(connections)} connections, in ms`,
      figure: spreadText(p99, 1),
      target: `< ${String(P99_GOAL_MS)}`,
      reached: p99.median < P99_GOAL_MS,
    },
    note: `ours at ${whole(perSec)}/s, ${String(ROUNDS)} rounds of ${String(ROUND_SEC)} s: p50 ${spreadText(spread('p50Ms'), 1)} ms, p99 ${spreadText(p99, 1)} ms from when each was due; the generator sent them up to ${spreadText(spread('sentLateP99Ms'), 1)} ms late (p99) and used ${percent(spread('loadCpu').median)} of its core, the server ${percent(spread('serverCpu').median)}`,
    figures: { perSec, rounds },
  };
}
