import type { BillingStatus } from '@tollgate/contracts/entitlement';

/** When a billing period holds. Both instants are whole seconds; `ended_at` is its last one, inclusive. */
export type PeriodTimes = { started_at: Date; ended_at: Date };

/** What decides a period's status, beside the clock and the accounts. */
export type StatusPeriod = PeriodTimes & {
  /** Of the plan, as it was when the period started. */
  grace_sec: number;
  blocked: boolean;
  /** Whether a later period of the account has started: a grace window is for those who have no other. */
  followed?: boolean;
};

/**
 * The period that an account is in: the one that covers now, else the one that started last of those that
 * have started (source specification, 4.2, rule 2; service.md, "Billing period"); undefined where none has.
 */
export function pickPeriod<Period extends PeriodTimes>(
  periods: readonly Period[],
  now: Date,
): Period | undefined {
  const started = periods.filter((period) => period.started_at <= now);
  const covering = started.find((period) => now.getTime() < endMs(period));
  return covering ?? started.toSorted((one, other) => +other.started_at - +one.started_at)[0];
}

/** Status of a period that has started (source specification, part 3), derived anew at every asking. */
export function billingStatus(period: StatusPeriod, accountBlocked: boolean, now: Date): BillingStatus {
  if (accountBlocked || period.blocked) return 'blocked';
  if (now.getTime() < endMs(period)) return 'active';
  if (period.followed === true) return 'expired';
  return now.getTime() < graceEndMs(period) ? 'grace' : 'expired';
}

/**
 * The next instant at which time alone changes the period that an account is in, or its status; null where
 * none is known. A cache may keep an answer until then and no longer.
 */
export function nextChange(
  period: StatusPeriod | undefined,
  periods: readonly PeriodTimes[],
  accountBlocked: boolean,
  now: Date,
): Date | null {
  const starts = periods.map(({ started_at }) => started_at.getTime());
  // A block outlasts the period's own end: only another period's start changes what is blocked.
  const ends =
    period === undefined || period.blocked || accountBlocked ? [] : [endMs(period), graceEndMs(period)];
  const ahead = [...starts, ...ends].filter((instantMs) => instantMs > now.getTime());
  return ahead.length === 0 ? null : new Date(Math.min(...ahead));
}

/** The first instant that the period doesn't cover: its last second is covered to its end. */
function endMs({ ended_at }: PeriodTimes): number {
  return ended_at.getTime() + 1_000;
}

function graceEndMs(period: StatusPeriod): number {
  return endMs(period) + period.grace_sec * 1_000;
}
