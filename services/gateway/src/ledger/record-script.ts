import {
  LIVE_COUNTERS,
  SHARE_CHANNEL,
  USAGE_BATCH_FIELD,
  addCounters,
  usageFloorKey,
  usageLanesKey,
  usageLiveKey,
  usageShard,
  usageStreamKey,
} from '@tollgate/contracts/usage-stream';
import type { UsageBatch, UsageCounters, UsageEvent } from '@tollgate/contracts/usage-stream';
import { LUA_DATA_SET, LUA_NOT_TO_DISK, defineScript } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import type { LeaseEntry } from './leases.ts';
import { LUA_SPEND } from './budgets-lua.ts';
import { LUA_CUTS } from './credits-lua.ts';
import { RESERVED_MS } from './share-lua.ts';
import { LIVE_TTL_SEC } from './prime-script.ts';
import { seenKey } from './keys.ts';

/** Usage of one billing period: what account has counted, and what is still in the stream. */
export type LiveUsage = UsageCounters;

/** Far longer than a gateway retries a batch. */
const SEEN_TTL_SEC = 86_400;

/**
 * Appends a batch to its lane's stream unless its number shows that it is there, adds it to the live counters, and
 * releases its calls' leases. Without a floor of this data set, ids that account has counted might repeat: it writes
 * nothing. XADD comes first because scripts aren't rolled back and a full Redis refuses only a script's first write:
 * with the number stored and XADD refused, the batch would be lost. A lane that some of the payers have left, since
 * there are more lanes than the gateway knew, takes nothing either.
 * Usage that reaches a limit while gateways hold shares of the payer recalls these: until they are returned or expire,
 * it isn't acknowledged, so that no gateway admits a call after a caller could know (docs/design/admission.md).
 * Points of an entry at or after an instant of the payer's credits are added when the cut at it is fixed. Points of
 * applications and members are added to what is known of their budgets; one that is used up is a limit that is reached.
 * Returns 0 repeated, 1 recorded, 2 not primed, 3 and how many lanes there are; after 0 and 1 for each period four counters, -1 if it isn't live, and for how
 * many ms such shares may be in use.
 */
const LUA = `${LUA_DATA_SET}${LUA_CUTS}${LUA_SPEND}
local function shared_beyond(shares, points, traffic_bytes)
  local until_us, points_limit, traffic_limit = string.match(shares, '^(%d+) (-?%d+) (-?%d+)$')
  points_limit, traffic_limit = tonumber(points_limit), tonumber(traffic_limit)
  local is_reached =
    points_limit >= 0 and points >= points_limit or traffic_limit >= 0 and traffic_bytes >= traffic_limit
  return is_reached and tonumber(until_us) or 0
end
local function ms_of_shares(until_us, payer)
  if until_us == 0 then return 0 end
  local time = redis.call('TIME')
  local left_us = until_us - tonumber(time[1]) * 1000000 - tonumber(time[2])
  if left_us <= 0 then return 0 end
  redis.call('PUBLISH', '${SHARE_CHANNEL}', payer)
  return math.min(math.ceil(left_us / 1000), ${String(RESERVED_MS)})
end
local seen, floor, lanes = unpack(redis.call('MGET', KEYS[1], KEYS[3], KEYS[4]))
local fresh = not seen or tonumber(ARGV[1]) > tonumber(seen)
local periods, entry_ms = tonumber(ARGV[6]), 0
if fresh then
  if floor ~= data_set then return { 2 } end
  if lanes then
    for period = 1, periods do
      if ARGV[6 + period * 5] % lanes ~= tonumber(ARGV[7 + periods * 5]) then return { 3, tonumber(lanes) } end
    end
  end
  entry_ms = tonumber(string.match(redis.call('XADD', KEYS[2], '*', ARGV[2], ARGV[3]), '^%d+'))
  redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[4])
end
${LUA_NOT_TO_DISK}
local answer = { fresh and 1 or 0 }
for period = 1, periods do
  local key, first = KEYS[4 + period], 6 + (period - 1) * 5
  local live =
    redis.call('HMGET', key, 'data_set', 'counters', 'shares', 'instants', 'budgets', 'shared_budgets')
  local points, requests, time_ms, traffic_bytes, shared_ms = -1, -1, -1, -1, 0
  if live[1] == data_set and live[2] then
    points, requests, time_ms, traffic_bytes = struct.unpack('${LIVE_COUNTERS}', live[2])
    if fresh then
      if live[4] and first_instant(live[4]) <= entry_ms then fix_cuts(key, live[4], points, entry_ms) end
      points, requests = points + ARGV[first + 1], requests + ARGV[first + 2]
      time_ms, traffic_bytes = time_ms + ARGV[first + 3], traffic_bytes + ARGV[first + 4]
      local counters = struct.pack('${LIVE_COUNTERS}', points, requests, time_ms, traffic_bytes)
      redis.call('HSET', key, 'counters', counters)
      redis.call('EXPIRE', key, ARGV[5])
    end
    local is_shared, until_us = live[3] and live[6], 0
    if fresh and live[5] or is_shared then until_us = spend(key, ARGV[3], fresh, is_shared) end
    if live[3] then until_us = math.max(until_us, shared_beyond(live[3], points, traffic_bytes)) end
    shared_ms = ms_of_shares(until_us, ARGV[first + 5])
  end
  local last = #answer
  answer[last + 1], answer[last + 2], answer[last + 3] = points, requests, time_ms
  answer[last + 4], answer[last + 5] = traffic_bytes, shared_ms
end
local at = 8 + periods * 5
for index = 5 + periods, #KEYS do
  local members = tonumber(ARGV[at])
  redis.call('ZREM', KEYS[index], unpack(ARGV, at + 1, at + members))
  at = at + 1 + members
end
return answer
`;

/** `repeated`: an earlier attempt had arrived; `unprimed` and `moved`: nothing was written. */
export type RecordResult = 'recorded' | 'repeated' | 'unprimed' | 'moved';

/** With a result of `moved`, how many lanes there are. */
export type RecordAnswer = RecordedBatch & { result: RecordResult; lanes?: number };

export type RecordedBatch = {
  /** The counters of the batch's periods after it, without periods that aren't live. */
  live: ReadonlyMap<number, LiveUsage>;
  /** Periods with a limit that is reached while gateways may use shares, for at most so many ms. */
  sharedForMs?: ReadonlyMap<number, number>;
};

export type SendBatch = (
  lane: number,
  batch: UsageBatch,
  leases: readonly LeaseEntry[],
) => Promise<RecordAnswer>;

const RESULTS = ['repeated', 'recorded', 'unprimed', 'moved'] as const;

export function createSendBatch(redis: ScriptableRedis): SendBatch {
  const recordBatch = defineScript(redis, LUA);
  return async (lane, batch, leases) => {
    const sums = sumByPeriod(batch.events);
    const keys = [
      seenKey(lane, batch.gateway_id),
      usageStreamKey(lane),
      usageFloorKey(lane),
      usageLanesKey(lane),
    ];
    const args: (string | number)[] = [
      batch.seq,
      USAGE_BATCH_FIELD,
      JSON.stringify(batch),
      SEEN_TTL_SEC,
      LIVE_TTL_SEC,
      sums.size,
    ];
    for (const [periodId, { points, requests, time_ms, traffic_bytes, payerId }] of sums) {
      keys.push(usageLiveKey(usageShard(payerId), periodId));
      args.push(points, requests, time_ms, traffic_bytes, payerId);
    }
    args.push(lane);
    for (const [key, held] of Map.groupBy(leases, (lease) => lease.key)) {
      keys.push(key);
      args.push(held.length, ...held.map(({ member }) => member));
    }
    return recordAnswer((await recordBatch(keys, args)) as number[], [...sums.keys()]);
  };
}

function recordAnswer([code = -1, ...counters]: number[], periodIds: readonly number[]): RecordAnswer {
  const result = RESULTS[code];
  if (result === undefined) throw new Error('the record script returned an unknown result');
  const live = new Map<number, LiveUsage>();
  if (result === 'moved') return { result, live, lanes: Number(counters[0]) };
  const sharedForMs = new Map<number, number>();
  for (const [index, periodId] of periodIds.entries()) {
    const [points = -1, requests = -1, time_ms = -1, traffic_bytes = -1, forMs = 0] = counters.slice(
      index * 5,
    );
    if (points >= 0) live.set(periodId, { points, requests, time_ms, traffic_bytes });
    if (forMs > 0) sharedForMs.set(periodId, forMs);
  }
  return { result, live, sharedForMs };
}

function sumByPeriod(events: readonly UsageEvent[]): Map<number, LiveUsage & { payerId: number }> {
  const sums = new Map<number, LiveUsage & { payerId: number }>();
  for (const event of events) {
    const sum = sums.get(event.period_id) ?? {
      points: 0,
      requests: 0,
      time_ms: 0,
      traffic_bytes: 0,
      payerId: event.payer_id,
    };
    addCounters(sum, event);
    sums.set(event.period_id, sum);
  }
  return sums;
}
