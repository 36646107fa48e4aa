import type { Limits } from '@tollgate/contracts/entitlement';
import { LIVE_COUNTERS, SHARE_CHANNEL, usageFenceKey } from '@tollgate/contracts/usage-stream';
import { batchCalls } from '@tollgate/redis/batch-calls';
import { LUA_DATA_SET, LUA_NOT_TO_DISK, defineScript } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { LUA_APART, dataOf } from './apart.ts';
import type { OrFailure } from './apart.ts';
import type { PayerEntitlement } from './principal.ts';
import { LUA_BUDGET_LEFT } from './budgets-lua.ts';
import { reachedBudget } from './budgets.ts';
import type { CallerBudgets, ReachedBudget } from './budgets.ts';
import { LUA_POINTS_LEFT } from './credits-lua.ts';
import { leasesKey, liveKeys, rateKey, reservationsKey, sharesKey } from './keys.ts';
import { LUA_RESERVED } from './reservations.ts';
import { CALL, LUA_NOW, LUA_RATE } from './rate-lua.ts';
import { LUA_SHARES } from './share-lua.ts';

/** A `call` takes a session slot while in flight; a `subscription` takes its own slot, and its open time is metered. */
export type AdmissionKind = 'call' | 'subscription';

/** Lifetime of a lease that isn't renewed: how long a dead gateway's slots stay taken. */
export const LEASE_MS = 8_000;

/**
 * Redis does nothing else while a script runs: this weight takes it about half a millisecond. Calls of a payer and kind
 * weigh 1; credits, budgets, open periods and reservations take about as long again, each.
 */
const MAX_WEIGHT = 16;

/** Of a payer's reservations, the script reads all that are in flight. */
const RESERVATION_WEIGHT = 4;

/**
 * Admits calls of several payers, one group after the other, because a script call costs as much for itself as for a
 * group. A group is calls of one payer and kind: as many are admitted as the limits allow, in order, and the others are
 * refused for the same reason. Each takes the same number of units of the rate, all or none. Decides before it writes,
 * so a refused call costs nothing. A limit of -1 isn't part of the plan. With credits, these decide on points; the
 * caller's budgets are checked after them (docs/design/admission.md).
 * Expired leases aren't counted, and are removed only if they take up slots. Rate and leases aren't synced to disk: a
 * restart forgets the rate, and a renewal restores the leases (docs/design/admission.md).
 * What gateways hold as shares counts as taken. If only that stands in the way, the shares are recalled instead of
 * refusing a call (docs/design/admission.md).
 * A call of a payer whose points are strict comes alone with its reservation, behind what its operation has reserved
 * already: it is admitted if what is left without all reservations covers it, of the points and of each budget. Only
 * what others have reserved can come back, so what doesn't cover the operation as a whole is refused for the points.
 * Returns for each group the reason of refusals (0 none, 1 not primed, 2 … points, traffic, time, rate, slots,
 * 7 recalled, 8 budget, 9 reserved, 10 restoring), the number of admitted calls, points left (-1 without a limit), the
 * rate's level after them, and with reason 8 the budget that is used up, the time in ms, and what is left of that
 * budget. LUA_APART says what it returns for a group whose data can't be read.
 */
export const LUA = `
${LUA_RATE}${LUA_SHARES}${LUA_POINTS_LEFT}${LUA_BUDGET_LEFT}${LUA_RESERVED}${LUA_APART}${LUA_NOT_TO_DISK}${LUA_NOW}
local lease_ms = ARGV[1]
local now_ms = math.floor(now_us / 1000)
local known_data_set = nil
local function data_set_now()
  if not known_data_set then
    ${LUA_DATA_SET}
    known_data_set = data_set
  end
  return known_data_set
end
local function decide(first_key, last_key, first_arg, last_arg)
  local live_key, rate_key, leases_key, shares_key = unpack(KEYS, first_key, first_key + 3)
  local limits = { unpack(ARGV, first_arg, first_arg + 9) }
  local points_limit, traffic_limit, time_limit_ms = tonumber(limits[1]), tonumber(limits[2]), tonumber(limits[3])
  local rate, slots, is_call, units = tonumber(limits[4]), tonumber(limits[5]), limits[6] == '1', tonumber(limits[7])
  local credits, budgets = limits[8], limits[9]
  local held, reservation = string.match(limits[10], '^(%d+) (.+)$')
  local first_member = first_arg + 10
  local refusal, points_left, reached, of_budgets = 0, -1, 0, 0
  local reservations_key, wanted, in_all = KEYS[last_key], 1, 1
  if reservation then
    wanted = tonumber(string.match(reservation, '^%d+'))
    in_all = wanted + tonumber(held)
  end
  if points_limit >= 0 or traffic_limit >= 0 or time_limit_ms >= 0 or budgets ~= '' then
    local data_set = data_set_now()
    local live = redis.call('HMGET', live_key, 'data_set', 'counters')
    if live[1] ~= data_set or not live[2] then return { 1 } end
    local points, _, time_ms, traffic_bytes = struct.unpack('${LIVE_COUNTERS}', live[2])
    if credits ~= '' then
      points_left = points_left_of(credits, { live_key, unpack(KEYS, first_key + 4, last_key) }, data_set)
      if not points_left then return { 1 } end
    elseif points_limit >= 0 then points_left = math.max(points_limit - points, 0) end
    if budgets ~= '' then
      local _
      reached, _, of_budgets = budget_left(budgets, live_key, now_ms, in_all, {})
      if not reached then return { 1 } end
    end
    if points_left >= 0 and points_left < in_all then refusal = 2
    elseif reached > 0 then refusal = 8
    elseif traffic_limit >= 0 and traffic_bytes >= traffic_limit then refusal = 3
    elseif time_limit_ms >= 0 and time_ms >= time_limit_ms then refusal = 4
    elseif reservation then
      local reserved, of_field = reserved_points(reservations_key, now_ms)
      if is_restoring(KEYS[last_key - 1], data_set, now_ms) then refusal = 10
      elseif points_left >= 0 and points_left - reserved < wanted then refusal = 9
      elseif budgets ~= '' and budget_left(budgets, live_key, now_ms, wanted, of_field) > 0 then refusal = 9 end
    end
  end
  local admitted = refusal == 0 and last_arg - first_member + 1 or 0
  local level = rate >= 0 and level_at(redis.call('GET', rate_key), now_us, rate) or 0
  local shares = { calls = 0, slots = 0, lost_slots = 0 }
  if rate >= 0 or slots >= 0 then
    level, shares = outstanding(shares_key, rate_key, now_us, level, rate)
    -- Shares have slots for calls only.
    if not is_call then shares.slots, shares.lost_slots = 0, 0 end
  end
  if rate >= 0 then
    local within = calls_within(rate * call - level)
    local fitting = math.floor(math.max(within - shares.calls, 0) / units)
    if fitting < admitted then admitted, refusal = fitting, math.floor(within / units) > fitting and 7 or 5 end
  end
  local taken = 0
  if admitted > 0 and slots >= 0 then
    taken = redis.call('ZCARD', leases_key)
    if taken + shares.slots + shares.lost_slots + admitted > slots then
      local free = math.max(slots - shares.lost_slots - redis.call('ZCOUNT', leases_key, now_ms + 1, '+inf'), 0)
      local fitting = math.max(free - shares.slots, 0)
      if fitting < admitted then admitted, refusal = fitting, free > fitting and 7 or 6 end
    end
  end
  if refusal == 7 then recall(shares_key, '${SHARE_CHANNEL}', now_us) end
  if admitted > 0 then
    local expires_ms = string.format('%d', now_ms + tonumber(lease_ms))
    if rate >= 0 then
      level = level + admitted * units * call
      store_level(rate_key, now_us, level, rate)
    end
    if slots >= 0 then
      if taken + admitted > slots then redis.call('ZREMRANGEBYSCORE', leases_key, '-inf', now_ms) end
      local leases = {}
      for index = 1, admitted do
        leases[2 * index - 1] = expires_ms
        leases[2 * index] = ARGV[first_member - 1 + index]
      end
      redis.call('ZADD', leases_key, unpack(leases))
      redis.call('PEXPIRE', leases_key, lease_ms)
    end
    if reservation then
      redis.call('ZREMRANGEBYSCORE', reservations_key, '-inf', now_ms)
      redis.call('ZADD', reservations_key, expires_ms, reservation)
      redis.call('PEXPIRE', reservations_key, lease_ms)
    end
  end
  return { refusal, admitted, points_left, level, reached, now_ms, math.max(of_budgets, 0) }
end
local answers, key, arg = {}, 1, 2
while arg <= #ARGV do
  local last_key, last_arg = key + tonumber(ARGV[arg]) - 1, arg + 1 + tonumber(ARGV[arg + 1])
  answers[#answers + 1] = apart(decide, key, last_key, arg + 2, last_arg)
  key, arg = last_key + 1, last_arg + 1
end
return answers
`;

export type RefusedLimit = 'points' | 'budget' | 'reserved' | 'traffic' | 'time' | 'rate' | 'slots';

const REFUSALS = [
  'none',
  'unprimed',
  'points',
  'traffic',
  'time',
  'rate',
  'slots',
  'recalled',
  'budget',
  'reserved',
  'restoring',
] as const;

export type AdmissionDecision = {
  /**
   * `recalled`: only shares stand in the way, and are being returned. `restoring`: reservations that Redis has lost are
   * being restored.
   */
  outcome: 'admitted' | 'unprimed' | 'recalled' | 'restoring' | RefusedLimit;
  pointsLeft: number | null;
  callsLeft: number;
  /** Until a whole minute's worth is available. */
  resetUs: number;
  waitUs: number;
  /** The caller's, if it is used up. */
  budget: ReachedBudget | null;
  /** Of the budget that doesn't cover the call; null without budgets. */
  budgetLeft: number | null;
};

/**
 * Decides calls of one payer at once; the decisions are in the order of the lease ids. A `reservation` is that of a
 * single call.
 */
export type DecideAdmissions = (
  payer: PayerEntitlement,
  kind: AdmissionKind,
  leaseIds: readonly string[],
  units: number,
  reservation: Reservation | null,
) => Promise<AdmissionDecision[]>;

/** The member of its lease, and the points that the same operation has reserved already. */
export type Reservation = { member: string; held: number };

/** Calls of one payer and kind, as the script takes them. */
type AskedGroup = { keys: readonly string[]; args: readonly (string | number)[]; weight: number };

/** Groups of one turn of the event loop share a script call. */
export function createAdmissionScript(redis: ScriptableRedis): DecideAdmissions {
  const admitAll = defineScript(redis, LUA);
  // In a cluster, as many lanes as shards: all keys of a lane's payers are in one slot.
  const admit = batchCalls(
    async (_lane: number, groups: readonly AskedGroup[]) =>
      (await admitAll(
        groups.flatMap(({ keys }) => keys),
        [LEASE_MS, ...groups.flatMap(({ keys, args }) => [keys.length, args.length, ...args])],
      )) as OrFailure<ScriptResult>[],
    { maxWeight: MAX_WEIGHT, weightOf: ({ weight }) => weight },
  );
  return async (payer, kind, leaseIds, units, reservation) => {
    const { payerId, lane, limits, credits, budgets } = payer;
    const [live, ...openPeriods] = liveKeys(payer);
    const isCall = kind === 'call';
    const timeMs = limits.time_sec_limit === null ? -1 : limits.time_sec_limit * 1000;
    const result = await admit(lane, {
      keys: [
        live,
        rateKey(payerId),
        leasesKey(isCall ? 'calls' : 'subscriptions', payerId),
        sharesKey(payerId),
        ...openPeriods,
        ...(reservation === null ? [] : [usageFenceKey(lane), reservationsKey(payerId)]),
      ],
      args: [
        limits.points_limit ?? -1,
        limits.traffic_bytes_limit ?? -1,
        isCall ? -1 : timeMs,
        limits.rate_limit ?? -1,
        (isCall ? limits.session_limit : limits.subscription_limit) ?? -1,
        isCall ? 1 : 0,
        units,
        credits?.argument ?? '',
        budgets?.argument ?? '',
        reservation === null ? '' : `${String(reservation.held)} ${reservation.member}`,
        ...leaseIds,
      ],
      weight:
        1 +
        (credits === null ? 0 : 1 + openPeriods.length) +
        (budgets === null ? 0 : 1) +
        (reservation === null ? 0 : RESERVATION_WEIGHT),
    });
    return admissionDecisions(limits, { calls: leaseIds.length, units, budgets }, dataOf(result));
  };
}

export type ScriptResult = [
  refusal: number,
  admitted?: number,
  pointsLeft?: number,
  level?: number,
  reachedBudget?: number,
  nowMs?: number,
  budgetLeft?: number,
];

export function admissionDecisions(
  { points_limit, rate_limit }: Pick<Limits, 'points_limit' | 'rate_limit'>,
  { calls, units, budgets = null }: { calls: number; units: number; budgets?: CallerBudgets | null },
  [refusal, admitted = 0, pointsLeft = -1, level = 0, reached = 0, nowMs = 0, budgetLeft = 0]: ScriptResult,
): AdmissionDecision[] {
  const name = REFUSALS[refusal];
  if (name === undefined || (name === 'none' && admitted < calls)) {
    throw new Error('the admission script returned an unknown result');
  }
  const budget = budgets === null ? null : reachedBudget(budgets, { reached, nowMs });
  return Array.from({ length: calls }, (_, index) => {
    const isAdmitted = index < admitted;
    return {
      outcome: isAdmitted || name === 'none' ? 'admitted' : name,
      pointsLeft: points_limit === null ? null : pointsLeft,
      ...rateAt(rate_limit, isAdmitted ? level - (admitted - index - 1) * units * CALL : level, units),
      budget,
      budgetLeft: budgets === null ? null : budgetLeft,
    };
  });
}

/** What an answer states of the rate at a level; the wait is that of a call of so many units. */
export function rateAt(
  rate: number | null,
  level: number,
  units: number,
): Pick<AdmissionDecision, 'callsLeft' | 'resetUs' | 'waitUs'> {
  if (rate === null || rate <= 0) return { callsLeft: 0, resetUs: 0, waitUs: 0 };
  const capacity = rate * CALL;
  return {
    callsLeft: Math.max(Math.floor((capacity - level) / CALL), 0),
    resetUs: Math.ceil(level / rate),
    waitUs: Math.max(Math.ceil((level + units * CALL - capacity) / rate), 0),
  };
}
