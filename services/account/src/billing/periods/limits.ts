import { LIMIT_FIELDS } from '@tollgate/contracts/entitlement';
import type { LimitField } from '@tollgate/contracts/entitlement';

/** What decides a period's limits. */
export type LimitedPeriod = {
  /** The plan's raw attributes; the database holds its limit fields to whole numbers or null. */
  description: Readonly<Record<string, unknown>>;
  /** An add-on bought for the period; it goes before the description's. */
  team_slots_limit: number | null;
};

/**
 * The limits to enforce. One that the description doesn't contain is null and not enforced; an explicit 0 is
 * enforced and allows nothing (service.md, "Limits").
 */
export function enforcedLimits(period: LimitedPeriod): Record<LimitField, number | null> {
  return byField((field) => limitOf(period, field));
}

/** The limits as `GET /api/usage` reports them: all seven, 0 where there is none. */
export function reportedLimits(period: LimitedPeriod): Record<LimitField, number> {
  return byField((field) => limitOf(period, field) ?? 0);
}

function limitOf({ description, team_slots_limit }: LimitedPeriod, field: LimitField): number | null {
  if (field === 'team_slots_limit' && team_slots_limit !== null) return team_slots_limit;
  const value = Object.hasOwn(description, field) ? description[field] : null;
  if (value === null) return null;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  // The database refuses such a description. Guessing here would mean to enforce the guess.
  throw new TypeError(`${field} of a billing period is not a whole number`);
}

function byField<Value>(valueOf: (field: LimitField) => Value): Record<LimitField, Value> {
  return Object.fromEntries(LIMIT_FIELDS.map((field) => [field, valueOf(field)])) as Record<
    LimitField,
    Value
  >;
}
