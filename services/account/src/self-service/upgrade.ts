import { enforcedLimits } from '../billing/periods/limits.ts';

type Described = { description: Readonly<Record<string, unknown>> };

/** Limits on what a period uses up; a new period has all of it again. */
const USED_UP = ['points_limit', 'time_sec_limit', 'traffic_bytes_limit'] as const;

/**
 * Whether a plan allows more usage than a period and less of nothing. Only such a change can be immediate: it starts
 * without usage, so customers who could change to and fro would never run out.
 */
export function isUpgrade(from: Described, to: Described): boolean {
  const [before, after] = [limitsOf(from), limitsOf(to)];
  const pairs = USED_UP.map((field) => [before[field] ?? Infinity, after[field] ?? Infinity] as const);
  return pairs.every(([old, next]) => next >= old) && pairs.some(([old, next]) => next > old);
}

export function limitsOf({ description }: Described): ReturnType<typeof enforcedLimits> {
  return enforcedLimits({ description, team_slots_limit: null });
}
