-- Redis script: admits one call of a payer, or says which limit refuses it. A limit of -1 isn't part of the plan.
-- KEYS: counters, rate, slots. ARGV: limits of points, traffic, rate and slots, a slot's ms, the call's id.
-- Returns 0 or the refusal (1 points, 2 traffic, 3 rate, 4 slots), points left, calls left, seconds until all are.
local points_limit, traffic_limit = tonumber(ARGV[1]), tonumber(ARGV[2])
local rate, slots, slot_ms = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
-- As ours: only usage is synced to disk.
redis.set_repl(redis.REPL_REPLICA)

local used = redis.call('HMGET', KEYS[1], 'points', 'traffic_bytes')
local points_left = points_limit < 0 and -1 or math.max(points_limit - tonumber(used[1] or 0), 0)
if points_left == 0 then return { 1 } end
if traffic_limit >= 0 and tonumber(used[2] or 0) >= traffic_limit then return { 2 } end

local time = redis.call('TIME')
local now_us = time[1] * 1000000 + time[2]
local now_ms = math.floor(now_us / 1000)

-- GCRA: a minute's worth may come at once.
local full_at, interval = now_us, 0
if rate >= 0 then
  interval = 60000000 / rate
  full_at = math.max(tonumber(redis.call('GET', KEYS[2]) or 0), now_us) + interval
  if full_at - now_us > 60000000 then return { 3 } end
end
if slots >= 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now_ms)
  if redis.call('ZCARD', KEYS[3]) >= slots then return { 4 } end
  redis.call('ZADD', KEYS[3], now_ms + slot_ms, ARGV[6])
  redis.call('PEXPIRE', KEYS[3], slot_ms)
end
local calls_left, reset_us = 0, full_at - now_us
if rate >= 0 then
  redis.call('SET', KEYS[2], string.format('%.3f', full_at), 'PX', math.ceil(reset_us / 1000) + 1)
  calls_left = math.floor((60000000 - reset_us) / interval)
end
return { 0, points_left, calls_left, math.ceil(reset_us / 1000000) }
