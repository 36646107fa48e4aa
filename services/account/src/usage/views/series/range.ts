import { invalidFields } from '@tollgate/http/invalid-fields';
import { periodStart, secondAfter } from '../../../billing/periods/calendar.ts';
import type { PeriodTimes } from '../../../billing/periods/period-rules.ts';

/** A UTC day always has 24 hours. */

export type Interval = 'hour' | 'day';

export type WantedRange = { interval: Interval; from?: Date | undefined; to?: Date | undefined };

export type UsageRange = { interval: Interval; from: Date; to: Date };

export type RangeFault = { field: 'from' | 'to'; message: string };

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const STEP_MS: Record<Interval, number> = { hour: HOUR_MS, day: DAY_MS };

const DEFAULT_BUCKETS: Record<Interval, number> = { hour: 24, day: 30 };

/** How far back usage can be requested (service.md). */
const KEPT_MONTHS = 14;

const MAX_HOURLY_DAYS = 31;

/** A month and its grace window. */
const MAX_HOURLY_PERIOD_DAYS = 40;

/** The buckets that a range touches, up to the current one. */
export function usageRange(wanted: WantedRange, now: Date): UsageRange {
  const { interval } = wanted;
  const step = STEP_MS[interval];
  const runningEndMs = floor(now.getTime(), step) + step;
  const toMs = Math.min(ceil((wanted.to ?? now).getTime(), step), runningEndMs);
  const defaultMs = Math.max(toMs - DEFAULT_BUCKETS[interval] * step, earliest(now).getTime());
  const fromMs = wanted.from === undefined ? defaultMs : floor(wanted.from.getTime(), step);
  return { interval, from: new Date(fromMs), to: new Date(toMs) };
}

/** @throws {Problem} invalid_request that names each fault */
export function assertRange(wanted: WantedRange, now: Date): void {
  const faults = rangeFaults(wanted, now);
  if (faults.length > 0) throw invalidFields(faults);
}

/** `to` may name the rest of the current day. */
export function rangeFaults(wanted: WantedRange, now: Date): RangeFault[] {
  const faults: RangeFault[] = [];
  const nowMs = now.getTime();
  const kept = `must be within the last ${String(KEPT_MONTHS)} months`;
  if (wanted.from !== undefined && wanted.from > now) faults.push(fault('from', 'must not be in the future'));
  if (wanted.from !== undefined && wanted.from < earliest(now)) faults.push(fault('from', kept));
  if (wanted.to !== undefined && wanted.to.getTime() > floor(nowMs, DAY_MS) + DAY_MS) {
    faults.push(fault('to', 'must not be in the future'));
  }
  if (wanted.to !== undefined && wanted.to <= earliest(now)) faults.push(fault('to', kept));
  if (wanted.from !== undefined && wanted.to !== undefined && wanted.to <= wanted.from) {
    faults.push(fault('to', 'must be after from'));
  }
  const { from, to } = usageRange(wanted, now);
  if (wanted.interval === 'hour' && to.getTime() - from.getTime() > MAX_HOURLY_DAYS * DAY_MS) {
    faults.push(fault('from', `must be at most ${String(MAX_HOURLY_DAYS)} days before to, by the hour`));
  }
  return faults;
}

/**
 * The buckets that a billing period touches, up to the current one, and those of all its usage: a grace window follows
 * the period, and a gateway's clock may be off. The first and last bucket have only the period's part of a shared day.
 * @throws {Problem} invalid_request if no usage of the period is kept, or it has too many hours
 */
export function periodRange(
  period: PeriodTimes & { first_hour: Date | null; last_hour: Date | null },
  interval: Interval,
  now: Date,
): UsageRange {
  const step = STEP_MS[interval];
  const { started_at, first_hour, last_hour } = period;
  const lastMs = last_hour === null ? 0 : last_hour.getTime() + HOUR_MS;
  const toMs = ceil(Math.max(Math.min(secondAfter(period).getTime(), now.getTime()), lastMs), step);
  const firstMs = Math.min(started_at.getTime(), first_hour?.getTime() ?? Infinity);
  const fromMs = floor(Math.max(firstMs, earliest(now).getTime()), step);
  if (toMs <= fromMs) {
    throw invalidFields([
      { field: 'period_id', message: `must be of a period within the last ${String(KEPT_MONTHS)} months` },
    ]);
  }
  if (interval === 'hour' && toMs - fromMs > MAX_HOURLY_PERIOD_DAYS * DAY_MS) {
    const message = `must be day for a billing period of more than ${String(MAX_HOURLY_PERIOD_DAYS)} days`;
    throw invalidFields([{ field: 'interval', message }]);
  }
  return { interval, from: new Date(fromMs), to: new Date(toMs) };
}

export function bucketStarts({ interval, from, to }: UsageRange): Date[] {
  const step = STEP_MS[interval];
  const count = (to.getTime() - from.getTime()) / step;
  return Array.from({ length: count }, (_, index) => new Date(from.getTime() + index * step));
}

function earliest(now: Date): Date {
  return new Date(floor(periodStart(now, 'month', -KEPT_MONTHS).getTime(), DAY_MS));
}

const fault = (field: RangeFault['field'], message: string): RangeFault => ({ field, message });

const floor = (instantMs: number, step: number) => Math.floor(instantMs / step) * step;
const ceil = (instantMs: number, step: number) => Math.ceil(instantMs / step) * step;
