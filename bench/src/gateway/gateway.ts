import { accessToken } from '../auth/auth-rates.ts';
import { makePayers, makeTokens } from '../cost/callers.ts';
import type { PartResult } from '../part.ts';
import { syncMs } from '../report/run-facts.ts';
import { percent, spreadOf, whole } from '../report/ratios.ts';
import type { Servers } from '../servers.ts';
import { findTools } from '../tools.ts';
import { widenLimits } from '../usage/wide-limits.ts';
import type { WrkRound } from '../load/wrk.ts';
import { addedLatency, latencyGoals, latencyNote } from './added-latency.ts';
import type { AddedLatency } from './added-latency.ts';
import { LARGER_ANSWERS, startUpstream } from './nginx.ts';
import { startPeers } from './peers.ts';
import { CONNECTIONS, ROUNDS, ROUND_SEC, compare, goalOf, notesOf } from './compare.ts';
import type { Comparison } from './compare.ts';
import { createCalls } from './calls.ts';
import type { Calls, Door, RunCalls } from './calls.ts';

const WARM_UP_SEC = 15;
const CURVE = [1, 8, 32, 128, 512];
/** One payer's calls share a script, so that ours is compared with many too. */
const PAYERS = 200;

type Say = (line: string) => void;

/**
 * A whole data call on one core, settlement included, beside what peers do on that core for the same request.
 */
export async function measureGateway(servers: Servers, say: Say): Promise<PartResult> {
  const tools = await findTools(servers, say);
  await widenLimits(servers);
  const upstream = await startUpstream(servers, tools);
  const ours = await ourDoor(servers, upstream);
  const token = await accessToken(servers);
  const { peers, leftOut } = await startPeers(servers, tools, { url: upstream.url, token }, say);
  const wrk = createCalls(servers, tools, token);
  for (const door of [ours, ...peers.map((peer) => peer.door)]) {
    await expectDoor(door, token);
    await wrk(door, { seconds: WARM_UP_SEC, connections: CONNECTIONS });
  }
  const compared: Comparison[] = [];
  for (const peer of peers) compared.push(await compare(wrk, ours, { peer, payers: 1 }, say));
  const recording = peers.filter((peer) => peer.recordedCalls !== undefined);
  if (recording.length > 0) {
    const tokens = await makeTokens(servers, await makePayers(servers, PAYERS, 'payer'));
    const wrkOfMany = createCalls(servers, tools, ...tokens);
    for (const peer of recording)
      compared.push(await compare(wrkOfMany, ours, { peer, payers: PAYERS }, say));
  }
  const ofOne = compared.filter(({ payers }) => payers === 1);
  const halfOf = (rounds: readonly WrkRound[]) => spreadOf(rounds.map(({ perSec }) => perSec)).median / 2;
  const half = halfOf(ofOne.flatMap(({ rounds }) => rounds.map((pair) => pair.ours)));
  const added = await addedLatency(wrk, { ours, upstream }, half, say);
  const besidePeers: AddedLatency[] = [];
  for (const { peer, rounds } of ofOne.filter((comparison) => recording.includes(comparison.peer))) {
    const rate = halfOf(rounds.map((pair) => pair.peer));
    besidePeers.push(await addedLatency(wrk, { ours, peer: peer.door, upstream }, rate, say));
  }
  const curve = await measureCurve(wrk, ours, token, say);
  for (const door of [ours, ...peers.map((peer) => peer.door)]) await expectDoor(door, token);
  return {
    goals: [...compared.flatMap(goalOf), ...latencyGoals(added, syncMs())],
    notes: [
      `each peer: ${String(ROUNDS)} rounds of ${String(ROUND_SEC)} s, ${String(CONNECTIONS)} kept-alive connections of wrk, small POSTs, answers of 1 KB; ours does the whole job, of the peers only nginx-lua records usage before the response ends (peers/*: what each does)`,
      ...leftOut,
      ...compared.flatMap(notesOf),
      ...[added, ...besidePeers].map(latencyNote),
      ...curve.map(
        ({ connections, size, perSec, p50Ms, p99Ms, serverCpu }) =>
          `ours, ${String(connections)} connections, ${size} answers: ${whole(perSec)} calls/s, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(1)} ms, ${percent(serverCpu)} of its core`,
      ),
    ],
    versions: {
      ...tools.versions,
      ...Object.fromEntries(peers.map(({ door, version }) => [door.name, version])),
    },
    figures: {
      compared: compared.map(({ peer, payers, rounds }) => ({ peer: peer.door.name, payers, rounds })),
      added,
      besidePeers,
      curve,
    },
  };
}

async function ourDoor(servers: Servers, upstream: Door): Promise<Door> {
  const { pid, url } = await servers.startFurther('gateway', {
    settings: { UPSTREAM_URL: upstream.url, LOG_LEVEL: 'warn' },
  });
  return { name: 'ours', pid, url: `${url}/graphql` };
}

/** @throws {Error} unless a wrong token is refused and a right one gets the upstream's response */
async function expectDoor({ name, url, headers }: Door & Calls, token: string, bytes = 1_024): Promise<void> {
  const call = (bearer: string) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}`, ...headers },
      body: '{"query":"{ countries { name } }"}',
      signal: AbortSignal.timeout(10_000),
    });
  const answer = await call(token);
  const { length } = await answer.text();
  if (answer.status !== 200 || length !== bytes) {
    throw new Error(`${name} answers ${String(answer.status)} with ${String(length)} bytes`);
  }
}

type CurvePoint = WrkRound & { connections: number; size: string };

async function measureCurve(wrk: RunCalls, ours: Door, token: string, say: Say): Promise<CurvePoint[]> {
  const points: CurvePoint[] = [];
  const measure = async (calls: Calls, connections: number, size: string) => {
    const round = await wrk(calls, { seconds: ROUND_SEC, connections });
    points.push({ ...round, connections, size });
    say(`gateway, ${String(connections)} connections, ${size} answers: ${whole(round.perSec)} calls/s`);
  };
  for (const connections of CURVE) await measure(ours, connections, '1k');
  for (const [size, bytes] of Object.entries(LARGER_ANSWERS)) {
    const calls = { ...ours, headers: { 'x-size': size } };
    await expectDoor(calls, token, bytes);
    await measure(calls, CONNECTIONS, size);
  }
  return points;
}
