import { LUA_DATA_SET, LUA_NOT_TO_DISK } from '@tollgate/redis/script';
import { LUA_CACHED_RECORD, LUA_LISTED } from '../redis/redis-script.ts';

const MINUTE_US = 60_000_000;

/**
 * Counts requests of one client and stores as many of their tokens as fit, in their order, by the generic cell rate
 * algorithm: KEYS[1] has the time, in microseconds of Redis' clock, at which the allowance is full again. KEYS[2] and
 * KEYS[3] are the client's record and epoch; if ARGV[6] is given and isn't the current record, nothing is stored. Each
 * further key takes a token, dated by Redis' clock, which also ends it. ARGV[4] is the rest of the token's JSON.
 *
 * Returns how many fitted (-1: the client has changed), and the microseconds until one more does.
 */
export const ISSUE_LUA = `
local cost, most, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local rest, lifespan, client = ARGV[4], tonumber(ARGV[5]), ARGV[6]
if client ~= '' then
  ${LUA_DATA_SET}${LUA_LISTED}${LUA_CACHED_RECORD}
  if cached_record(2) ~= client then return { -1, 0 } end
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local iat = tonumber(time[1])
-- Once as text: redis.call formats a number each time.
local exp = string.format('%d', iat + lifespan)
local record = string.format('{"iat":%d,"exp":%s,', iat, exp) .. rest
local whole = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now)
local fitted = 0
while fitted < wanted and whole + cost - now <= most do
  whole = math.floor(whole + cost + 0.5)
  fitted = fitted + 1
  local token = KEYS[3 + fitted]
  if token then redis.call('SET', token, record, 'EXAT', exp) end
end
if fitted > 0 then
  ${LUA_NOT_TO_DISK}
  redis.call('SET', KEYS[1], whole, 'PX', math.ceil((whole - now) / 1000))
end
return { fitted, math.ceil(whole + cost - now - most) }
`;

export function limitArgs(perMinute: number): [costUs: string, minuteUs: number] {
  return [(MINUTE_US / perMinute).toFixed(3), MINUTE_US];
}
