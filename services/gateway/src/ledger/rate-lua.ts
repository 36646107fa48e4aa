/** A call's weight in the leaky bucket, so that draining needs whole numbers only. */
export const CALL = 60_000_000;

/** `now_us` by Redis' clock. */
export const LUA_NOW = `
local time = redis.call('TIME')
local now_us = tonumber(time[1]) * 1000000 + tonumber(time[2])
`;

/**
 * The rate's leaky bucket (GCRA, ITU-T I.371, annex A): the level is in calls × 60,000,000 and drains by `rate` per
 * microsecond of Redis' clock. A change of plan, or a clock that is set back, keeps what is used.
 */
export const LUA_RATE = `
local call = ${String(CALL)}
local function level_at(state, now_us, rate)
  if not state then return 0 end
  local at, stood = string.match(state, '^(%d+) (%d+)$')
  local passed_us = math.min(math.max(now_us - tonumber(at), 0), call)
  return math.max(tonumber(stood) - passed_us * rate, 0)
end
local function calls_within(room)
  local fitting = math.floor(math.max(room, 0) / call)
  -- The quotient may have been rounded up.
  if fitting * call > room then fitting = fitting - 1 end
  return math.max(fitting, 0)
end
-- Kept until it has drained, and for at least this long.
local function store_level(key, now_us, level, rate, min_ms)
  local state = string.format('%d %d', now_us, level)
  local ttl_ms = math.max(math.ceil(level / rate / 1000) + 1, min_ms or 0)
  redis.call('SET', key, state, 'PX', string.format('%d', ttl_ms))
  return state
end
`;
