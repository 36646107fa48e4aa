/** The rules of alerts (ADR 0030), without SQL and without a clock. */

/**
 * Limits that fill up, so that a share of one can be passed: those that are summed over a period, and the slots of a
 * team. The other limits are of a moment, and their present use is known to Redis alone.
 */
export const ALERT_LIMITS = [
  'points_limit',
  'time_sec_limit',
  'traffic_bytes_limit',
  'team_slots_limit',
] as const;

export type AlertLimit = (typeof ALERT_LIMITS)[number];

/** What an account wants to be told of. */
export type AlertSettings = {
  /** Whether by mail too; webhooks get every alert. */
  mail: boolean;
  /** Whole percents, for every limit that `limits` doesn't name. */
  shares: number[];
  /** Those that have shares of their own; an empty list is none. */
  limits: Partial<Record<AlertLimit, number[] | undefined>>;
};

export const DEFAULT_SETTINGS: AlertSettings = { mail: true, shares: [80, 100], limits: {} };

export const SHARES_MAX = 10;

/**
 * How far a limit of a period is used, both in one unit; of the limit null where there is none. Time is in
 * milliseconds, as it is counted: in whole seconds a share would be passed late.
 */
export type Use = { limit_name: AlertLimit; used: bigint; limit: bigint | null };

export type Passed = { limit_name: AlertLimit; share: number };

/**
 * The shares that are passed, the lowest of each limit first. A share is passed when used ≥ share % of the limit,
 * reckoned without rounding. Of no limit, and of one that allows nothing, no share is ever passed.
 */
export function passedShares(uses: readonly Use[], { shares, limits }: AlertSettings): Passed[] {
  return uses.flatMap(({ limit_name, used, limit }) => {
    if (limit === null || limit === 0n) return [];
    return (limits[limit_name] ?? shares)
      .filter((share) => used * 100n >= BigInt(share) * limit)
      .toSorted((one, other) => one - other)
      .map((share) => ({ limit_name, share }));
  });
}

/** Of several alerts of one limit at once a mail tells of the highest: it says all that the others would. */
export function highestOfEach<Alert extends Passed>(alerts: readonly Alert[]): Alert[] {
  const highest = new Map<AlertLimit, Alert>();
  for (const alert of alerts) {
    if (alert.share > (highest.get(alert.limit_name)?.share ?? 0)) highest.set(alert.limit_name, alert);
  }
  return [...highest.values()];
}
