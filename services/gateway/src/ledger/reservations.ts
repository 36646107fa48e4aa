import { liveBudgetField } from '@tollgate/contracts/usage-stream';
import type { CallerBudgets } from './budgets.ts';

/**
 * The member of a call's lease of points (docs/design/admission.md): what it reserves, and the budgets that this counts
 * against. The lease is renewed, released and handed over to the settlement as slots are.
 */
export function reservation(points: number, unique: string, budgets: CallerBudgets | null): string {
  const fields = budgets?.all.map(({ kind, id }) => ` ${liveBudgetField(kind, id)}`) ?? [];
  return `${String(points)} ${unique}${fields.join('')}`;
}

/**
 * How long after a loss of Redis' data nothing is reserved: gateways renew their reservations within 3.75 s, and points
 * that Redis doesn't know of must not be given twice.
 */
const RESTORED_MS = 5_000;

/**
 * `reserved_points` of a payer: their sum, and the sum of each budget by its live field. The work grows with the calls
 * in flight. `is_restoring` tells whether reservations of before a loss of data may be missing, by the shard's fence.
 */
export const LUA_RESERVED = `
local function reserved_points(key, now_ms)
  local sum, of_field = 0, {}
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', key, string.format('(%d', now_ms), '+inf')) do
    local points, fields = string.match(member, '^(%d+) %S+(.*)$')
    points = tonumber(points)
    sum = sum + points
    for field in string.gmatch(fields, '%S+') do of_field[field] = (of_field[field] or 0) + points end
  end
  return sum, of_field
end
local function is_restoring(fence_key, data_set, now_ms)
  local fenced, until_ms = string.match(redis.call('GET', fence_key) or '', '^(%S+) (%d+)$')
  return fenced == data_set and now_ms < tonumber(until_ms) + ${String(RESTORED_MS)}
end
`;
