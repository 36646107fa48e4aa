import { LUA_DATA_SET, defineScript } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { LUA_BUDGET_LEFT } from './budgets-lua.ts';
import { reachedBudget } from './budgets.ts';
import type { ReachedBudget } from './budgets.ts';
import { LUA_POINTS_LEFT } from './credits-lua.ts';
import { liveKeys } from './keys.ts';
import type { PrimePayer } from './prime.ts';
import type { PayerEntitlement } from './principal.ts';

/** Points that can still be used, infinite without credits and budgets respectively. */
export type PointsLeft = {
  ofCredits: number;
  ofBudgets: number;
  /** If the latter are 0. */
  reached: ReachedBudget | null;
};

/** Null if it isn't known at the moment. Never rejects. */
export type ReadPointsLeft = (payer: PayerEntitlement) => Promise<PointsLeft | null>;

/** Returns points left of credits and of budgets, -1 without them; the budget that is used up; and the time in ms. */
export const LUA = `${LUA_DATA_SET}${LUA_POINTS_LEFT}${LUA_BUDGET_LEFT}
local credits, budgets = ARGV[1], ARGV[2]
local of_credits, of_budgets, reached, now_ms = -1, -1, 0, 0
if credits ~= '' then
  of_credits = points_left_of(credits, KEYS, data_set)
  if not of_credits then return false end
end
if budgets ~= '' then
  if redis.call('HGET', KEYS[1], 'data_set') ~= data_set then return false end
  local time = redis.call('TIME')
  now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  reached, of_budgets = budget_left(budgets, KEYS[1], now_ms)
  if not reached then return false end
end
return { of_credits, of_budgets, reached, now_ms }
`;

/**
 * What open subscriptions can still use of their payer's credits and their caller's budgets. Missing live counters are
 * rebuilt meanwhile.
 */
export function createReadPointsLeft(redis: ScriptableRedis, primePayer: PrimePayer): ReadPointsLeft {
  const read = defineScript(redis, LUA);
  return async (payer) => {
    const { credits, budgets } = payer;
    try {
      const answer = await read(liveKeys(payer), [credits?.argument ?? '', budgets?.argument ?? '']);
      if (answer !== null) return pointsLeft(payer, answer as number[]);
      await primePayer(payer);
    } catch {
      // Redis or account is away: the next settlement asks again.
    }
    return null;
  };
}

function pointsLeft(
  { credits, budgets }: PayerEntitlement,
  [ofCredits = 0, ofBudgets = 0, reached = 0, nowMs = 0]: number[],
): PointsLeft {
  return {
    ofCredits: credits === null ? Infinity : ofCredits,
    ofBudgets: budgets === null ? Infinity : ofBudgets,
    reached: budgets === null ? null : reachedBudget(budgets, { reached, nowMs }),
  };
}
