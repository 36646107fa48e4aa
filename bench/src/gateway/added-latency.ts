import type { WrkRound } from '../load/wrk.ts';
import type { Goal } from '../part.ts';
import { spreadOf, spreadText, whole } from '../report/ratios.ts';
import type { Spread } from '../report/ratios.ts';
import type { Door, RunCalls } from './calls.ts';
import { CONNECTIONS, ROUNDS, ROUND_SEC } from './compare.ts';

const LIMIT_MS = 0.5;

type Latency = {
  name: string;
  p50Ms: Spread;
  p99Ms: Spread;
  /** To the p50 of the upstream without a gateway; by rounds of one turn. */
  addedMs: Spread;
};

export type AddedLatency = {
  perSec: number;
  direct: Pick<Latency, 'p50Ms' | 'p99Ms'>;
  doors: Latency[];
};

/** What each door adds to the median time of a call, at a steady rate in calls per second. */
export async function addedLatency(
  wrk: RunCalls,
  doors: readonly Door[],
  upstream: Door,
  perSec: number,
  say: (line: string) => void,
): Promise<AddedLatency> {
  // With this pause, all connections together make the rate.
  const load = { seconds: ROUND_SEC, connections: CONNECTIONS, meanPauseMs: (CONNECTIONS / perSec) * 1_000 };
  const turns: { direct: WrkRound; doors: WrkRound[] }[] = [];
  for (let turn = 1; turn <= ROUNDS; turn += 1) {
    const rounds: WrkRound[] = [];
    for (const door of doors) rounds.push(await wrk(door, load));
    const direct = await wrk(upstream, load);
    turns.push({ direct, doors: rounds });
    const times = doors.map(({ name }, index) => `${name} ${(rounds[index]?.p50Ms ?? NaN).toFixed(3)} ms`);
    say(
      `gateway at ${whole(perSec)} calls/s, ${String(turn)}/${String(ROUNDS)}: p50 of ${times.join(', ')}, directly ${direct.p50Ms.toFixed(3)} ms`,
    );
  }
  const percentiles = (rounds: readonly WrkRound[]) => ({
    p50Ms: spreadOf(rounds.map((round) => round.p50Ms)),
    p99Ms: spreadOf(rounds.map((round) => round.p99Ms)),
  });
  return {
    perSec: spreadOf(turns.flatMap((turn) => turn.doors.map((round) => round.perSec))).median,
    direct: percentiles(turns.map(({ direct }) => direct)),
    doors: doors.map(({ name }, index) => {
      const ofDoor = turns.flatMap((turn) => turn.doors[index] ?? []);
      const added = turns.map((turn) => (turn.doors[index]?.p50Ms ?? NaN) - turn.direct.p50Ms);
      return { name, ...percentiles(ofDoor), addedMs: spreadOf(added) };
    }),
  };
}

export function latencyGoal({ doors: [ours] }: AddedLatency): Goal[] {
  if (ours === undefined) return [];
  return [
    {
      what: 'ms added to the p50 at half load',
      figure: spreadText(ours.addedMs),
      target: `≤ ${String(LIMIT_MS)}`,
      reached: ours.addedMs.median <= LIMIT_MS,
    },
  ];
}

export function latencyNote({ perSec, direct, doors }: AddedLatency, whose: string): string {
  const ofDoors = doors.map(
    ({ name, p50Ms, p99Ms, addedMs }) =>
      `${name} p50 ${spreadText(p50Ms, 3)} ms (${addedMs.median.toFixed(2)} added), p99 ${spreadText(p99Ms, 1)} ms`,
  );
  return `at ${whole(perSec)} calls/s, half of ${whose} full load: ${ofDoors.join('; ')}; the upstream directly p50 ${spreadText(direct.p50Ms, 3)} ms, p99 ${spreadText(direct.p99Ms, 1)} ms`;
}
