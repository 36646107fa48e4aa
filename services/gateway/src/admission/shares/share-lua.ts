/** How long Redis keeps an unreturned share for its holder: longer than any gateway uses one without renewal. */
export const RESERVED_MS = 1_000;

/** How long a payer gets no shares after one was recalled: a limit is near. Longer than any share is reserved. */
export const RECALL_MS = 1_500;

/**
 * A payer's shares (ADR 0070): a hash of `<reserved until, µs> <calls> <slots> <slots reserved until, µs>` by gateway.
 * `outstanding` charges the calls of shares that weren't returned in time to the rate, as if they had been made: their
 * holders no longer use them. Their slots stay taken as long as leases do, because calls may be in flight.
 * Returns the level, calls and slots of valid shares, slots of others, the number of valid shares, and calls charged.
 * `recall` asks the gateways to return a payer's shares, and stops new ones.
 */
export const LUA_SHARES = `
local reserved_us, recall_us, recall_again_us = ${String(RESERVED_MS * 1_000)}, ${String(RECALL_MS * 1_000)}, 50000
local function parsed(share)
  local until_us, calls, slots, slots_until_us = string.match(share, '^(%d+) (%d+) (%d+) (%d+)$')
  return tonumber(until_us), tonumber(calls), tonumber(slots), tonumber(slots_until_us)
end
-- One that lies further ahead was granted before the clock was set back.
local function is_valid(until_us, now_us) return until_us > now_us and until_us <= now_us + reserved_us end
local function store_share(key, holder, until_us, calls, slots, slots_until_us)
  redis.call('HSET', key, holder, string.format('%d %d %d %d', until_us, calls, slots, slots_until_us))
end
local function outstanding(key, rate_key, now_us, level, rate)
  local calls, slots, lost_slots, count, spent = 0, 0, 0, 0, 0
  local fields = redis.call('HGETALL', key)
  for index = 1, #fields, 2 do
    if fields[index] ~= 'recalled_until_us' then
      local until_us, own_calls, own_slots, slots_until_us = parsed(fields[index + 1])
      if is_valid(until_us, now_us) then
        calls, slots, count = calls + own_calls, slots + own_slots, count + 1
      else
        local spends = rate > 0 and own_calls > 0
        if spends then spent = spent + own_calls end
        if slots_until_us <= now_us and (spends or own_calls == 0) then redis.call('HDEL', key, fields[index])
        else
          if slots_until_us > now_us then lost_slots = lost_slots + own_slots end
          if spends then store_share(key, fields[index], until_us, 0, own_slots, slots_until_us) end
        end
      end
    end
  end
  if spent > 0 then
    level = level + spent * call
    store_level(rate_key, now_us, level, rate)
  end
  return level, calls, slots, lost_slots, count, spent
end
-- Stays until the next report, so that a gateway can tell whether others changed it.
local function store_reported_level(key, now_us, level, rate)
  local state = store_level(key, now_us, level, rate)
  if redis.call('PTTL', key) < reserved_us / 1000 then redis.call('PEXPIRE', key, reserved_us / 1000) end
  return state
end
local function recall(key, channel, now_us)
  local until_us = tonumber(redis.call('HGET', key, 'recalled_until_us') or '0')
  if until_us >= now_us + recall_us - recall_again_us then return end
  redis.call('HSET', key, 'recalled_until_us', string.format('%d', now_us + recall_us))
  redis.call('PUBLISH', channel, string.match(key, '(%d+)$'))
end
`;
