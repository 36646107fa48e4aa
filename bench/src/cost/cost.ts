import { USAGE_SHARD_COUNT, usageLanesKey } from '@tollgate/contracts/usage-stream';
import type { RedisConnection } from '@tollgate/redis';
import { AUTH_RATES, accessToken, basic, stackAuth } from '../auth/auth-rates.ts';
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
import type { ScriptStates } from '../simulate/unit-costs.ts';
import { findTools } from '../tools.ts';
import { widenLimits } from '../usage/wide-limits.ts';
import { withRedis } from '../with-redis.ts';
import { WARM_UP_SEC, measureInTurn } from './call-states.ts';
import type { MeasuredCalls } from './call-states.ts';
import { countedCalls, hourlyRowBytes, makePayers, makeTokens, redisBytes } from './callers.ts';
import type { CallStates, Costs } from './costs.ts';
import { SYSTEM_PARTS, createMeter, dearest, eachPart } from './processes.ts';
import type { CpuUs, Pids, SystemPart } from './processes.ts';
import { hourlyRowsPerCall, scriptsSoFar } from './sharing.ts';

const MORE_ACCOUNTS = 10_000;
const CALLING_ACCOUNTS = 200;
const CALLS_SEC = 5;
const TOKENS_SEC = 10;
const LOOK_UPS_SEC = 3;

type Say = (line: string) => void;

/** A call's cost includes all work until account has counted it. The part simulate plans with it. */
export async function measureCost(servers: Servers, say: Say): Promise<PartResult> {
  return await withRedis(servers, (redis) => measureWith(redis, servers, say));
}

async function measureWith(redis: RedisConnection, servers: Servers, say: Say): Promise<PartResult> {
  const tools = await findTools(servers, say);
  const { fullLoad } = await createFullLoad(servers, say);
  await widenLimits(servers);
  const upstream = await startUpstream(servers, tools);
  const startGateway: CallRun['startGateway'] = (settings = {}) =>
    servers.startFurther('gateway', { settings: { UPSTREAM_URL: upstream.url, ...settings } });
  const calls = (tokens: readonly string[], urls: readonly string[], seconds = CALLS_SEC) =>
    callsUntilCounted(servers, createCalls(servers, tools, ...tokens), urls, seconds);

  const first = await startGateway();
  const alone = createMeter(pidsOf(servers, first.pid), say);
  const one = [await accessToken(servers)];
  await calls(one, [first.url], WARM_UP_SEC);
  const idle = await alone.readIdle();

  const introspect = await AUTH_RATES.introspect.ours(servers, stackAuth(servers));
  const issue = await AUTH_RATES.token.ours(servers, stackAuth(servers));
  const lookUp = entitlementTarget(servers);
  for (const target of [introspect, issue, lookUp]) await fullLoad(target, LOOK_UPS_SEC);
  const load = (target: Target, seconds = LOOK_UPS_SEC) => fullLoad(target, seconds).then(requestsOf);
  const introspection = await alone.measure('an introspection', () => load(introspect));
  const entitlement = await alone.measure('an entitlement asked of account', () => load(lookUp));
  const bytesBefore = await redisBytes(redis);
  let tokens = 0;
  const token = await alone.measure('a token', async () => (tokens = await load(issue, TOKENS_SEC)));
  const tokenBytes = ((await redisBytes(redis)) - bytesBefore) / tokens;

  const introspectionOfMany = await alone.measure(`an introspection with ${whole(tokens)} more tokens`, () =>
    load(introspect),
  );

  const run = { servers, redis, first, one, startGateway, calls, say };
  const { inOneLane, inAllLanes, lines, rowsPerCall } = await measureCalls(run);
  const { together, apart, reading, asking } = inOneLane;
  const statesOf = (part: SystemPart): ScriptStates => {
    const stateOf = ({ cpu, scripts }: MeasuredCalls) => ({ cpuUs: cpu[part], scripts });
    return {
      together: stateOf(inAllLanes.together),
      apart: stateOf(inAllLanes.apart),
      ofManyPayers: stateOf(apart),
      withoutShares: stateOf(inAllLanes.withoutShares),
    };
  };
  return resultOf({
    versions: tools.versions,
    lines: [...alone.lines, ...lines],
    called: apart.cpu,
    states: {
      gateway: statesOf('gateway'),
      Redis: statesOf('Redis'),
      rows: { cpu: together.cpu, hourlyRowsPerCall: rowsPerCall },
    },
    costs: {
      introspection: introspectionCost([introspection, introspectionOfMany], asking.cpu, apart.cpu),
      keptEntitlement: eachPart((part) => Math.max(0, reading.cpu[part] - apart.cpu[part])),
      token,
      entitlement,
      idle,
      tokenBytes,
      hourlyRowBytes: await hourlyRowBytes(servers),
    },
  });
}

type CallRun = {
  servers: Servers;
  redis: RedisConnection;
  first: StartedService;
  one: readonly string[];
  startGateway: (settings?: Record<string, string>) => Promise<StartedService>;
  calls: (tokens: readonly string[], urls: readonly string[], seconds?: number) => Promise<number>;
  say: Say;
};

async function measureCalls({ servers, redis, first, one, startGateway, calls, say }: CallRun) {
  const accounts = await makePayers(servers, MORE_ACCOUNTS, 'caller');
  const many = await makeTokens(servers, accounts.slice(0, CALLING_ACCOUNTS));
  const second = await startGateway();
  const accountPids = [servers.pidOf('account')];
  const stateOf = (what: string, tokens: readonly string[], ...gateways: readonly StartedService[]) => ({
    what,
    meter: createMeter(
      { ...pidsOf(servers, ...gateways.map(({ pid }) => pid)), account: [...accountPids] },
      say,
    ),
    call: (seconds?: number) =>
      calls(
        tokens,
        gateways.map(({ url }) => url),
        seconds,
      ),
  });
  const scripts = () => scriptsSoFar(redis);
  const withoutShares = { ADMISSION_SHARE_TRUST_MS: '0' };
  const ofMany = `${whole(CALLING_ACCOUNTS)} of ${whole(MORE_ACCOUNTS)} more accounts calling`;
  const inOneLane = await measureInTurn(
    {
      together: stateOf('a data call, one account calling', one, first),
      apart: stateOf(`a data call, ${ofMany}`, many, first),
      throughTwo: stateOf('the same through two gateways', many, first, second),
      withoutShares: stateOf('the same without shares of limits', many, await startGateway(withoutShares)),
      reading: stateOf(
        'the same where each call reads its entitlement in Redis',
        many,
        await startGateway({ ENTITLEMENT_CACHE_MAX_ENTRIES: '1' }),
      ),
      asking: stateOf(
        'the same where each call asks auth for its token',
        many,
        await startGateway({ INTROSPECTION_CACHE_MAX_ENTRIES: '1' }),
      ),
    },
    scripts,
  );
  const rowsPerCall = await hourlyRowsPerCall(servers, () => calls(one, [first.url]));
  // Lanes only grow, so these come last. The account that asked for them may count streams, too.
  accountPids.push((await growLanes(servers, redis)).pid);
  const ofLanes = `in ${whole(USAGE_SHARD_COUNT)} lanes, as on a Redis Cluster`;
  const inAllLanes = await measureInTurn(
    {
      together: stateOf(`a data call, one account calling, ${ofLanes}`, one, first),
      apart: stateOf(`a data call, ${ofMany}, ${ofLanes}`, many, first),
      withoutShares: stateOf('the same without shares of limits', many, await startGateway(withoutShares)),
    },
    scripts,
  );
  return {
    inOneLane: inOneLane.measured,
    inAllLanes: inAllLanes.measured,
    lines: [...inOneLane.lines, ...inAllLanes.lines],
    rowsPerCall,
  };
}

/** As many lanes as on a Redis Cluster, by account's own means. */
async function growLanes(servers: Servers, redis: RedisConnection): Promise<StartedService> {
  const account = await servers.startFurther('account', {
    settings: { USAGE_LANES: String(USAGE_SHARD_COUNT) },
    place: servers.places?.rest,
  });
  await until('more lanes', async () => (await redis.get(usageLanesKey(0))) === String(USAGE_SHARD_COUNT));
  return account;
}

type Measured = {
  versions: Record<string, string>;
  lines: string[];
  /** A data call, of the accounts that the goals are for. */
  called: CpuUs;
  states: CallStates;
  costs: Costs;
};

/** The other parts' as measured alone, where auth's requests aren't few at a time; the gateway's from the calls that ask. */
function introspectionCost(alone: CpuUs[], asking: CpuUs, apart: CpuUs): CpuUs {
  return { ...dearest(alone), gateway: Math.max(0, asking.gateway - apart.gateway) };
}

function resultOf({ versions, lines, called, states, costs }: Measured): PartResult {
  const neighbours = SYSTEM_PARTS.reduce((sum, part) => sum + called[part], -called.gateway);
  return {
    goals: [goalOf('the gateway', called.gateway, 50), goalOf('all others', neighbours, 30)],
    notes: [
      `CPU-µs of ${SYSTEM_PARTS.join(' / ')}, from /proc/PID/stat, without what each uses idle; ${String(CONNECTIONS)} connections at full load, ${String(CALLS_SEC)} s each, 1 KB answers; account's and Postgres' share until all calls were counted`,
      'data calls: all states in turn, median (min–max) of the rounds, while all tokens of this part are live',
      ...lines,
      `one account calling: ${states.rows.hourlyRowsPerCall.toFixed(3)} hourly rows per call`,
      'the part simulate computes docs/capacity.md from these',
    ],
    versions,
    figures: { costs, states },
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
