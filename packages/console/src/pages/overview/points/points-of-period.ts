import type { Usage } from '../../../api/usage.ts';
import type { components } from '../../../api/schema.d.ts';
import { addDays, dayOf, daysBetween } from '../../../ui/usage/days.ts';

type LimitPace = components['schemas']['PaceOfLimit'];

type PointsOfPeriod = {
  /** All days of the period, those to come included. */
  days: string[];
  perDay: (number | null)[];
  /** What was used of the limit by the end of each day. */
  soFar: (number | null)[];
  /** From today on, at the faster one of both paces; it ends at the limit, where calls are refused. */
  forecast: (number | null)[];
};

/**
 * A period's points by day against its limit. Days are whole, periods begin and end within one: what was used so far
 * is therefore counted back from the period's own figure.
 */
export function pointsOfPeriod(
  { buckets }: Pick<Usage, 'buckets'>,
  pace: LimitPace | undefined,
  endedAt: string,
  hasForecast: boolean,
): PointsOfPeriod {
  const used = buckets.map(({ usage }) => usage.points_usage);
  const first = dayOf(buckets[0]?.started_at ?? endedAt);
  const last = dayOf(buckets.at(-1)?.started_at ?? endedAt);
  const end = dayOf(endedAt) > last ? dayOf(endedAt) : last;
  const days = Array.from({ length: daysBetween({ from: first, to: end }) }, (_, day) => addDays(first, day));
  const ahead = days.map((_, day) => day - (used.length - 1));
  const none = days.map(() => null);
  return {
    days,
    perDay: days.map((_, day) => used[day] ?? null),
    soFar: pace === undefined ? none : [...countedBack(used, pace.usage), ...none.slice(used.length)],
    forecast:
      pace === undefined || !hasForecast || pace.reached || end === last
        ? none
        : ahead.map((day) => (day < 0 ? null : Math.min(pace.usage + fasterPace(pace) * day, pace.limit))),
  };
}

export function fasterPace({ whole_period, last_24_hours }: LimitPace): number {
  return Math.max(whole_period.per_day, last_24_hours.per_day);
}

function countedBack(used: readonly number[], total: number): number[] {
  let left = total;
  return used
    .toReversed()
    .map((points) => {
      const atEnd = left;
      left = Math.max(left - points, 0);
      return atEnd;
    })
    .toReversed();
}
