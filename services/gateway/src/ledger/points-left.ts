import { LIVE_COUNTERS } from '@tollgate/contracts/usage-stream';
import { LUA_DATA_SET, defineScript } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { LUA_BUDGET_LEFT } from './budgets-lua.ts';
import { reachedBudget } from './budgets.ts';
import type { ReachedBudget } from './budgets.ts';
import { LUA_POINTS_LEFT } from './credits-lua.ts';
import { liveKeys, reservationsKey } from './keys.ts';
import type { PrimePayer } from './prime.ts';
import type { PayerEntitlement } from './principal.ts';
import { LUA_RESERVED } from './reservations.ts';

/** Points that can still be used; infinite where nothing limits them. */
export type PointsLeft = {
  /** Of the plan and its credits. */
  ofPayer: number;
  ofBudgets: number;
  /** A budget that doesn't cover what is wanted, and what is left of it. */
  reached: ReachedBudget | null;
  ofReached: number;
  /** Of both, what calls in flight have not reserved; below 0 if usage was more than what was reserved for it. */
  unreserved: number;
};

/** Null if it isn't known at the moment. Never rejects. `wanted` of a budget is one point by default. */
export type ReadPointsLeft = (payer: PayerEntitlement, wanted?: number) => Promise<PointsLeft | null>;

/** No answer of a script can be infinite. */
const UNLIMITED = 2 ** 53;

/**
 * Returns points left of the payer and of budgets, the budget that doesn't cover what is wanted, the time in ms, what
 * isn't reserved, and what is left of that budget; UNLIMITED where nothing limits them.
 */
export const LUA = `${LUA_DATA_SET}${LUA_POINTS_LEFT}${LUA_BUDGET_LEFT}${LUA_RESERVED}
local limit, credits, budgets, is_strict = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4] == '1'
local wanted = tonumber(ARGV[5])
local live = redis.call('HMGET', KEYS[1], 'data_set', 'counters')
if live[1] ~= data_set or not live[2] then return false end
local of_payer, of_budgets, reached, of_reached = math.huge, math.huge, 0, 0
local time = redis.call('TIME')
local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
if credits ~= '' then
  of_payer = points_left_of(credits, KEYS, data_set)
  if not of_payer then return false end
elseif limit >= 0 then of_payer = limit - struct.unpack('${LIVE_COUNTERS}', live[2]) end
if budgets ~= '' then
  reached, of_budgets, of_reached = budget_left(budgets, KEYS[1], now_ms, wanted, {})
  if not reached then return false end
end
local unreserved = math.max(math.min(of_payer, of_budgets), 0)
if is_strict then
  local reserved, of_field = reserved_points(KEYS[#KEYS], now_ms)
  unreserved = of_payer - reserved
  if budgets ~= '' then
    local _, of_budgets_unreserved = budget_left(budgets, KEYS[1], now_ms, 0, of_field)
    unreserved = math.min(unreserved, of_budgets_unreserved)
  end
end
local function told(points) return points == math.huge and ${String(UNLIMITED)} or points end
return {
  told(math.max(of_payer, 0)), told(math.max(of_budgets, 0)), reached, now_ms, told(unreserved), math.max(of_reached, 0)
}
`;

/** What can still be used of a payer's points and of its caller's budgets. Missing live counters are rebuilt meanwhile. */
export function createReadPointsLeft(redis: ScriptableRedis, primePayer: PrimePayer): ReadPointsLeft {
  const read = defineScript(redis, LUA);
  return async (payer, wanted = 1) => {
    const { credits, budgets, limits, reservesPoints } = payer;
    if (credits === null && budgets === null && limits.points_limit === null) return NOT_LIMITED;
    try {
      const answer = await read(
        reservesPoints ? [...liveKeys(payer), reservationsKey(payer.payerId)] : liveKeys(payer),
        [
          limits.points_limit ?? -1,
          credits?.argument ?? '',
          budgets?.argument ?? '',
          reservesPoints ? 1 : 0,
          wanted,
        ],
      );
      if (answer !== null) return pointsLeft(payer, answer as number[]);
      await primePayer(payer);
    } catch {
      // Redis or account is away: the next settlement asks again.
    }
    return null;
  };
}

function pointsLeft(
  { budgets }: PayerEntitlement,
  [ofPayer = 0, ofBudgets = 0, reached = 0, nowMs = 0, unreserved = 0, ofReached = 0]: number[],
): PointsLeft {
  return {
    ofPayer: limited(ofPayer),
    ofBudgets: limited(ofBudgets),
    reached: budgets === null ? null : reachedBudget(budgets, { reached, nowMs }),
    ofReached,
    unreserved: limited(unreserved),
  };
}

const NOT_LIMITED: PointsLeft = {
  ofPayer: Infinity,
  ofBudgets: Infinity,
  reached: null,
  ofReached: Infinity,
  unreserved: Infinity,
};

function limited(points: number): number {
  return points >= UNLIMITED ? Infinity : points;
}
