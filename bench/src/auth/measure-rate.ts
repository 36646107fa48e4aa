import { createFullLoad } from '../load/full-load.ts';
import type { FullLoad } from '../load/full-load.ts';
import { CONNECTIONS } from '../load/load.ts';
import type { Round, Target } from '../load/load.ts';
import { authPeers } from './auth-peers.ts';
import { expectRight, quietAuth } from './auth-rates.ts';
import type { Rate } from './auth-rates.ts';
import { measureHalfLoad } from './half-load.ts';
import type { Goal, PartResult } from '../part.ts';
import { cpuNotes, doubtsOf, percent, ratiosOf, spreadOf, spreadText, whole } from '../report/ratios.ts';
import type { Pair, Spread } from '../report/ratios.ts';
import type { Servers } from '../servers.ts';

const ROUNDS = 5;
const ROUND_SEC = 3;
const WARM_UP_SEC = 15;

/**
 * With fewer connections a server that waits for its store, as ours does for Redis' disk, is idle part of the time, and
 * the rate is that of the wait.
 */
const FULL_LOAD_CONNECTIONS = 4 * CONNECTIONS;

type Comparison = { peer: string; target: Target; connections: number; rounds: Pair[] };

/** Rounds alternate between ours and the peer; then ours runs at half the rate of the fewer connections. */
export async function measureRate(
  part: Rate,
  servers: Servers,
  say: (line: string) => void,
): Promise<PartResult> {
  const { fullLoad, versions } = await createFullLoad(servers, say);
  const { peers, leftOut } = await authPeers(servers, say);
  const target = await part.ours(servers, await quietAuth(servers));
  const warmUp = async (one: Target) => {
    await expectRight(one, part);
    await fullLoad(one, WARM_UP_SEC);
  };
  await warmUp(target);
  const compared: Comparison[] = [];
  for (const peer of peers) {
    const ofPeer = await part.ofPeer(peer);
    await warmUp(ofPeer);
    for (const connections of [FULL_LOAD_CONNECTIONS, CONNECTIONS]) {
      const comparison = { peer: peer.name, target: ofPeer, connections, rounds: [] };
      compared.push(comparison);
      await compare(part, target, comparison, fullLoad, say);
    }
  }
  const over = (count: number) => compared.filter(({ connections }) => connections === count);
  const full = over(FULL_LOAD_CONNECTIONS);
  const perSec = oursOf(over(CONNECTIONS)).median / 2;
  const halfLoad = await measureHalfLoad(servers.places, target, perSec, CONNECTIONS);
  for (const one of [target, ...full.map((comparison) => comparison.target)]) {
    await expectRight(one, part);
  }
  return {
    goals: [...full.slice(0, 1).map((comparison) => ratioGoal(part, comparison)), halfLoad.goal],
    notes: [
      `${String(ROUNDS)} rounds of ${String(ROUND_SEC)} s with each peer and number of kept-alive connections of wrk; the goal counts the first number; absolute figures are good for nothing but this machine`,
      ...leftOut,
      ...compared.flatMap((comparison) => notesOf(part, comparison)),
      halfLoad.note,
    ],
    versions: {
      ...versions,
      ...Object.fromEntries(peers.map(({ name, version }) => [name, version])),
    },
    figures: {
      ours: oursOf(full),
      compared: compared.map(({ peer, connections, rounds }) => ({
        peer,
        connections,
        ratio: spreadOf(ratiosOf(rounds)),
        rounds,
      })),
      halfLoad: halfLoad.figures,
    },
  };
}

function oursOf(compared: readonly Comparison[]): Spread {
  return spreadOf(compared.flatMap(({ rounds }) => rounds.map((pair) => pair.ours.perSec)));
}

async function compare(
  { name, unit }: Rate,
  ours: Target,
  { peer, target, connections, rounds }: Comparison,
  fullLoad: FullLoad,
  say: (line: string) => void,
): Promise<void> {
  for (let round = 1; round <= ROUNDS; round += 1) {
    const pair = {
      ours: await fullLoad(ours, ROUND_SEC, connections),
      peer: await fullLoad(target, ROUND_SEC, connections),
    };
    rounds.push(pair);
    const side = ({ perSec, serverCpu, loadCpu }: Round) =>
      `${whole(perSec)} ${unit} (CPU ${percent(serverCpu)}, load ${percent(loadCpu)})`;
    say(
      `${name}, ${String(connections)} connections, ${String(round)}/${String(ROUNDS)}: ours ${side(pair.ours)}, ${peer} ${side(pair.peer)}: ` +
        `${(pair.ours.perSec / pair.peer.perSec).toFixed(2)} times`,
    );
  }
}

function ratioGoal({ unit, targetRatio }: Rate, { peer, rounds }: Comparison): Goal {
  const ratio = spreadOf(ratiosOf(rounds));
  return {
    what: `${unit}, times those of ${peer}`,
    figure: spreadText(ratio),
    target: `≥ ${String(targetRatio)}`,
    reached: ratio.median >= targetRatio,
  };
}

function notesOf({ unit }: Rate, { peer, connections, rounds }: Comparison): string[] {
  const rate = (side: 'ours' | 'peer') => spreadText(spreadOf(rounds.map((pair) => pair[side].perSec)), 0);
  const doubts = doubtsOf(rounds);
  return [
    `beside ${peer}, ${String(connections)} connections: ours ${rate('ours')} ${unit}, ${peer} ${rate('peer')}: ${spreadText(spreadOf(ratiosOf(rounds)))} times`,
    ...cpuNotes(rounds, peer),
    ...(doubts.length === 0 ? ['neither the load generator nor an idle server limited a round'] : doubts).map(
      (doubt) => `beside ${peer}, ${String(connections)} connections, ${doubt}`,
    ),
  ];
}
