import { join } from 'node:path';
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
import type { PartResult } from '../part.ts';
import { whole } from '../report/ratios.ts';
import { asWritten } from '../report/results.ts';
import type { Servers } from '../servers.ts';
import { findTools } from '../tools.ts';
import { widenLimits } from '../usage/wide-limits.ts';
import { countedCalls, hourlyRowBytes, makeAccounts, makeTokens, redisBytes } from './callers.ts';
import type { Costs } from './capacity.ts';
import { writeCapacityPage } from './capacity-page.ts';
import { SYSTEM_PARTS, createMeter, eachPart } from './processes.ts';
import type { Pids } from './processes.ts';

const MORE_ACCOUNTS = 10_000;
const CALLING_ACCOUNTS = 200;
const CALLS_SEC = 5;
const TOKENS_SEC = 10;
const LOOK_UPS_SEC = 3;
const WARM_UP_SEC = 5;

type Say = (line: string) => void;

/** A call's cost includes all work until account has counted it. docs/capacity.md is written from it. */
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
  const callOfMany = await alone.measure(`a data call ${withTokens}`, () => calls(one, [first.url]));

  const accounts = await makeAccounts(servers, MORE_ACCOUNTS, CALLING_ACCOUNTS);
  const callers = await makeTokens(servers, accounts);
  const callOfAccounts = await alone.measure(
    `a data call with ${whole(MORE_ACCOUNTS)} more accounts, of which ${whole(CALLING_ACCOUNTS)} call`,
    () => calls(callers, [first.url]),
  );

  const second = await startGateway();
  const both = createMeter(pidsOf(servers, first.pid, second.pid), say);
  await calls(callers, [second.url], WARM_UP_SEC);
  await both.readIdle();
  const callOfTwo = await both.measure('the same through two gateways', () =>
    calls(callers, [first.url, second.url]),
  );

  // It remembers one entitlement, so that nearly each call reads its own in Redis.
  const forgetful = await startGateway({ ENTITLEMENT_CACHE_MAX_ENTRIES: '1' });
  const reading = createMeter(pidsOf(servers, forgetful.pid), say);
  await calls(callers, [forgetful.url], WARM_UP_SEC);
  await reading.readIdle();
  const read = 'the same where each call reads its entitlement in Redis';
  const callOfReader = await reading.measure(read, () => calls(callers, [forgetful.url]));

  const rowBytes = await hourlyRowBytes(servers);
  const calling = [callOfOne, callOfMany, callOfAccounts, callOfTwo];
  const costs: Costs = asWritten({
    // Planned with each part's most expensive state.
    call: eachPart((part) => Math.max(...calling.map((cpu) => cpu[part]))),
    introspection: eachPart((part) => Math.max(introspection[part], introspectionOfMany[part])),
    keptEntitlement: eachPart((part) => Math.max(0, callOfReader[part] - callOfAccounts[part])),
    ...{ token, entitlement, idle, tokenBytes, hourlyRowBytes: rowBytes },
  });
  writeCapacityPage(join(servers.project, 'docs/capacity.md'), costs);
  return {
    goals: [],
    notes: [
      `CPU-µs of ${SYSTEM_PARTS.join(' / ')}, from /proc/PID/stat, without what each uses idle; ${String(CONNECTIONS)} connections at full load, ${String(CALLS_SEC)} s each, 1 KB answers; account's and Postgres' share until all calls were counted`,
      ...alone.lines,
      ...both.lines,
      ...reading.lines,
      'the tables of docs/capacity.md are computed from these',
    ],
    versions: tools.versions,
    figures: { costs, callOfOne, callOfMany, callOfAccounts, callOfTwo, callOfReader },
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
