import { LIVE_COUNTERS, usageLiveKey, usageShard } from '@tollgate/contracts/usage-stream';
import type { RedisConnection } from '@tollgate/redis';
import { batchCalls } from '@tollgate/redis/batch-calls';
import { LUA_DATA_SET, LUA_NOT_TO_DISK, defineScript } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { LUA_APART, dataOf } from './apart.ts';
import type { OrFailure } from './apart.ts';
import type { PayerEntitlement } from './principal.ts';
import { LUA_BUDGET_LEFT, LUA_COVER } from './budgets-lua.ts';
import { LUA_POINTS_LEFT } from './credits-lua.ts';
import { leasesKey, rateKey, sharesKey } from './keys.ts';
import { LEASE_MS } from './admit-script.ts';
import { LUA_NOW, LUA_RATE } from './rate-lua.ts';
import { LUA_SHARES } from './share-lua.ts';

/** Of what is left of a limit, one gateway's share is at most this part. */
const MAX_PART = 8;

/** A share that is smaller than this part of what the gateway needs isn't worth its renewals. */
const USEFUL_PART = 4;

/** Points, traffic and budgets must last for this many times what the gateway needs. */
const MARGIN = 16;

/**
 * Redis does nothing else while a script runs: so many payers take it less than a millisecond. The budgets of a caller
 * take it about as long as a payer.
 */
const MAX_PAYERS = 16;

const KEYS_PER_PAYER = 4;
const ARGS_PER_PAYER = 14;

/**
 * Reports the calls that were made of a share, and renews it, or grants one: `has` is 1 if the gateway has one. Never
 * reduces it, because calls may be using it meanwhile.
 * The report is charged late, so that the level is never below the true one. It may drain to 0 before the report, and
 * drains less then; as the only holder, a gateway that saw every change of the level states it exactly.
 * With credits, the share's limit of points is what the period can use until the next instant. `callers` have budgets:
 * those whose budgets last are covered by the share.
 * One script call is for several payers of a lane, because it costs as much for itself as for a payer.
 * Returns for each payer 0 lost, 1 refused, 2 granted; then calls, slots, level, the rate's state, points and traffic
 * used, the limit of points, and for each caller 1 if the share covers it. LUA_APART says what it returns for a payer
 * whose data can't be read.
 */
const SYNC = `
${LUA_RATE}${LUA_SHARES}${LUA_POINTS_LEFT}${LUA_BUDGET_LEFT}${LUA_COVER}${LUA_APART}${LUA_DATA_SET}${LUA_NOW}
${LUA_NOT_TO_DISK}
local holder, lease_ms = ARGV[1], tonumber(ARGV[2])
local function granted(own_part, wanted, free)
  local share = math.max(own_part, math.min(wanted, math.floor((free + own_part) / ${String(MAX_PART)})))
  return share * ${String(USEFUL_PART)} >= wanted and share or nil
end
local function sync(first_key, first_arg)
  local live_key, rate_key, leases_key, shares_key = unpack(KEYS, first_key, first_key + 3)
  local function number(index) return tonumber(ARGV[first_arg + index - 1]) end
  local points_limit, traffic_limit, rate, slots = number(1), number(2), number(3), number(4)
  local has, used = number(5), number(6)
  local wanted_calls, wanted_slots, wanted_points, wanted_traffic = number(7), number(8), number(9), number(10)
  local seen_state, own_level = ARGV[first_arg + 10], number(12)
  local credits, callers = ARGV[first_arg + 12], ARGV[first_arg + 13]
  local state = rate >= 0 and redis.call('GET', rate_key)
  local level = rate >= 0 and level_at(state, now_us, rate) or 0
  local shares = nil
  level, shares = outstanding(shares_key, rate_key, now_us, level, rate, holder)
  local own = shares.own
  if has == 1 and not (own and is_valid(own, now_us)) then return { 0 } end
  if has ~= 1 and own then return { 1 } end
  own = own or { until_us = 0, calls = 0, slots = 0, slots_until_us = 0 }
  local reports = rate > 0 and used > 0
  if reports then
    level = level + used * call
    if shares.count == 1 and shares.spent == 0 and state == seen_state then level = math.min(level, own_level) end
    -- Stays until the next report, so that a gateway can tell whether others changed it.
    state = store_level(rate_key, now_us, level, rate, reserved_us / 1000)
    shares.calls, own.calls = shares.calls - used, math.max(own.calls - used, 0)
  elseif shares.spent > 0 then state = '' end
  local function refused()
    if reports then store_share(shares_key, holder, own) end
    return { 1 }
  end
  if shares.recalled_until_us > now_us then return refused() end
  local points, traffic, other_shares, is_live = 0, 0, nil, false
  local is_limited = points_limit >= 0 or traffic_limit >= 0
  local needed_points = math.max(wanted_points * ${String(MARGIN)}, 1)
  if is_limited or callers ~= '' then
    local live = redis.call('HMGET', live_key, 'data_set', 'counters', 'shares')
    is_live = live[1] == data_set and live[2] and true
    if is_limited and not is_live then return refused() end
    local requests, time_ms = nil, nil
    if is_live then points, requests, time_ms, traffic = struct.unpack('${LIVE_COUNTERS}', live[2]) end
    other_shares = live[3]
    if credits ~= '' then
      local points_left, next_ms = points_left_of(credits, { live_key }, data_set)
      -- At the next instant, the limit may be another one.
      if not points_left or next_ms * 1000 <= now_us + reserved_us then return refused() end
      points_limit = points + points_left
    end
    local needed_traffic = math.max(wanted_traffic * ${String(MARGIN)}, 1)
    if points_limit >= 0 and points_limit - points < needed_points then return refused() end
    if traffic_limit >= 0 and traffic_limit - traffic < needed_traffic then return refused() end
  end
  local calls, slots_granted = own.calls, own.slots
  if rate >= 0 then calls = granted(calls, wanted_calls, calls_within(rate * call - level) - shares.calls) end
  if slots >= 0 then
    local leases = redis.call('ZCOUNT', leases_key, math.floor(now_us / 1000) + 1, '+inf')
    slots_granted = granted(own.slots, wanted_slots, slots - leases - shares.slots - shares.lost_slots)
  end
  if not calls or not slots_granted then return refused() end
  own = {
    until_us = now_us + reserved_us, calls = calls,
    slots = slots_granted, slots_until_us = now_us + lease_ms * 1000,
  }
  store_share(shares_key, holder, own)
  redis.call('PEXPIRE', shares_key, lease_ms + recall_us / 1000)
  local limit_of_points, covered = points_limit, {}
  for argument in string.gmatch(is_live and callers or '', '[^;]+') do
    local is_covered = budget_left(argument, live_key, now_us / 1000, needed_points, {}) == 0
    if is_covered then cover(argument, live_key, now_us, own.until_us) end
    covered[#covered + 1] = is_covered and 1 or 0
  end
  if is_limited or #covered > 0 then
    -- While a change of plan is on its way, gateways may hold shares of different limits.
    local other_until_us, other_points, other_traffic = string.match(other_shares or '', '^(%d+) (-?%d+) (-?%d+)$')
    if other_until_us and tonumber(other_until_us) > now_us then
      points_limit = lower(points_limit, tonumber(other_points))
      traffic_limit = lower(traffic_limit, tonumber(other_traffic))
    end
    redis.call('HSET', live_key, 'shares', string.format('%d %d %d', own.until_us, points_limit, traffic_limit))
  end
  return { 2, calls, slots_granted, level, state or '', points, traffic, limit_of_points, covered }
end
local answers = {}
for index = 0, #KEYS / ${String(KEYS_PER_PAYER)} - 1 do
  local first_key, first_arg = index * ${String(KEYS_PER_PAYER)} + 1, index * ${String(ARGS_PER_PAYER)} + 3
  answers[index + 1] = apart(sync, first_key, first_arg)
end
return answers
`;

/**
 * Ends a share: charges the calls that were made of it, and turns the slots of calls in flight into leases. A gateway
 * that doesn't know whether an earlier report arrived states -1, and all of it is charged. Repetition changes nothing.
 */
const RETURN = `
${LUA_RATE}${LUA_SHARES}
local live_key, rate_key, leases_key, shares_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local rate, holder, used, lease_ms = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
${LUA_NOW}
${LUA_NOT_TO_DISK}
local own = redis.call('HGET', shares_key, holder)
if own then
  local calls = parsed(own).calls
  if used < 0 or used > calls then used = calls end
  redis.call('HDEL', shares_key, holder)
end
if used > 0 and rate > 0 then
  local level = level_at(redis.call('GET', rate_key), now_us, rate) + used * call
  store_level(rate_key, now_us, level, rate, reserved_us / 1000)
end
if #ARGV > 4 then
  local expires_ms = string.format('%d', math.floor(now_us / 1000) + lease_ms)
  for index = 5, #ARGV do redis.call('ZADD', leases_key, expires_ms, ARGV[index]) end
  redis.call('PEXPIRE', leases_key, lease_ms)
end
local _, shares = outstanding(shares_key, rate_key, now_us, 0, -1)
if shares.count == 0 then redis.call('HDEL', live_key, 'shares') end
return 1
`;

/** What a gateway asks for: about as much as its calls use until the share is renewed. */
export type Need = {
  calls: number;
  slots: number;
  points: number;
  trafficBytes: number;
  /** Of callers that the share is to admit, too: the arguments of their budgets. */
  budgets: readonly string[];
};

/** A share as Redis keeps it. Calls and slots are infinite where the plan has no such limit. */
export type Grant = {
  calls: number;
  slots: number;
  /** The rate's level after the report. */
  level: number;
  /** The rate's state as this gateway saw it last. */
  rateState: string;
  pointsUsed: number;
  /** What `pointsUsed` may reach; infinite without a limit. */
  pointsLimit: number;
  trafficBytesUsed: number;
  /** The arguments of the budgets whose callers it admits. */
  budgets: ReadonlySet<string>;
};

export type SyncReport = { isHeld: boolean; used: number; rateState: string; level: number };

export type ShareScripts = {
  /** `lost`: Redis doesn't have the share (any more). `refused`: none is given at the moment; the report was taken. */
  sync: (payer: PayerEntitlement, report: SyncReport, need: Need) => Promise<Grant | 'lost' | 'refused'>;
  /** `used` is null if it isn't known what was reported. `members` are leases of calls in flight. */
  giveBack: (payer: PayerEntitlement, used: number | null, members: readonly string[]) => Promise<void>;
  /** Whether a gateway may use a share of the period. */
  areOutstanding: (payerId: number, periodId: number) => Promise<boolean>;
};

type SyncedPayer = { keys: readonly string[]; args: readonly (string | number)[]; callers: number };

type SyncResult = [
  code: number,
  calls?: number,
  slots?: number,
  level?: number,
  rateState?: string,
  points?: number,
  trafficBytes?: number,
  pointsLimit?: number,
  covered?: number[],
];

export function createShareScripts(
  redis: ScriptableRedis & Pick<RedisConnection, 'hget'>,
  gatewayId: string,
): ShareScripts {
  const syncAll = defineScript(redis, SYNC);
  // In a cluster, as many lanes as shards: all keys of a lane's payers are in one slot.
  const sync = batchCalls(
    async (_lane: number, payers: readonly SyncedPayer[]) =>
      (await syncAll(
        payers.flatMap(({ keys }) => keys),
        [gatewayId, LEASE_MS, ...payers.flatMap(({ args }) => args)],
      )) as OrFailure<SyncResult>[],
    { maxWeight: MAX_PAYERS, weightOf: ({ callers }) => 1 + callers },
  );
  const giveBack = defineScript(redis, RETURN);
  const keysOf = ({ payerId, periodId }: PayerEntitlement) => [
    usageLiveKey(usageShard(payerId), periodId),
    rateKey(payerId),
    leasesKey('calls', payerId),
    sharesKey(payerId),
  ];
  return {
    sync: async (payer, { isHeld, used, rateState, level }, need) => {
      const { limits, credits } = payer;
      const [
        code,
        calls = 0,
        slots = 0,
        newLevel = 0,
        newState = '',
        pointsUsed = 0,
        trafficBytesUsed = 0,
        pointsLimit = 0,
        covered = [],
      ] = dataOf(
        await sync(payer.lane, {
          keys: keysOf(payer),
          args: [
            limits.points_limit ?? -1,
            limits.traffic_bytes_limit ?? -1,
            limits.rate_limit ?? -1,
            limits.session_limit ?? -1,
            isHeld ? 1 : 0,
            used,
            need.calls,
            need.slots,
            need.points,
            need.trafficBytes,
            rateState,
            Math.ceil(level),
            credits?.argument ?? '',
            need.budgets.join(';'),
          ],
          callers: need.budgets.length,
        }),
      );
      if (code !== 2) return code === 0 ? 'lost' : 'refused';
      return {
        calls: limits.rate_limit === null ? Infinity : calls,
        slots: limits.session_limit === null ? Infinity : slots,
        level: newLevel,
        rateState: newState,
        pointsUsed,
        trafficBytesUsed,
        pointsLimit: limits.points_limit === null ? Infinity : pointsLimit,
        budgets: new Set(need.budgets.filter((_, index) => covered[index] === 1)),
      };
    },
    giveBack: async (payer, used, members) => {
      const rate = payer.limits.rate_limit ?? -1;
      await giveBack(keysOf(payer), [rate, gatewayId, used ?? -1, LEASE_MS, ...members]);
    },
    areOutstanding: async (payerId, periodId) =>
      (await redis.hget(usageLiveKey(usageShard(payerId), periodId), 'shares')) !== null,
  };
}
