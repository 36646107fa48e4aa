import type { WrkRound } from '../load/wrk.ts';
import type { Goal } from '../part.ts';
import { spreadOf, spreadText, whole } from '../report/ratios.ts';
import type { Spread } from '../report/ratios.ts';
import type { Door, RunCalls } from './calls.ts';
import { CONNECTIONS, ROUNDS, ROUND_SEC } from './compare.ts';

const P50_LIMIT_MS = 0.3;
const P99_LIMIT_MS = 2.5;

type Percentiles = { p50Ms: Spread; p99Ms: Spread };

/** `addedMs`: to the p50 of the upstream without a gateway; by rounds of one turn. */
type Latency = Percentiles & { name: string; addedMs: Spread };

export type AddedLatency = { perSec: number; ours: Latency; peer?: Latency; direct: Percentiles };

type Measured = { door: Door; rounds: WrkRound[]; addedMs: number[] };

/** What ours, and a peer beside it, add to the median time of a call, at a steady rate in calls per second. */
export async function addedLatency(
  wrk: RunCalls,
  doors: { ours: Door; peer?: Door; upstream: Door },
  perSec: number,
  say: (line: string) => void,
): Promise<AddedLatency> {
  // With this pause, all connections together make the rate.
  const load = { seconds: ROUND_SEC, connections: CONNECTIONS, meanPauseMs: (CONNECTIONS / perSec) * 1_000 };
  const ours = unmeasured(doors.ours);
  const peer = doors.peer === undefined ? undefined : unmeasured(doors.peer);
  const gateways = peer === undefined ? [ours] : [ours, peer];
  const direct: WrkRound[] = [];
  for (let turn = 1; turn <= ROUNDS; turn += 1) {
    const now: { measured: Measured; round: WrkRound }[] = [];
    for (const measured of gateways) now.push({ measured, round: await wrk(measured.door, load) });
    const directly = await wrk(doors.upstream, load);
    direct.push(directly);
    for (const { measured, round } of now) {
      measured.rounds.push(round);
      measured.addedMs.push(round.p50Ms - directly.p50Ms);
    }
    const times = now.map(({ measured, round }) => `${measured.door.name} ${round.p50Ms.toFixed(3)} ms`);
    say(
      `gateway at ${whole(perSec)} calls/s, ${String(turn)}/${String(ROUNDS)}: p50 of ${times.join(', ')}, directly ${directly.p50Ms.toFixed(3)} ms`,
    );
  }
  return {
    perSec: spreadOf(gateways.flatMap(({ rounds }) => rounds.map((round) => round.perSec))).median,
    ours: latencyOf(ours),
    ...(peer === undefined ? {} : { peer: latencyOf(peer) }),
    direct: percentilesOf(direct),
  };
}

/** `syncMs`: how long the disk takes to sync a write, for which Redis waits once for each call. */
export function latencyGoals({ ours: { addedMs, p99Ms } }: AddedLatency, syncMs: number): Goal[] {
  const goal = (what: string, { median, min, max }: Spread, limitMs: number): Goal => ({
    what: `${what} at half load`,
    figure: spreadText({ median, min, max }),
    target: `≤ ${String(limitMs)}`,
    reached: median <= limitMs,
  });
  const beyond = (ms: number) => ms - syncMs;
  return [
    goal(
      'ms added to the p50 beyond one sync of the disk',
      { median: beyond(addedMs.median), min: beyond(addedMs.min), max: beyond(addedMs.max) },
      P50_LIMIT_MS,
    ),
    goal('p99 of a call, in ms,', p99Ms, P99_LIMIT_MS),
  ];
}

export function latencyNote({ perSec, ours, peer, direct }: AddedLatency): string {
  const whose = peer === undefined ? 'our' : `${peer.name}'s`;
  const ofGateways = (peer === undefined ? [ours] : [ours, peer]).map(
    ({ name, p50Ms, p99Ms, addedMs }) =>
      `${name} p50 ${spreadText(p50Ms, 3)} ms (${addedMs.median.toFixed(2)} added), p99 ${spreadText(p99Ms, 1)} ms`,
  );
  return `at ${whole(perSec)} calls/s, half of ${whose} full load: ${ofGateways.join('; ')}; the upstream directly p50 ${spreadText(direct.p50Ms, 3)} ms, p99 ${spreadText(direct.p99Ms, 1)} ms`;
}

function unmeasured(door: Door): Measured {
  return { door, rounds: [], addedMs: [] };
}

function latencyOf({ door: { name }, rounds, addedMs }: Measured): Latency {
  return { name, ...percentilesOf(rounds), addedMs: spreadOf(addedMs) };
}

function percentilesOf(rounds: readonly WrkRound[]): Percentiles {
  return {
    p50Ms: spreadOf(rounds.map((round) => round.p50Ms)),
    p99Ms: spreadOf(rounds.map((round) => round.p99Ms)),
  };
}
