/** How long Redis keeps an unreturned share for its holder: longer than any gateway uses one without renewal. */
export const RESERVED_MS = 1_000;

/** How long a payer gets no shares after one was recalled: a limit is near. Longer than any share is reserved. */
export const RECALL_MS = 1_500;

/**
 * A payer's shares (docs/design/admission.md): a hash of `<reserved until, µs> <calls> <slots> <slots reserved until,
 * µs>` by gateway.
 * `outstanding` charges the calls of shares that weren't returned in time to the rate, as if they had been made: their
 * holders no longer use them. Their slots stay taken as long as leases do, because calls may be in flight.
 * Returns the level, and in one table: calls and slots of valid shares, slots of others, the number of valid shares,
 * calls charged, the share of `holder` if it is stored, and until when the payer gets none.
 * `recall` asks the gateways to return a payer's shares, and stops new ones.
 */
export const LUA_SHARES = `
local reserved_us, recall_us, recall_again_us = ${String(RESERVED_MS * 1_000)}, ${String(RECALL_MS * 1_000)}, 50000
local function parsed(text)
  local until_us, calls, slots, slots_until_us = string.match(text, '^(%d+) (%d+) (%d+) (%d+)$')
  return {
    until_us = tonumber(until_us), calls = tonumber(calls),
    slots = tonumber(slots), slots_until_us = tonumber(slots_until_us),
  }
end
-- One that lies further ahead was granted before the clock was set back.
local function is_valid(share, now_us) return share.until_us > now_us and share.until_us <= now_us + reserved_us end
local function store_share(key, holder, share)
  local text = string.format('%d %d %d %d', share.until_us, share.calls, share.slots, share.slots_until_us)
  redis.call('HSET', key, holder, text)
end
local function outstanding(key, rate_key, now_us, level, rate, holder)
  local all = { calls = 0, slots = 0, lost_slots = 0, count = 0, spent = 0, own = nil, recalled_until_us = 0 }
  local fields = redis.call('HGETALL', key)
  for index = 1, #fields, 2 do
    if fields[index] == 'recalled_until_us' then all.recalled_until_us = tonumber(fields[index + 1])
    else
      local share, is_kept = parsed(fields[index + 1]), true
      if is_valid(share, now_us) then
        all.calls, all.slots, all.count = all.calls + share.calls, all.slots + share.slots, all.count + 1
      else
        local spends = rate > 0 and share.calls > 0
        if spends then all.spent, share.calls = all.spent + share.calls, 0 end
        is_kept = share.slots_until_us > now_us or share.calls > 0
        if share.slots_until_us > now_us then all.lost_slots = all.lost_slots + share.slots end
        if not is_kept then redis.call('HDEL', key, fields[index])
        elseif spends then store_share(key, fields[index], share) end
      end
      if is_kept and fields[index] == holder then all.own = share end
    end
  end
  if all.spent > 0 then
    level = level + all.spent * call
    store_level(rate_key, now_us, level, rate)
  end
  return level, all
end
local function recall(key, channel, now_us)
  local until_us = tonumber(redis.call('HGET', key, 'recalled_until_us') or '0')
  if until_us >= now_us + recall_us - recall_again_us then return end
  redis.call('HSET', key, 'recalled_until_us', string.format('%d', now_us + recall_us))
  redis.call('PUBLISH', channel, string.match(key, '(%d+)$'))
end
`;
