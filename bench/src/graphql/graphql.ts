import { accessToken } from '../auth/auth-rates.ts';
import { startUpstream } from '../gateway/nginx.ts';
import type { Door } from '../gateway/calls.ts';
import { CONNECTIONS, ROUNDS, ROUND_SEC } from '../gateway/compare.ts';
import { createWrk } from '../load/wrk.ts';
import type { WrkRound } from '../load/wrk.ts';
import type { Goal, PartResult } from '../part.ts';
import { spreadOf, spreadText } from '../report/ratios.ts';
import type { Spread } from '../report/ratios.ts';
import type { Servers } from '../servers.ts';
import { findTools } from '../tools.ts';
import { widenLimits } from '../usage/wide-limits.ts';

const WARM_UP_SEC = 15;
const DISTINCT = 10_000;
/** Of a call's CPU time, what reading a repeated document may add. */
const MAX_SHARE = 0.05;

/** More than the gateway remembers, if they are used in turn. */
const BODY = '{"query":"{ c__N__: country(code: \\"CH\\") { name capital } }"}';

type Condition = { name: 'repeated' | 'distinct' | 'off'; what: string; door: Door; variants: number };

type Say = (line: string) => void;

/**
 * What reading and pricing documents costs a data call: one document again and again, many that differ, and calls that
 * aren't read, in turns.
 */
export async function measureGraphql(servers: Servers, say: Say): Promise<PartResult> {
  const tools = await findTools(servers, say);
  await widenLimits(servers);
  const upstream = await startUpstream(servers, tools);
  const doorOf = async (name: string, settings: Record<string, string>): Promise<Door> => {
    const ours = { UPSTREAM_URL: upstream.url, LOG_LEVEL: 'warn', ...settings };
    const { pid, url } = await servers.startFurther('gateway', { settings: ours });
    return { name, pid, url: `${url}/graphql` };
  };
  const reading = await doorOf('reading', {});
  const conditions: Condition[] = [
    { name: 'repeated', what: 'one document', door: reading, variants: 1 },
    { name: 'distinct', what: `${String(DISTINCT)} documents in turn`, door: reading, variants: DISTINCT },
    {
      name: 'off',
      what: 'GRAPHQL_READ=off',
      door: await doorOf('off', { GRAPHQL_READ: 'off' }),
      variants: 1,
    },
  ];
  const token = await accessToken(servers);
  const wrk = createWrk(servers, tools);
  const run = ({ door: { pid, url }, variants }: Condition, seconds: number) =>
    wrk(
      { pid, url, variants, headers: { 'content-type': 'application/json' }, body: BODY, bearers: [token] },
      { seconds, connections: CONNECTIONS },
    );
  await expectPrice(reading, token, true);
  for (const condition of conditions) await run(condition, WARM_UP_SEC);
  const rounds: Record<Condition['name'], WrkRound[]> = { repeated: [], distinct: [], off: [] };
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const condition of conditions) rounds[condition.name].push(await run(condition, ROUND_SEC));
    const costs = conditions.map(({ name, what }) => `${what} ${costText(rounds[name].slice(-1))}`);
    say(`graphql ${String(round)}/${String(ROUNDS)}: ${costs.join(', ')}`);
  }
  for (const { door } of conditions) await expectPrice(door, token, door === reading);
  return {
    goals: [goalOf(rounds)],
    notes: [
      `${String(ROUNDS)} rounds of ${String(ROUND_SEC)} s of each in turns, ${String(CONNECTIONS)} kept-alive connections of wrk, one account`,
      ...conditions.map(({ name, what }) => `${what}: ${costText(rounds[name])} of the gateway for a call`),
      `added by each of ${String(DISTINCT)} documents: ${spreadText(addedUs(rounds.distinct, rounds.off), 1)} µs; by one that repeats: ${spreadText(addedUs(rounds.repeated, rounds.off), 1)} µs`,
    ],
    versions: tools.versions,
    figures: { rounds },
  };
}

function goalOf({ repeated, off }: Record<'repeated' | 'off', WrkRound[]>): Goal {
  const shares = repeated.map((round, index) => cpuUs(round) / cpuUs(off[index] ?? round) - 1);
  const share = spreadOf(shares);
  return {
    what: 'of a call’s CPU time, added by reading and pricing one document that repeats',
    figure: spreadText(share),
    target: `≤ ${String(MAX_SHARE)}`,
    reached: share.median <= MAX_SHARE,
  };
}

/** By rounds of one turn. */
function addedUs(rounds: readonly WrkRound[], beside: readonly WrkRound[]): Spread {
  return spreadOf(rounds.map((round, index) => cpuUs(round) - cpuUs(beside[index] ?? round)));
}

function cpuUs({ serverCpu, perSec }: WrkRound): number {
  return (serverCpu / perSec) * 1_000_000;
}

function costText(rounds: readonly WrkRound[]): string {
  return `${spreadText(spreadOf(rounds.map(cpuUs)), 1)} CPU-µs`;
}

/** @throws {Error} unless a call is answered, with an estimate where calls are read */
async function expectPrice({ name, url }: Door, token: string, isRead: boolean): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: BODY,
    signal: AbortSignal.timeout(10_000),
  });
  await answer.arrayBuffer();
  if (answer.status !== 200 || answer.headers.has('x-points-estimate') !== isRead) {
    throw new Error(`${name} answers ${String(answer.status)}, ${isRead ? 'without' : 'with'} an estimate`);
  }
}
