import { isoSeconds } from '../../http/iso-seconds.ts';
import { bucketStarts } from '../../usage/views/series/range.ts';
import type { UsageRange } from '../../usage/views/series/range.ts';
import type { CodeCount } from './store.ts';

/** Every bucket of the range, and the total of each code, most calls first. */
export function countsAnswer(range: UsageRange, rows: readonly CodeCount[]) {
  const byBucket = Map.groupBy(rows, ({ bucket }) => bucket.getTime());
  const codes = [...Map.groupBy(rows, ({ code }) => code)].map(([code, own]) => ({
    code,
    calls: sum(own),
    last_at: new Date(Math.max(...own.map(({ last_at }) => last_at.getTime()))),
  }));
  return {
    interval: range.interval,
    from: isoSeconds(range.from),
    to: isoSeconds(range.to),
    calls: sum(rows),
    codes: codes.toSorted((one, other) => other.calls - one.calls || one.code.localeCompare(other.code)),
    buckets: bucketStarts(range).map((start) => {
      const own = byBucket.get(start.getTime()) ?? [];
      return {
        started_at: isoSeconds(start),
        calls: sum(own),
        codes: own.map(({ code, calls }) => ({ code, calls })),
      };
    }),
  };
}

function sum(rows: readonly Pick<CodeCount, 'calls'>[]): number {
  return rows.reduce((total, { calls }) => total + calls, 0);
}
