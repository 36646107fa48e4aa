import { randomFrom } from './random.ts';

/** The past of a demonstration: periods month by month, and usage hour by hour. No clock: it hangs on one instant. */

export type PastPeriod = { started_at: string; ended_at: string };

/** What `POST /private/usage-reports` takes. */
export type ReportedEvent = {
  idempotency_key: string;
  account_id: number;
  application_id: number;
  api_version: 'v1' | 'v2';
  occurred_at: string;
  points: number;
  requests: number;
  time_ms: number;
  traffic_bytes: number;
};

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The months before an instant, the last first; each ends with the second before the next. */
export function pastPeriods(before: Date, months: number): PastPeriod[] {
  return Array.from({ length: months }, (_, index) => ({
    started_at: textOf(monthsBefore(before, index + 1)),
    ended_at: textOf(new Date(monthsBefore(before, index).getTime() - 1_000)),
  }));
}

/** The same second of an earlier month; a day that it doesn't have becomes its last. */
export function monthsBefore(instant: Date, months: number): Date {
  const earlier = new Date(instant);
  earlier.setUTCMonth(earlier.getUTCMonth() - months);
  if (earlier.getUTCDate() !== instant.getUTCDate()) earlier.setUTCDate(0);
  return earlier;
}

/** Hours of a day (UTC) in which something is reported, with their shares of the day: people work. */
const DAY_SHAPE: readonly (readonly [hour: number, share: number])[] = [
  [2, 0.04],
  [7, 0.12],
  [9, 0.22],
  [11, 0.18],
  [14, 0.2],
  [16, 0.14],
  [19, 0.07],
  [22, 0.03],
];

/** When the second application, and with it API v2, takes over from v1: so long before the end. */
const V1_UNTIL_DAYS = 45;

/**
 * Usage from one instant to another, growing and with quiet week-ends, shared out over the applications. The keys
 * make what is reported twice count once.
 */
export function pastUsage(options: {
  from: Date;
  to: Date;
  account_id: number;
  applicationIds: readonly number[];
  /** In a usual month. */
  pointsPerMonth: number;
  seed: number;
}): ReportedEvent[] {
  const { from, to, account_id, applicationIds, pointsPerMonth, seed } = options;
  const random = randomFrom(seed);
  const events: ReportedEvent[] = [];
  for (let day = Math.floor(from.getTime() / DAY_MS); day * DAY_MS < to.getTime(); day += 1) {
    const date = new Date(day * DAY_MS);
    const daysToEnd = (to.getTime() - date.getTime()) / DAY_MS;
    const quiet = [0, 6].includes(date.getUTCDay()) ? 0.25 : 1.2;
    const growth = 1.15 - Math.min(daysToEnd, 90) / 250;
    for (const [hour, share] of DAY_SHAPE) {
      const noise = 0.7 + random() * 0.6;
      const points = (pointsPerMonth / 30) * quiet * growth * share * noise;
      const at = new Date(date.getTime() + hour * HOUR_MS + Math.floor(random() * HOUR_MS));
      if (at < from || at >= to) continue;
      const index = Math.floor(random() ** 2 * applicationIds.length);
      const application_id = applicationIds[index];
      if (application_id === undefined) continue;
      const api_version = daysToEnd > V1_UNTIL_DAYS && index === 0 ? 'v1' : 'v2';
      events.push(eventOf({ account_id, application_id, api_version, at, points, random }));
    }
  }
  return events;
}

/** What a period that has just begun has used already. */
export function firstUsage(options: {
  at: Date;
  account_id: number;
  application_id: number;
  points: number;
  seed: number;
}) {
  return eventOf({ ...options, api_version: 'v2', random: randomFrom(options.seed) });
}

function eventOf(options: {
  account_id: number;
  application_id: number;
  api_version: 'v1' | 'v2';
  at: Date;
  points: number;
  random: () => number;
}): ReportedEvent {
  const { account_id, application_id, api_version, at, points, random } = options;
  const requests = Math.max(1, Math.round(points / (4 + random() * 12)));
  return {
    idempotency_key: `seed/${String(account_id)}/${at.toISOString()}`,
    account_id,
    application_id,
    api_version,
    occurred_at: at.toISOString(),
    points: Math.round(points),
    requests,
    time_ms: 0,
    traffic_bytes: requests * Math.round(1_500 + random() * 4_000),
  };
}

function textOf(at: Date): string {
  return at.toISOString().replace('.000Z', 'Z');
}
