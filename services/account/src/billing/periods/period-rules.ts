import type { BillingStatus } from '@tollgate/contracts/entitlement';

/** Whole seconds; `ended_at` is the last one, inclusive. */
export type PeriodTimes = { started_at: Date; ended_at: Date };

export type StatusPeriod = PeriodTimes & {
  /** The plan's value when the period started. */
  grace_sec: number;
  blocked: boolean;
  /** Whether the payer owes a payment and the time to make it isn't over. */
  unpaid?: boolean;
  /** Whether a later period has started: only the last period has a grace window. */
  followed?: boolean;
};

/** The period that covers now, else the last one that started (source specification, 4.2, rule 2). */
export function pickPeriod<Period extends PeriodTimes>(
  periods: readonly Period[],
  now: Date,
): Period | undefined {
  const started = periods.filter((period) => period.started_at <= now);
  const covering = started.find((period) => now.getTime() < endMs(period));
  return covering ?? started.toSorted((one, other) => +other.started_at - +one.started_at)[0];
}

export function billingStatus(period: StatusPeriod, accountBlocked: boolean, now: Date): BillingStatus {
  if (accountBlocked || period.blocked) return 'blocked';
  if (now.getTime() < endMs(period)) return period.unpaid === true ? 'grace' : 'active';
  if (period.followed === true) return 'expired';
  return now.getTime() < graceEndMs(period) ? 'grace' : 'expired';
}

/** When time alone changes the current period or its status; a cache may keep an answer until then. Null if never. */
export function nextChange(
  period: StatusPeriod | undefined,
  periods: readonly PeriodTimes[],
  accountBlocked: boolean,
  now: Date,
): Date | null {
  const starts = periods.map(({ started_at }) => started_at.getTime());
  // A block outlasts its period: only the start of another one ends it.
  const ends =
    period === undefined || period.blocked || accountBlocked ? [] : [endMs(period), graceEndMs(period)];
  return soonestAfter([...starts, ...ends], now);
}

/** Null if none of the instants is ahead. */
export function soonestAfter(instantsMs: readonly number[], now: Date): Date | null {
  const ahead = instantsMs.filter((instantMs) => instantMs > now.getTime());
  return ahead.length === 0 ? null : new Date(Math.min(...ahead));
}

/** When calls stop to be charged to a period that no other one follows. */
export function endOfUse(period: StatusPeriod): Date {
  return new Date(graceEndMs(period));
}

/** `ended_at` is covered to the end of its second. */
function endMs({ ended_at }: PeriodTimes): number {
  return ended_at.getTime() + 1_000;
}

function graceEndMs(period: StatusPeriod): number {
  return endMs(period) + period.grace_sec * 1_000;
}
