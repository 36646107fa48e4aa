import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { daysBetween, earliestDay } from '../../ui/usage/days.ts';
import { mayBeHourly, spanOf } from './range.ts';
import { usageSearch } from './search.ts';
import type { UsageSearch } from './search.ts';

/** The view's address, and the days that it stands for. */

const NOW = Date.parse('2026-03-31T15:00:00Z');

const month = (from: string, to: string) => ({
  period_id: Date.parse(from) / 1_000,
  started_at: `${from}T10:20:30Z`,
  ended_at: `${to}T10:20:29Z`,
});

const PERIODS = [month('2026-03-15', '2026-04-15'), month('2026-02-15', '2026-03-15')];

const daysAt = (search: Record<string, unknown>, periods: typeof PERIODS | undefined = PERIODS) =>
  spanOf(usageSearch(search), { nowMs: NOW, periods })?.days;

const LAST_30_DAYS = { from: '2026-03-02', to: '2026-03-31' };

describe('the address of a view', () => {
  test('keeps what is right', () => {
    const search = {
      range: 'period',
      by: 'hour',
      group: 'member',
      measure: 'traffic',
      application: 12,
    } as const;
    expect(usageSearch(search)).toEqual(search);
    const days = { from: '2026-03-01', to: '2026-03-02' };
    expect(usageSearch({ ...days, range: '7d' })).toEqual(days);
    expect(usageSearch({ period: 7, range: '7d' })).toEqual({ period: 7 });
    expect(usageSearch({ period: -1, range: '7d' })).toEqual({ range: '7d' });
  });

  test('leaves out defaults and what is wrong', () => {
    const defaults = { range: '30d', by: 'day', group: 'none', measure: 'points' };
    expect(usageSearch(defaults)).toEqual({});
    const wrong = { range: 'ever', by: 1, group: null, measure: ['time'], application: '-1', other: 'x' };
    expect(usageSearch(wrong)).toEqual({});
    for (const [from, to] of [
      ['2026-02-30', '2026-03-02'],
      ['2026-03-02', '2026-03-01'],
      ['2026-03-01', undefined],
      ['yesterday', '2026-03-01'],
      [20_260_301, 20_260_302],
    ]) {
      expect(usageSearch({ from, to })).toEqual({});
    }
  });

  test('is stable: a cleaned one is its own', () => {
    const value = fc.oneof(
      fc.constantFrom('30d', '7d', 'period', 'hour', 'day', 'member', 'time', '2026-03-01', '2026-02-28'),
      fc.anything(),
    );
    const keys = fc.constantFrom('range', 'period', 'from', 'to', 'by', 'group', 'measure', 'x');
    fc.assert(
      fc.property(fc.dictionary(keys, value), (search) => {
        const once = usageSearch(search);
        expect(usageSearch(once)).toEqual(once);
      }),
    );
  });
});

describe('a billing period', () => {
  test('is asked for as itself, since two share a day, and can be shown by the hour with its grace window', () => {
    const spanAt = (search: UsageSearch) => spanOf(search, { nowMs: NOW, periods: PERIODS });
    expect(spanAt({ range: 'period' })?.period).toEqual(PERIODS[0]);
    expect(spanAt({ range: 'previous' })?.period).toEqual(PERIODS[1]);
    expect(spanAt({ from: '2026-03-15', to: '2026-03-31' })?.period).toBeNull();
    const [period = null] = PERIODS;
    expect(mayBeHourly({ days: { from: '2026-02-20', to: '2026-03-31' }, period })).toBe(true);
    expect(mayBeHourly({ days: { from: '2026-02-19', to: '2026-03-31' }, period })).toBe(false);
  });
});

describe('the days of a view', () => {
  test.each([
    [{}, LAST_30_DAYS],
    [{ range: '7d' }, { from: '2026-03-25', to: '2026-03-31' }],
    [{ range: '90d' }, { from: '2026-01-01', to: '2026-03-31' }],
    [{ range: '12m' }, { from: '2025-04-01', to: '2026-03-31' }],
    [{ range: 'period' }, { from: '2026-03-15', to: '2026-03-31' }],
    [{ range: 'previous' }, { from: '2026-02-15', to: '2026-03-15' }],
    [{ period: PERIODS[1]?.period_id }, { from: '2026-02-15', to: '2026-03-15' }],
    [{ period: 1 }, LAST_30_DAYS],
    [
      { from: '2026-03-30', to: '2026-09-09' },
      { from: '2026-03-30', to: '2026-03-31' },
    ],
    // Neither kept nor there yet.
    [{ from: '2024-01-01', to: '2026-03-31' }, LAST_30_DAYS],
    [{ from: '2026-04-01', to: '2026-04-02' }, LAST_30_DAYS],
  ])('%j are %j', (search, days) => {
    expect(daysAt(search)).toEqual(days);
  });

  test('wait for the billing periods they need, and for nothing else', () => {
    const periods = undefined;
    const nowMs = NOW;
    expect(spanOf({ range: 'period' }, { nowMs, periods })).toBeNull();
    expect(spanOf({ period: 1 }, { nowMs, periods })).toBeNull();
    expect(spanOf({}, { nowMs, periods })?.days).toEqual(LAST_30_DAYS);
    expect(daysAt({ range: 'previous' }, [])).toEqual(LAST_30_DAYS);
  });

  test('reach back fourteen months, in which months are of different lengths', () => {
    expect(earliestDay(NOW)).toBe('2025-01-31');
    expect(earliestDay(Date.parse('2026-04-30T23:59:59Z'))).toBe('2025-02-28');
    const old = [month('2025-01-01', '2025-02-01')];
    expect(daysAt({ range: 'period' }, old)).toEqual({ from: '2025-01-31', to: '2025-02-01' });
    const gone = [month('2024-12-01', '2025-01-01')];
    expect(daysAt({ range: 'period' }, gone)).toEqual(LAST_30_DAYS);
  });

  test('can be shown by the hour up to 31', () => {
    const days = { from: '2026-03-01', to: '2026-03-31' };
    expect([daysBetween(days), mayBeHourly({ days, period: null })]).toEqual([31, true]);
    expect(mayBeHourly({ days: { ...days, from: '2026-02-28' }, period: null })).toBe(false);
  });
});
