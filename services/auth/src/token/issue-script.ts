import { CLIENT_CHANGE_CHANNEL } from '@tollgate/contracts/client-change';
import { LUA_DATA_SET, LUA_NOT_TO_DISK } from '@tollgate/redis/script';
import { LUA_CACHED_RECORD, LUA_LISTED } from '../redis/redis-script.ts';

const MINUTE_US = 60_000_000;

/** SHA-256 in base64url, with which a token's key ends. */
const HASH_CHARS = 43;

/**
 * Counts requests of one client and stores as many of their tokens as fit, in their order, by the generic cell rate
 * algorithm: KEYS[1] has the time, in microseconds of Redis' clock, at which the allowance is full again. KEYS[2] and
 * KEYS[3] are the client's record and epoch; if ARGV[6] is given and isn't the current record, nothing is stored. Each
 * key from KEYS[5] on takes a token, dated by Redis' clock, which also ends it. ARGV[4] is the rest of the token's JSON.
 *
 * KEYS[4] lists the tokens, oldest first; one that a repeated refresh stores again is on it. Beyond ARGV[7] of them the
 * oldest end, published as ARGV[8] says. At most twice as many leave the list as join it: those that have ended anyway
 * don't pile up, and a lower limit is reached in steps.
 *
 * Returns how many fitted (-1: the client has changed), the microseconds until one more does, and how many were ended.
 */
export const ISSUE_LUA = `
local cost, most, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local rest, lifespan, client, live_most = ARGV[4], tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7])
if client ~= '' then
  ${LUA_DATA_SET}${LUA_LISTED}${LUA_CACHED_RECORD}
  if cached_record(2) ~= client then return { -1, 0, 0 } end
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local iat = tonumber(time[1])
-- Once as text: redis.call formats a number each time.
local exp = string.format('%d', iat + lifespan)
local record = string.format('{"iat":%d,"exp":%s,', iat, exp) .. rest
local whole = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now)
local fitted, hashes, surplus = 0, {}, 0
while fitted < wanted and whole + cost - now <= most do
  whole = math.floor(whole + cost + 0.5)
  fitted = fitted + 1
  local token = KEYS[4 + fitted]
  if token then
    if redis.call('SET', token, record, 'EXAT', exp, 'GET') then
      redis.call('EXPIREAT', KEYS[4], exp, 'GT')
    else
      hashes[#hashes + 1] = string.sub(token, -${String(HASH_CHARS)})
    end
  end
end
if hashes[1] then
  local list, prefix = KEYS[4], string.sub(KEYS[5], 1, -${String(HASH_CHARS + 1)})
  local listed = redis.call('RPUSH', list, unpack(hashes))
  if listed == #hashes then redis.call('EXPIREAT', list, exp) else redis.call('EXPIREAT', list, exp, 'GT') end
  for _ = 1, 2 * #hashes do
    local hash = redis.call('LINDEX', list, 0)
    if listed > live_most then
      if redis.call('DEL', prefix .. hash) == 1 then
        redis.call('PUBLISH', '${CLIENT_CHANGE_CHANNEL}', ARGV[8] .. hash .. '"}')
        surplus = surplus + 1
      end
    elseif redis.call('EXISTS', prefix .. hash) == 1 then
      break
    end
    redis.call('LPOP', list)
    listed = listed - 1
  end
end
if fitted > 0 and whole > now then
  ${LUA_NOT_TO_DISK}
  redis.call('SET', KEYS[1], whole, 'PX', math.ceil((whole - now) / 1000))
end
return { fitted, math.ceil(whole + cost - now - most), surplus }
`;

export function limitArgs(perMinute: number): [costUs: string, minuteUs: number] {
  return [(MINUTE_US / perMinute).toFixed(3), MINUTE_US];
}
