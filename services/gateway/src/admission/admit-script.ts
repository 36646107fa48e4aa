import { usageShard } from '@tollgate/contracts/usage-stream';
import { LUA_DATA_SET, defineScript } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import type { Charge } from '../entitle/entitle.ts';
import { leasesKey, liveKey, rateKey } from '../shard-keys.ts';

/** A `call` is counted as a session while it is in flight; a `subscription` has its open time metered instead. */
export type AdmissionKind = 'call' | 'subscription';

/** How long a lease lasts unless it is renewed, and the most that a dead gateway's can outlive it. */
export const LEASE_MS = 8_000;

/**
 * Everything is decided before anything is written, so a refused call costs nothing. A limit that the plan
 * doesn't contain (-1) isn't looked at.
 *
 * Rate: the generic cell rate algorithm as a leaky bucket (ITU-T I.371, annex A: the two are the same), because
 * so it needs integers only. The level is in calls × 60,000,000; it drains by \`rate\` per microsecond, so by
 * \`rate\` calls a minute, and may be as high as \`rate\` calls. One call weighs the same in every plan: a change
 * of plan keeps what is used. Redis' clock counts; were it turned back, the level stays as it is until then.
 *
 * Leases: those that are over are left out of the count, and removed where they are in the way.
 *
 * Answers: outcome (0 admitted, 1 not primed, 2 … refused: points, traffic, time, rate, places), points left
 * (-1 without that limit), calls left of the minute's worth, microseconds until all of it is there, and
 * microseconds until the next call fits.
 */
export const LUA = `
local points_limit, traffic_limit, time_limit_ms = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local rate, places = tonumber(ARGV[4]), tonumber(ARGV[5])
local outcome, points_left = 0, -1
if points_limit >= 0 or traffic_limit >= 0 or time_limit_ms >= 0 then
  ${LUA_DATA_SET}
  local live = redis.call('HMGET', KEYS[1], 'data_set', 'points', 'traffic_bytes', 'time_ms')
  if live[1] ~= data_set then return { 1 } end
  if points_limit >= 0 then points_left = math.max(points_limit - tonumber(live[2]), 0) end
  if points_left == 0 then outcome = 2
  elseif traffic_limit >= 0 and tonumber(live[3]) >= traffic_limit then outcome = 3
  elseif time_limit_ms >= 0 and tonumber(live[4]) >= time_limit_ms then outcome = 4 end
end
local now_us = 0
if rate >= 0 or places >= 0 then
  local time = redis.call('TIME')
  now_us = tonumber(time[1]) * 1000000 + tonumber(time[2])
end
local call, level, capacity = 60000000, 0, 0
if rate >= 0 then
  capacity = rate * call
  local state = redis.call('GET', KEYS[2])
  if state then
    local at, stood = string.match(state, '^(%d+) (%d+)$')
    local passed_us = math.min(math.max(now_us - tonumber(at), 0), call)
    level = math.max(tonumber(stood) - passed_us * rate, 0)
  end
  if outcome == 0 and level + call > capacity then outcome = 5 end
end
local held, now_ms = 0, math.floor(now_us / 1000)
if outcome == 0 and places >= 0 then
  held = redis.call('ZCARD', KEYS[3])
  if held >= places and redis.call('ZCOUNT', KEYS[3], now_ms + 1, '+inf') >= places then outcome = 6 end
end
if outcome == 0 then
  if rate >= 0 then
    level = level + call
    local state = string.format('%.0f %.0f', now_us, level)
    redis.call('SET', KEYS[2], state, 'PX', math.ceil(level / rate / 1000) + 1)
  end
  if places >= 0 then
    if held >= places then redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now_ms) end
    redis.call('ZADD', KEYS[3], now_ms + tonumber(ARGV[7]), ARGV[6])
    redis.call('PEXPIRE', KEYS[3], ARGV[7])
  end
end
if rate <= 0 then return { outcome, points_left, 0, 0, 0 } end
return {
  outcome, points_left, math.max(math.floor((capacity - level) / call), 0),
  math.ceil(level / rate), math.max(math.ceil((level + call - capacity) / rate), 0)
}
`;

/** What a refusal was for, in the order in which the limits are looked at. */
export type RefusedLimit = 'points' | 'traffic' | 'time' | 'rate' | 'places';

const OUTCOMES = ['admitted', 'unprimed', 'points', 'traffic', 'time', 'rate', 'places'] as const;

export type AdmitAnswer = {
  outcome: 'admitted' | 'unprimed' | RefusedLimit;
  /** Null without a limit. */
  pointsLeft: number | null;
  callsLeft: number;
  /** Until the whole minute's worth is there. */
  resetUs: number;
  /** Until one more call fits; after an admission, the next. */
  waitUs: number;
};

export type AskAdmission = (charge: Charge, kind: AdmissionKind, leaseId: string) => Promise<AdmitAnswer>;

/** Defines the admission script: one round trip, on the payer's shard. */
export function createAskAdmission(redis: ScriptableRedis): AskAdmission {
  const ask = defineScript(redis, 'tollgateAdmit', LUA);
  return async ({ payerId, periodId, limits }, kind, leaseId) => {
    const isCall = kind === 'call';
    const timeMs = limits.time_sec_limit === null ? -1 : limits.time_sec_limit * 1000;
    const answer = (await ask(
      [
        liveKey(usageShard(payerId), periodId),
        rateKey(payerId),
        leasesKey(isCall ? 'calls' : 'subscriptions', payerId),
      ],
      [
        limits.points_limit ?? -1,
        limits.traffic_bytes_limit ?? -1,
        isCall ? -1 : timeMs,
        limits.rate_limit ?? -1,
        (isCall ? limits.session_limit : limits.subscription_limit) ?? -1,
        leaseId,
        LEASE_MS,
      ],
    )) as [number, number?, number?, number?, number?];
    const [outcome, pointsLeft = -1, callsLeft = 0, resetUs = 0, waitUs = 0] = answer;
    const name = OUTCOMES[outcome];
    if (name === undefined) throw new Error('the admission script gave an unknown answer');
    return {
      outcome: name,
      pointsLeft: limits.points_limit === null ? null : pointsLeft,
      callsLeft,
      resetUs,
      waitUs,
    };
  };
}
