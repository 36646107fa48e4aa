/** The other limits are momentary, and only Redis knows their use. */
export const ALERT_LIMITS = [
  'points_limit',
  'time_sec_limit',
  'traffic_bytes_limit',
  'team_slots_limit',
] as const;

export type AlertLimit = (typeof ALERT_LIMITS)[number];

export type AlertSettings = {
  /** Webhooks receive all alerts. */
  mail: boolean;
  /** In percent, for limits of usage that `limits` doesn't contain. */
  shares: number[];
  /** An empty list means no alerts, and so does none for team slots: seats that one pays for are meant to be taken. */
  limits: Partial<Record<AlertLimit, number[] | undefined>>;
};

export const DEFAULT_SETTINGS: AlertSettings = { mail: true, shares: [80, 100], limits: {} };

export const SHARES_MAX = 10;

/** Both in the same unit; a null limit is unlimited. Time is in milliseconds: seconds would pass a threshold late. */
export type Use = { limit_name: AlertLimit; used: bigint; limit: bigint | null };

export type Passed = { limit_name: AlertLimit; share: number };

/** Lowest first for each limit, without rounding. A limit that is missing or 0 has no thresholds. */
export function passedShares(uses: readonly Use[], { shares, limits }: AlertSettings): Passed[] {
  return uses.flatMap(({ limit_name, used, limit }) => {
    if (limit === null || limit === 0n) return [];
    const byDefault = limit_name === 'team_slots_limit' ? [] : shares;
    return (limits[limit_name] ?? byDefault)
      .filter((share) => used * 100n >= BigInt(share) * limit)
      .toSorted((one, other) => one - other)
      .map((share) => ({ limit_name, share }));
  });
}

/** The mail of simultaneous alerts contains only the highest of each limit. */
export function highestOfEach<Alert extends Passed>(alerts: readonly Alert[]): Alert[] {
  const highest = new Map<AlertLimit, Alert>();
  for (const alert of alerts) {
    if (alert.share > (highest.get(alert.limit_name)?.share ?? 0)) highest.set(alert.limit_name, alert);
  }
  return [...highest.values()];
}
