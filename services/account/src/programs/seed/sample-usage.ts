import type { HourlyRow } from '../../counting/counters/aggregate.ts';

/** An application of the sample, and how its calls are spread over the week. */
export type SampleCaller = Pick<HourlyRow, 'account_id' | 'application_id' | 'api_version'> & {
  /** Of all points. */
  share: number;
  /** A backend calls at all hours, people call while they are awake, and a report runs at night. */
  rhythm: 'backend' | 'people' | 'nightly';
  pointsPerRequest: number;
};

type Span = { from: Date; to: Date };

const HOUR_MS = 3_600_000;

/** By the hour of the day, UTC. */
const RHYTHMS: Record<SampleCaller['rhythm'], (hour: number) => number> = {
  backend: (hour) => 0.35 + daytime(hour),
  people: (hour) => daytime(hour),
  nightly: (hour) => (hour === 2 ? 1 : 0),
};

/** Sunday to Saturday. */
const WEEKDAYS = [0.22, 1, 1.08, 1.12, 1.06, 0.94, 0.31];

/**
 * Hourly usage of a period that adds up to `points`, except for rounding: the same for the same arguments. Only whole
 * hours of the span have any.
 */
export function sampleUsage(
  period_id: number,
  { from, to }: Span,
  points: number,
  callers: readonly SampleCaller[],
): HourlyRow[] {
  const hours = wholeHours({ from, to });
  return callers.flatMap(({ share, rhythm, pointsPerRequest, ...caller }, index) => {
    const weights = hours.map((hour_ms) => {
      const at = new Date(hour_ms);
      const usual = (WEEKDAYS[at.getUTCDay()] ?? 0) * RHYTHMS[rhythm](at.getUTCHours());
      return usual * (0.75 + 0.5 * noise(hour_ms / HOUR_MS + index * 7_919));
    });
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return hours.flatMap((hour_ms, place) => {
      const used = Math.round((points * share * (weights[place] ?? 0)) / sum);
      if (used === 0) return [];
      const requests = Math.ceil(used / pointsPerRequest);
      const bytes = requests * Math.round(1_800 + 900 * noise(hour_ms / HOUR_MS));
      return [{ ...caller, period_id, hour_ms, points: used, requests, time_ms: 0, traffic_bytes: bytes }];
    });
  });
}

function wholeHours({ from, to }: Span): number[] {
  const first = Math.ceil(from.getTime() / HOUR_MS);
  const count = Math.max(0, Math.floor(to.getTime() / HOUR_MS) - first);
  return Array.from({ length: count }, (_, index) => (first + index) * HOUR_MS);
}

/** Rises from six in the morning to one o'clock, and falls until eight in the evening. */
function daytime(hour: number): number {
  return Math.max(0, Math.sin(((hour - 6) / 14) * Math.PI));
}

/** From 0 to 1, and the same for the same number. */
function noise(number: number): number {
  const value = Math.sin(number * 12.9898) * 43_758.5453;
  return value - Math.floor(value);
}
