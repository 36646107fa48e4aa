import { z } from 'zod';
import { LIMIT_FIELDS, callRulesSchema } from '@tollgate/contracts/entitlement';
import type { CallRules, LimitField } from '@tollgate/contracts/entitlement';
import { MAX_TOTAL } from '@tollgate/contracts/usage-stream';

export type LimitedPeriod = {
  /** Limit fields are whole numbers or null, by a check constraint. */
  description: Readonly<Record<string, unknown>>;
  team_slots_limit: number | null;
  /** What credits add to the plan's points; a plan itself has none. */
  credit_points?: number;
};

/** A limit that the description lacks is null: not enforced, and without credits. 0 allows nothing (service.md, "Limits"). */
export function enforcedLimits(period: LimitedPeriod): Record<LimitField, number | null> {
  return byField((field) => limitOf(period, field));
}

/** As `GET /api/usage` reports them: all seven, 0 for none. */
export function reportedLimits(period: LimitedPeriod): Record<LimitField, number> {
  return byField((field) => limitOf(period, field) ?? 0);
}

/** The points that the plan includes; null if it doesn't limit them. */
export function includedPoints(description: LimitedPeriod['description']): number | null {
  return statedLimit(description, 'points_limit');
}

/** How many unused included points go over to the next period; null for none. It isn't enforced, so a text is none. */
export function rolloverPointsMax(description: LimitedPeriod['description']): number | null {
  const most = description[ROLLOVER_FIELD];
  return typeof most === 'number' && Number.isSafeInteger(most) && most > 0 ? most : null;
}

/** What points beyond the included ones cost: in the minor unit of the currency, without tax. */
export const overageSchema = z.strictObject({
  price_per_1000: z.int().min(1).max(99_999_999),
  currency: z.string().regex(/^[a-z]{3}$/),
});

export type OveragePrice = z.infer<typeof overageSchema>;

/** Null if the plan doesn't sell any, or doesn't limit points. */
export function overagePrice(description: LimitedPeriod['description']): OveragePrice | null {
  if (includedPoints(description) === null) return null;
  return overageSchema.safeParse(description[OVERAGE_FIELD]).data ?? null;
}

/** Of a plan's description. */
export const OVERAGE_FIELD = 'overage';

/** Undefined without any. A former version accepted any value, and what can't be a rule is none. */
export function callRules(description: LimitedPeriod['description']): CallRules | undefined {
  const rules = Object.entries(callRulesSchema.shape).flatMap(([field, schema]) => {
    const { data } = schema.safeParse(Object.hasOwn(description, field) ? description[field] : undefined);
    return data === undefined ? [] : [[field, data] as const];
  });
  return rules.length === 0 ? undefined : Object.fromEntries(rules);
}

/** Of a plan's description. */
export const ROLLOVER_FIELD = 'rollover_points_max';

function limitOf(
  { description, team_slots_limit, credit_points = 0 }: LimitedPeriod,
  field: LimitField,
): number | null {
  if (field === 'team_slots_limit' && team_slots_limit !== null) return team_slots_limit;
  const limit = statedLimit(description, field);
  return field === 'points_limit' && limit !== null ? Math.min(limit + credit_points, MAX_TOTAL) : limit;
}

function statedLimit(description: LimitedPeriod['description'], field: LimitField): number | null {
  const value = Object.hasOwn(description, field) ? description[field] : null;
  if (value === null) return null;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  // The database rejects such a description; a guess would be enforced.
  throw new TypeError(`${field} of a billing period is not a whole number`);
}

function byField<Value>(valueOf: (field: LimitField) => Value): Record<LimitField, Value> {
  return Object.fromEntries(LIMIT_FIELDS.map((field) => [field, valueOf(field)])) as Record<
    LimitField,
    Value
  >;
}
