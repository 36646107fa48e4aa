import { LIVE_COUNTERS } from '@tollgate/contracts/usage-stream';
import { LUA_NOT_TO_DISK } from '@tollgate/redis/script';

/**
 * Cuts: the points of a live period at an instant of the payer's credits (docs/design/admission.md). Instants that are
 * announced in the field `instants` (ascending, separated by spaces) become cuts (`cut:<ms>`) before the first points
 * are added at or after them, so the present points are theirs.
 */
export const LUA_CUTS = `
local function first_instant(instants) return tonumber(string.match(instants, '^%d+')) end
local function announce(key, instants)
  if instants == '' then redis.call('HDEL', key, 'instants') else redis.call('HSET', key, 'instants', instants) end
end
local function fix_cuts(key, instants, points, now_ms)
  local later = {}
  for at in string.gmatch(instants, '%d+') do
    if tonumber(at) > now_ms then later[#later + 1] = at
    else redis.call('HSETNX', key, 'cut:' .. at, string.format('%d', points)) end
  end
  later = table.concat(later, ' ')
  announce(key, later)
  return later
end
-- The union of two lists of instants, without those that have passed.
local function later_instants(some, others, now_ms)
  local all, known = {}, {}
  for at in string.gmatch(some .. ' ' .. others, '%d+') do
    if tonumber(at) > now_ms and not known[at] then
      known[at] = true
      all[#all + 1] = at
    end
  end
  table.sort(all, function(one, other) return tonumber(one) < tonumber(other) end)
  return table.concat(all, ' ')
end
`;

/**
 * `points_left` of a payer with credits, from its argument (PayerCredits) and the live keys of the current and the open
 * periods: the unused included points of the current period, and what use by all of these periods has left of the
 * grants. Nil if the live counters of a period, or its cut at an instant that has passed, are missing. The second value
 * is the next instant in ms, infinite without one.
 * Use between two instants is taken from the grants that were usable then, in their order; what they don't cover is
 * forgiven, so that a later grant never pays for it.
 */
export const LUA_POINTS_LEFT = `${LUA_CUTS}
local function add_excess(sums, index, points, covered)
  sums[index] = (sums[index] or 0) + math.max(points - covered, 0)
end
local function unused_of(grants, passed, excess_at, excess, now_ms)
  local allocated, usable = 0, 0
  for index, at in ipairs(passed) do
    local demand = math.max(excess_at[index] - allocated, 0)
    allocated = allocated + demand
    for _, grant in ipairs(grants) do
      if grant[2] < at and at <= grant[3] then
        local taken = math.min(demand, grant[1])
        demand, grant[1] = demand - taken, grant[1] - taken
      end
    end
  end
  for _, grant in ipairs(grants) do
    if grant[2] <= now_ms and now_ms < grant[3] then usable = usable + grant[1] end
  end
  return math.max(usable - math.max(excess - allocated, 0), 0)
end
local function points_left_of(argument, live_keys, data_set)
  local summary, grants = string.match(argument, '^(.-)\\n(.*)$')
  local credits = cjson.decode(summary)
  local instants, now_ms, next_ms = credits.instants, 0, math.huge
  local passed, fields, excess, excess_at, included_left = {}, {}, {}, {}, 0
  if instants ~= '' then
    ${LUA_NOT_TO_DISK}
    local time = redis.call('TIME')
    now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
    for at in string.gmatch(instants, '%d+') do
      if tonumber(at) > now_ms then
        next_ms = tonumber(at)
        break
      end
      passed[#passed + 1], fields[#fields + 1] = tonumber(at), 'cut:' .. at
    end
  end
  for index, covered in ipairs(credits.covered) do
    local key = live_keys[index]
    local live = redis.call('HMGET', key, 'data_set', 'counters', 'instants')
    if live[1] ~= data_set or not live[2] then return nil end
    local points = struct.unpack('${LIVE_COUNTERS}', live[2])
    if index == 1 then included_left = math.max(covered - points, 0) end
    add_excess(excess, 1, points, covered)
    local announced = live[3] or ''
    if announced ~= '' and first_instant(announced) <= now_ms then
      announced = fix_cuts(key, announced, points, now_ms)
    end
    if announced ~= instants then
      local later = later_instants(announced, instants, now_ms)
      if later ~= announced then announce(key, later) end
    end
    if #passed > 0 then
      for at, cut in ipairs(redis.call('HMGET', key, unpack(fields))) do
        if not cut then return nil end
        add_excess(excess_at, at, tonumber(cut), covered)
      end
    end
  end
  local unused = nil
  if #passed == 0 then unused = math.max(credits.usable - excess[1], 0)
  else unused = unused_of(cjson.decode(grants), passed, excess_at, excess[1], now_ms) end
  return included_left + unused, next_ms
end
`;
