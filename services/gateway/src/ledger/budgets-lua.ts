import { liveBudgetField } from '@tollgate/contracts/usage-stream';
import { DAY_MS } from './budgets.ts';

/**
 * What an application or a member has spent (docs/design/admission.md): the points of the period, the newest UTC day
 * with points, counted from 1970-01-01, and the points of that day. Usage belongs to the day that its `at_ms` is in,
 * as in account's hourly rows; that of an earlier day can't be of the present one.
 */
export const LUA_SPENT = `
local day_ms = ${String(DAY_MS)}
local function spent_at(text)
  local points, day, of_day = string.match(text, '^(%d+) (%d+) (%d+)$')
  return { points = tonumber(points), day = tonumber(day), of_day = tonumber(of_day) }
end
local function spend_in_day(spent, day, points)
  if day > spent.day then spent.day, spent.of_day = day, points
  elseif day == spent.day then spent.of_day = spent.of_day + points end
end
local function store_spent(key, field, spent)
  redis.call('HSET', key, field, string.format('%d %d %d', spent.points, spent.day, spent.of_day))
end
`;

/**
 * `budget_left` of a caller, from its argument (CallerBudgets) and the live key of the current period: which budget is
 * used up first in the argument's order (0 none; twice its number less 1 for the period's, twice its number for the
 * day's), the least that is left of any, and what is left of that which is used up. Nil if it isn't known what was spent. A budget is used up if less than
 * `wanted` is left of it beyond what is reserved of its field.
 */
export const LUA_BUDGET_LEFT = `${LUA_SPENT}
local function budget_left(argument, key, now_ms, wanted, reserved)
  local fields, limits = {}, {}
  for field, per_period, per_day in string.gmatch(argument, '(%S+) (%S+) (%S+)') do
    fields[#fields + 1] = field
    limits[#limits + 1] = { tonumber(per_period), tonumber(per_day) }
  end
  local reached, left, of_reached, today = 0, math.huge, 0, math.floor(now_ms / day_ms)
  for index, text in ipairs(redis.call('HMGET', key, unpack(fields))) do
    if not text then return nil end
    local spent = spent_at(text)
    local used = { spent.points, spent.day >= today and spent.of_day or 0 }
    for window, limit in ipairs(limits[index]) do
      if limit >= 0 then
        local free = limit - used[window] - (reserved[fields[index]] or 0)
        if free < wanted and reached == 0 then reached, of_reached = 2 * (index - 1) + window, free end
        left = math.min(left, free)
      end
    end
  end
  return reached, left, of_reached
end
`;

/** Of live counters: the figures of a budget whose calls gateways may admit from shares, and until when. */
const LUA_SHARED_BUDGETS = `
local function shared_field(field) return 'shared:' .. field end
local function shared_at(text)
  local until_us, per_period, per_day = string.match(text or '', '^(%d+) (-?%d+) (-?%d+)$')
  return { until_us = tonumber(until_us) or 0, per_period = tonumber(per_period), per_day = tonumber(per_day) }
end
`;

/**
 * `cover` a caller by a share of its payer's limits: until then, a settlement that reaches one of its budgets recalls the
 * payer's shares. While a changed figure is on its way, gateways may hold shares of different ones: the lower holds.
 */
export const LUA_COVER = `${LUA_SHARED_BUDGETS}
local function lower(one, other)
  if one < 0 or other < 0 then return math.max(one, other) end
  return math.min(one, other)
end
local function cover(argument, key, now_us, until_us)
  for field, per_period, per_day in string.gmatch(argument, '(%S+) (%S+) (%S+)') do
    per_period, per_day = tonumber(per_period), tonumber(per_day)
    local other = shared_at(redis.call('HGET', key, shared_field(field)))
    if other.until_us > now_us then
      per_period, per_day = lower(per_period, other.per_period), lower(per_day, other.per_day)
    end
    redis.call('HSET', key, shared_field(field), string.format('%d %d %d', until_us, per_period, per_day))
  end
  redis.call('HSET', key, 'shared_budgets', '1')
end
`;

/**
 * `spend` adds a batch's usage to what is known of budgets in a period's live counters, if it wasn't added before
 * (`adds`). The batch is decoded once for all of its periods. Nothing in it may raise an error, because the batch is in
 * the stream then.
 * Returns until when shares may admit calls by a budget that is used up now, in µs; 0 if there is none. One of which it
 * isn't known what was spent may be used up.
 */
export const LUA_SPEND = `${LUA_SPENT}${LUA_SHARED_BUDGETS}
local uses_by_period = nil
local function decode_uses(json)
  uses_by_period = {}
  for _, event in ipairs(cjson.decode(json).events) do
    local period, points, at_ms = tonumber(event.period_id), tonumber(event.points), tonumber(event.at_ms)
    if period and points and at_ms and points > 0 then
      uses_by_period[period] = uses_by_period[period] or {}
      local uses = uses_by_period[period]
      local owners = {
        ['${liveBudgetField('application', '%d')}'] = tonumber(event.application_id),
        ['${liveBudgetField('member', '%d')}'] = tonumber(event.account_id),
      }
      for format, id in pairs(owners) do
        local field = string.format(format, id)
        uses[field] = uses[field] or {}
        table.insert(uses[field], { points = points, day = math.floor(at_ms / day_ms) })
      end
    end
  end
end
local function is_used_up(shared, spent)
  if not spent then return true end
  return shared.per_period >= 0 and spent.points >= shared.per_period
    or shared.per_day >= 0 and spent.of_day >= shared.per_day
end
local function spend(key, json, adds, is_shared)
  if not uses_by_period then decode_uses(json) end
  local uses, fields, shared_until_us = uses_by_period[tonumber(string.match(key, '%d+$'))], {}, 0
  for field in pairs(uses or {}) do fields[#fields + 1] = field end
  if #fields == 0 then return 0 end
  for index, text in ipairs(redis.call('HMGET', key, unpack(fields))) do
    local field, spent = fields[index], text and spent_at(text)
    if spent and adds then
      for _, use in ipairs(uses[field]) do
        spent.points = spent.points + use.points
        spend_in_day(spent, use.day, use.points)
      end
      store_spent(key, field, spent)
    end
    local shared = shared_at(is_shared and redis.call('HGET', key, shared_field(field)))
    if shared.until_us > shared_until_us and is_used_up(shared, spent) then shared_until_us = shared.until_us end
  end
  return shared_until_us
end
`;
