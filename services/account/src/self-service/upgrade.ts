import type { BillingInterval } from '../billing/periods/calendar.ts';
import { enforcedLimits } from '../billing/periods/limits.ts';

export type Described = { description: Readonly<Record<string, unknown>> };

/** Limits on what a period uses up. */
const USED_UP = ['points_limit', 'time_sec_limit', 'traffic_bytes_limit'] as const;

/**
 * Whether a plan allows more usage than a period and less of nothing. Only such a change can be immediate: customers who
 * could change to and fro would have what they didn't pay for.
 */
export function isUpgrade(from: Described, to: Described): boolean {
  const pairs = limitPairs(from, to);
  return pairs.every(([old, next]) => next >= old) && pairs.some(([old, next]) => next > old);
}

/** With a payment for it, also a year of a plan that allows no less than the month. */
export function isPaidUpgrade(
  from: Described & { billing_interval: BillingInterval },
  to: Described & { billing_interval: BillingInterval },
): boolean {
  if (from.billing_interval === to.billing_interval) return isUpgrade(from, to);
  return to.billing_interval === 'year' && limitPairs(from, to).every(([old, next]) => next >= old);
}

function limitPairs(from: Described, to: Described): (readonly [number, number])[] {
  const [before, after] = [limitsOf(from), limitsOf(to)];
  return USED_UP.map((field) => [before[field] ?? Infinity, after[field] ?? Infinity] as const);
}

export function limitsOf({ description }: Described): ReturnType<typeof enforcedLimits> {
  return enforcedLimits({ description, team_slots_limit: null });
}
