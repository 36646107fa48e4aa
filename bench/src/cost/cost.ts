import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { AUTH_RATES, accessToken, basic } from '../auth/auth-rates.ts';
import { startUpstream } from '../gateway/nginx.ts';
import { createCalls } from '../gateway/calls.ts';
import type { RunCalls } from '../gateway/calls.ts';
import { createFullLoad } from '../load/full-load.ts';
import { CONNECTIONS } from '../load/load.ts';
import type { Target } from '../load/load.ts';
import { until } from '../operator.ts';
import type { Goal, PartResult } from '../part.ts';
import { whole } from '../report/ratios.ts';
import type { Servers, StartedService } from '../servers.ts';
import type { Sharing } from '../simulate/unit-costs.ts';
import { findTools } from '../tools.ts';
import { widenLimits } from '../usage/wide-limits.ts';
import { countedCalls, hourlyRowBytes, makePayers, makeTokens, redisBytes } from './callers.ts';
import type { CallStates, Costs } from './costs.ts';
import { SYSTEM_PARTS, createMeter, dearest, eachPart } from './processes.ts';
import type { CpuUs, Pids } from './processes.ts';
import { measureSharing } from './sharing.ts';

const MORE_ACCOUNTS = 10_000;
const CALLING_ACCOUNTS = 200;
const CALLS_SEC = 5;
const TOKENS_SEC = 10;
const LOOK_UPS_SEC = 3;
const WARM_UP_SEC = 5;

type Say = (line: string) => void;

/** A call's cost includes all work until account has counted it. The part simulate plans with it. */
export async function measureCost(servers: Servers, say: Say): Promise<PartResult> {
  const redis = openRedis(servers.redisUrl, createLogger('bench', 'silent'));
  try {
    return await measureWith(redis, servers, say);
  } finally {
    redis.disconnect();
  }
}

async function measureWith(redis: RedisConnection, servers: Servers, say: Say): Promise<PartResult> {
  const tools = await findTools(servers, say);
  const { fullLoad } = await createFullLoad(servers, say);
  await widenLimits(servers);
  const upstream = await startUpstream(servers, tools);
  const startGateway = (settings = {}) =>
    servers.startFurther('gateway', { settings: { UPSTREAM_URL: upstream.url, ...settings } });
  const calls = (tokens: readonly string[], urls: readonly string[], seconds = CALLS_SEC) =>
    callsUntilCounted(servers, createCalls(servers, tools, ...tokens), urls, seconds);

  const first = await startGateway();
  const alone = createMeter(pidsOf(servers, first.pid), say);
  const one = [await accessToken(servers)];
  await calls(one, [first.url], WARM_UP_SEC);
  const idle = await alone.readIdle();
  const callOfOne = await alone.measure('a data call', () => calls(one, [first.url]));

  const introspect = await AUTH_RATES.introspect.ours(servers);
  const issue = await AUTH_RATES.token.ours(servers);
  const lookUp = entitlementTarget(servers);
  for (const target of [introspect, issue, lookUp]) await fullLoad(target, LOOK_UPS_SEC);
  const load = (target: Target, seconds = LOOK_UPS_SEC) => fullLoad(target, seconds).then(requestsOf);
  const introspection = await alone.measure('an introspection', () => load(introspect));
  const entitlement = await alone.measure('an entitlement asked of account', () => load(lookUp));
  const bytesBefore = await redisBytes(redis);
  let tokens = 0;
  const token = await alone.measure('a token', async () => (tokens = await load(issue, TOKENS_SEC)));
  const tokenBytes = ((await redisBytes(redis)) - bytesBefore) / tokens;

  const withTokens = `with ${whole(tokens)} more tokens`;
  const introspectionOfMany = await alone.measure(`an introspection ${withTokens}`, () => load(introspect));
  const together = await measureSharing(redis, servers, () => calls(one, [first.url]));
  const callOfMany = await alone.measure(`a data call ${withTokens}`, () => calls(one, [first.url]));

  const accounts = (await makePayers(servers, MORE_ACCOUNTS, 'caller')).slice(0, CALLING_ACCOUNTS);
  const callers = await makeTokens(servers, accounts);
  const callOfAccounts = await alone.measure(
    `a data call with ${whole(MORE_ACCOUNTS)} more accounts, of which ${whole(CALLING_ACCOUNTS)} call`,
    () => calls(callers, [first.url]),
  );

  const apart = await measureSharing(redis, servers, () => calls(callers, [first.url]));

  const second = await startGateway();
  const both = createMeter(pidsOf(servers, first.pid, second.pid), say);
  await calls(callers, [second.url], WARM_UP_SEC);
  await both.readIdle();
  const callOfTwo = await both.measure('the same through two gateways', () =>
    calls(callers, [first.url, second.url]),
  );

  const forgetting = (cache: string, what: string) =>
    measureWithoutCache(servers, say, {
      what: `the same where each call ${what}`,
      start: () => startGateway({ [`${cache}_CACHE_MAX_ENTRIES`]: '1' }),
      calls: (url, seconds) => calls(callers, [url], seconds),
    });
  const reading = await forgetting('ENTITLEMENT', 'reads its entitlement in Redis');
  const asking = await forgetting('INTROSPECTION', 'asks auth for its token');

  return resultOf({
    versions: tools.versions,
    lines: [alone, both, reading, asking].flatMap(({ lines }) => lines),
    sharing: { together, apart },
    states: {
      ...{ callOfOne, callOfMany, callOfAccounts, callOfTwo },
      ...{ callOfReader: reading.cpu, callOfAsker: asking.cpu },
    },
    costs: {
      introspection: introspectionCost([introspection, introspectionOfMany], asking.cpu, callOfAccounts),
      keptEntitlement: eachPart((part) => Math.max(0, reading.cpu[part] - callOfAccounts[part])),
      ...{ token, entitlement, idle, tokenBytes, hourlyRowBytes: await hourlyRowBytes(servers) },
    },
  });
}

type Measured = {
  versions: Record<string, string>;
  lines: string[];
  sharing: Record<keyof CallStates, Sharing>;
  states: Record<
    'callOfOne' | 'callOfMany' | 'callOfAccounts' | 'callOfTwo' | 'callOfReader' | 'callOfAsker',
    CpuUs
  >;
  costs: Omit<Costs, 'call'>;
};

/** A gateway that remembers one entry of a cache, so that nearly each call looks its own up. */
async function measureWithoutCache(
  servers: Servers,
  say: Say,
  work: {
    what: string;
    start: () => Promise<StartedService>;
    calls: (url: string, seconds?: number) => Promise<number>;
  },
): Promise<{ cpu: CpuUs; lines: string[] }> {
  const { pid, url } = await work.start();
  const meter = createMeter(pidsOf(servers, pid), say);
  await work.calls(url, WARM_UP_SEC);
  await meter.readIdle();
  const cpu = await meter.measure(work.what, () => work.calls(url));
  return { cpu, lines: meter.lines };
}

/** The other parts' as measured alone, where auth's requests aren't few at a time; the gateway's from the calls that ask. */
function introspectionCost(alone: CpuUs[], callOfAsker: CpuUs, callOfAccounts: CpuUs): CpuUs {
  return { ...dearest(alone), gateway: Math.max(0, callOfAsker.gateway - callOfAccounts.gateway) };
}

function resultOf({ versions, lines, sharing, states: measured, costs: others }: Measured): PartResult {
  const { callOfOne, callOfMany, callOfAccounts, callOfTwo } = measured;
  const costs: Costs = { call: dearest([callOfOne, callOfMany, callOfAccounts, callOfTwo]), ...others };
  const states: CallStates = {
    together: { cpu: dearest([callOfOne, callOfMany]), sharing: sharing.together },
    apart: { cpu: dearest([callOfAccounts, callOfTwo]), sharing: sharing.apart },
  };
  const neighbours = SYSTEM_PARTS.reduce((sum, part) => sum + callOfAccounts[part], -callOfAccounts.gateway);
  const shared = ({ scriptsPerCall, hourlyRowsPerCall }: Sharing) =>
    `${scriptsPerCall.toFixed(2)} scripts and ${hourlyRowsPerCall.toFixed(3)} hourly rows per call`;
  return {
    goals: [goalOf('the gateway', callOfAccounts.gateway, 100), goalOf('all others', neighbours, 60)],
    notes: [
      `CPU-µs of ${SYSTEM_PARTS.join(' / ')}, from /proc/PID/stat, without what each uses idle; ${String(CONNECTIONS)} connections at full load, ${String(CALLS_SEC)} s each, 1 KB answers; account's and Postgres' share until all calls were counted`,
      ...lines,
      `one account calling: ${shared(sharing.together)}`,
      `${whole(CALLING_ACCOUNTS)} accounts calling: ${shared(sharing.apart)}`,
      'the part simulate computes docs/capacity.md from these',
    ],
    versions,
    figures: { costs, states, ...measured },
  };
}

function goalOf(whose: string, cpuUs: number, most: number): Goal {
  return {
    what: `CPU-µs of ${whose} for a data call with ${whole(CALLING_ACCOUNTS)} of ${whole(MORE_ACCOUNTS)} accounts calling`,
    figure: cpuUs.toFixed(1),
    target: `≤ ${String(most)}`,
    reached: cpuUs <= most,
  };
}

function pidsOf({ pidOf }: Servers, ...gateways: number[]): Pids {
  return {
    gateway: gateways,
    auth: [pidOf('auth')],
    account: [pidOf('account')],
    Redis: [pidOf('redis')],
    Postgres: [pidOf('postgres')],
  };
}

/** Until account has counted them all. */
async function callsUntilCounted(
  servers: Servers,
  run: RunCalls,
  urls: readonly string[],
  seconds: number,
): Promise<number> {
  const before = await countedCalls(servers);
  const connections = CONNECTIONS / urls.length;
  const rounds = await Promise.all(
    // CPU is read together with the other parts' (processes.ts).
    urls.map((url) => run({ pid: process.pid, url: `${url}/graphql` }, { seconds, connections })),
  );
  const answered = rounds.reduce((sum, { requests }) => sum + requests, 0);
  await until('all calls to be counted', async () => (await countedCalls(servers)) >= before + answered);
  return answered;
}

function entitlementTarget({ demo, pidOf, credentials }: Servers): Target {
  const { account_url: url } = demo.private;
  return {
    pid: pidOf('account'),
    url: `${url}/private/entitlements/${String(demo.account_id)}`,
    method: 'GET',
    headers: basic('gateway', credentials.gateway),
    body: '',
  };
}

function requestsOf({ requests }: { requests: number }): number {
  return requests;
}
