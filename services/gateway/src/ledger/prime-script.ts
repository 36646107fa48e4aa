import {
  LIVE_COUNTERS,
  LUA_FORGET_BUDGETS,
  USAGE_BATCH_FIELD,
  liveBudgetField,
  usageFenceKey,
  usageFloorKey,
  usageLanesKey,
  usageLiveKey,
  usageShard,
  usageStreamKey,
  usageTrimmedKey,
  usageVersionKey,
} from '@tollgate/contracts/usage-stream';
import type { Spent, UsageSnapshot } from '@tollgate/contracts/usage-stream';
import { LUA_DATA_SET, LUA_STREAM_ID_IS_AFTER, defineScript } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { LUA_SPENT } from './budgets-lua.ts';
import { BUDGET_OWNERS, DAY_MS } from './budgets.ts';
import type { CallerBudgets } from './budgets.ts';
import { LUA_CUTS } from './credits-lua.ts';

/** How long live counters outlast their last use. */
export const LIVE_TTL_SEC = 86_400;

/** Longer than a gateway uses a share without its renewal (MAX_TRUST_MS), with a margin for clocks. */
const FENCE_MS = 500;

/**
 * In one step, so that no batch comes between:
 * - nothing, but the ms to wait, if Redis has lost what it knew of the lane: gateways may still use shares that it
 *   doesn't know of, and would not notice that a limit is reached (docs/design/admission.md). A lane of which account has counted
 *   nothing is a new one.
 * - "stale" if the snapshot lacks trimmed entries, account has announced a newer version (docs/design/counting.md), or
 *   there are more lanes than when it was made;
 * - moves the stream's next id past all that account has counted: a Redis that lost its data, or whose clock is behind,
 *   would write ids that account never reads;
 * - sets the counters to the snapshot plus the entries after it, without unreadable ones, which account sets aside too;
 * - sets the period's cuts at the instants of the payer's credits: what the snapshot states, else its points plus the
 *   entries with an ID before the instant;
 * - sets what the caller's budgets have spent, in the same way. What is known of others stays, unless it lacks usage
 *   that came by no stream.
 */
const LUA = `${LUA_DATA_SET}${LUA_STREAM_ID_IS_AFTER}${LUA_CUTS}${LUA_SPENT}${LUA_FORGET_BUDGETS}
local stream, trimmed_key, floor, live = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local position, period, field = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local trimmed = redis.call('GET', trimmed_key)
if trimmed and is_after(trimmed, position) then return 0 end
local told = redis.call('GET', KEYS[5])
if told and tonumber(told) > tonumber(ARGV[9]) then return 0 end
local lanes = redis.call('GET', KEYS[7])
if lanes and tonumber(lanes) > tonumber(ARGV[13]) then return 0 end
local time = redis.call('TIME')
local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
if position ~= '0-0' and redis.call('GET', floor) ~= data_set then
  local fence_ms = tonumber(ARGV[10])
  local fenced, until_ms = string.match(redis.call('GET', KEYS[6]) or '', '^(%S+) (%d+)$')
  if fenced ~= data_set then
    until_ms = string.format('%d', now_ms + fence_ms)
    redis.call('SET', KEYS[6], data_set .. ' ' .. until_ms, 'EX', ARGV[4])
  end
  local left_ms = tonumber(until_ms) - now_ms
  -- More is left only if the clock was set back.
  if left_ms > 0 and left_ms <= fence_ms then return { left_ms } end
end
local names = { 'points', 'requests', 'time_ms', 'traffic_bytes' }
local sums = {}
for index, name in ipairs(names) do sums[name] = tonumber(ARGV[4 + index]) end
local cuts, last_ms = {}, 0
local budgets = ARGV[11] == '' and {} or cjson.decode(ARGV[11])
local function spend(event)
  for _, spent in ipairs(budgets) do
    if event.payer_id == spent.payer_id and event[spent.owner] == spent.id then
      local points = tonumber(event.points) or 0
      if event.period_id == period then spent.points = spent.points + points end
      spend_in_day(spent, math.floor((tonumber(event.at_ms) or 0) / day_ms), points)
    end
  end
end
for index = 14, #ARGV, 2 do
  local stated = tonumber(ARGV[index + 1])
  cuts[#cuts + 1] = { at = ARGV[index], is_stated = stated ~= nil, points = stated or sums.points }
end
for _, entry in ipairs(redis.call('XRANGE', stream, '(' .. position, '+')) do
  local text, readable, batch = entry[2][1] == field and entry[2][2] or '', false, nil
  -- A lane has batches of many payers, and a search costs far less than decoding one.
  if string.find(text, ARGV[12], 1, true) then readable, batch = pcall(cjson.decode, text) end
  local events = readable and type(batch) == 'table' and batch.events
  last_ms = tonumber(string.match(entry[1], '^%d+'))
  for _, event in ipairs(type(events) == 'table' and events or {}) do
    if type(event) == 'table' then spend(event) end
    if type(event) == 'table' and event.period_id == period then
      for _, cut in ipairs(cuts) do
        local is_before = not cut.is_stated and last_ms < tonumber(cut.at)
        if is_before then cut.points = cut.points + (tonumber(event.points) or 0) end
      end
      for _, name in ipairs(names) do sums[name] = sums[name] + (tonumber(event[name]) or 0) end
    end
  end
end
if position ~= '0-0' then
  if redis.call('EXISTS', stream) == 0 then
    redis.call('XADD', stream, position, 'floor', '')
    redis.call('XDEL', stream, position)
  else
    local facts = redis.call('XINFO', 'STREAM', stream)
    for index = 1, #facts, 2 do
      if facts[index] == 'last-generated-id' and is_after(position, facts[index + 1]) then
        redis.call('XSETID', stream, position)
      end
    end
  end
end
local before_set, known, version = unpack(redis.call('HMGET', live, 'data_set', 'instants', 'usage_version'))
local announced = before_set == data_set and known or ''
if before_set ~= data_set then
  for _, name in ipairs(redis.call('HKEYS', live)) do
    if name == 'instants' or string.find(name, '^cut:') then redis.call('HDEL', live, name) end
  end
end
if before_set ~= data_set or version ~= ARGV[9] then forget_budgets(live) end
for _, spent in ipairs(budgets) do
  store_spent(live, spent.field, spent)
  redis.call('HSET', live, 'budgets', '1')
end
if announced ~= '' then announced = fix_cuts(live, announced, sums.points, now_ms) end
local later = announced
for _, cut in ipairs(cuts) do
  if cut.is_stated or tonumber(cut.at) <= math.max(now_ms, last_ms) then
    redis.call('HSET', live, 'cut:' .. cut.at, string.format('%d', cut.points))
  else later = later_instants(later, cut.at, now_ms) end
end
if later ~= announced then announce(live, later) end
local counters = struct.pack('${LIVE_COUNTERS}', sums.points, sums.requests, sums.time_ms, sums.traffic_bytes)
redis.call('HSET', live, 'data_set', data_set, 'usage_version', ARGV[9], 'counters', counters)
redis.call('EXPIRE', live, ARGV[4])
redis.call('SET', floor, data_set)
if lanes ~= ARGV[13] and ARGV[13] ~= '0' then redis.call('SET', KEYS[7], ARGV[13]) end
return 1
`;

/**
 * `stale`: the snapshot is older than what account has trimmed, so a newer one is needed. A number: the ms after which
 * shares of before the loss of Redis' data have ended; then a newer one is needed too.
 */
export type PrimeFrom = (
  snapshot: UsageSnapshot,
  instantsMs: readonly number[],
  budgets: CallerBudgets | null,
) => Promise<'primed' | 'stale' | number>;

export function createPrimeFrom(redis: ScriptableRedis): PrimeFrom {
  const prime = defineScript(redis, LUA);
  return async (snapshot, instantsMs, budgets) => {
    const stated = new Map(snapshot.cuts?.map((cut) => [cut.at_ms, cut.points]));
    const { period_id, stream_position, points, requests, time_ms, traffic_bytes, usage_version } = snapshot;
    const shard = usageShard(snapshot.payer_id);
    const lane = snapshot.usage_lane ?? shard;
    const answer = await prime(
      [
        usageStreamKey(lane),
        usageTrimmedKey(lane),
        usageFloorKey(lane),
        usageLiveKey(shard, period_id),
        usageVersionKey(shard, period_id),
        usageFenceKey(lane),
        usageLanesKey(lane),
      ],
      [
        stream_position,
        period_id,
        USAGE_BATCH_FIELD,
        LIVE_TTL_SEC,
        points,
        requests,
        time_ms,
        traffic_bytes,
        usage_version,
        FENCE_MS,
        budgets === null ? '' : JSON.stringify(spentOf(snapshot, budgets)),
        // As JSON.stringify writes it; also the beginning of longer ids, whose batches are decoded for nothing.
        `"payer_id":${String(snapshot.payer_id)}`,
        snapshot.usage_lanes ?? 0,
        ...instantsMs.flatMap((atMs) => [atMs, stated.get(atMs) ?? '']),
      ],
    );
    if (Array.isArray(answer)) return Number(answer[0]);
    return answer === 1 ? 'primed' : 'stale';
  };
}

/** @throws {Error} if account doesn't state what a budget has spent */
function spentOf({ payer_id, budgets: stated }: UsageSnapshot, { all }: CallerBudgets): object[] {
  return all.map(({ kind, id }) => {
    const spent = stated?.[kind];
    if (spent === undefined) throw new Error(`account does not state what the budget of a ${kind} has spent`);
    return {
      payer_id,
      owner: BUDGET_OWNERS[kind],
      id,
      field: liveBudgetField(kind, id),
      ...newestDay(spent),
    };
  });
}

/** As LUA_SPENT counts days. */
function newestDay({ points, days }: Spent): { points: number; day: number; of_day: number } {
  const newest = days.at(-1);
  if (newest === undefined) return { points, day: 0, of_day: 0 };
  return { points, day: Date.parse(newest.day) / DAY_MS, of_day: newest.points };
}
