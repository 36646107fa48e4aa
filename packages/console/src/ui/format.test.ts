import { describe, expect, test } from '@jest/globals';
import {
  counted,
  formatDay,
  formatDays,
  formatExact,
  formatMoment,
  formatTime,
  formatTimes,
} from './format.ts';
import { localeOf } from './locale.ts';

/** One rule for dates (docs/design/console.md): UTC, English words, the Gregorian calendar. */

const plain = (text: string) => text.replaceAll(/[\u2009\u202f]/g, ' ');

describe('the language of what is formatted', () => {
  test.each([
    [['th-TH', 'th'], '1 November 2026'],
    [['fa-IR'], '1 November 2026'],
    [['ar-EG', 'en-US'], 'November 1, 2026'],
    [['de-DE', 'en-GB', 'en'], '1 November 2026'],
    // English in Thailand counts years from another one.
    [['en-TH'], 'November 1, 2026'],
    [['en-US-u-ca-buddhist-nu-thai'], 'November 1, 2026'],
    [[], '1 November 2026'],
  ])('for %j is English, with its own calendar and digits', (languages, shown) => {
    const format = new Intl.DateTimeFormat(localeOf(languages), { dateStyle: 'long', timeZone: 'UTC' });
    expect(format.format(new Date('2026-11-01T12:00:00Z'))).toBe(shown);
  });
});

test.each([
  [0, '0 points'],
  [1, '1 point'],
  [1_200, '1,200 points'],
])('%d points are "%s"', (count, text) => {
  expect(counted(count, 'point')).toBe(text);
});

describe('dates', () => {
  test('are UTC wherever the reader is, and say so', () => {
    const at = '2026-11-01T00:30:07Z';
    expect(formatDay(at)).toBe('November 1, 2026 UTC');
    expect(formatExact(at)).toBe('Nov 1, 2026, 00:30:07 UTC');
    expect(formatTime(Date.parse(at))).toBe('00:30 UTC');
    expect(formatMoment(at, Date.parse('2026-12-01T00:00:00Z'))).toBe('Nov 1, 2026, 00:30 UTC');
  });

  test('of a period are its days, the last one included', () => {
    expect(plain(formatDays('2026-11-01T00:00:00Z', '2026-11-30T23:59:59Z'))).toBe('Nov 1 – 30, 2026');
    expect(plain(formatDays('2026-11-01T00:00:00Z', '2026-11-01T23:59:59Z'))).toBe('Nov 1, 2026');
  });

  test('of several times say what they share once', () => {
    const times = (first: string, last: string) => plain(formatTimes(first, last));
    expect(times('2026-11-27T17:00:07Z', '2026-11-27T17:01:00Z')).toBe('Nov 27, 17:00 – 17:01 UTC');
    expect(times('2026-11-27T17:00:07Z', '2026-11-27T17:00:09Z')).toBe('Nov 27, 17:00 UTC');
    expect(times('2026-11-26T23:59:59Z', '2026-11-27T00:00:01Z')).toBe('Nov 26, 23:59 – Nov 27, 00:00 UTC');
  });

  const SECOND = 1_000;
  const HOUR = 3_600 * SECOND;
  const DAY = 24 * HOUR;

  test.each([
    [DAY - 4 * SECOND, 'in 24 hours'],
    [7 * DAY - SECOND, 'in 7 days'],
    [30 * HOUR, 'in 1 day'],
    [30 * SECOND, 'in less than a minute'],
    [-30 * SECOND, 'just now'],
    [-110 * SECOND, '2 minutes ago'],
    [-30 * HOUR, '1 day ago'],
  ])('%d ms from now are "%s"', (distanceMs, shown) => {
    const nowMs = Date.parse('2026-11-15T12:00:00Z');
    expect(formatMoment(new Date(nowMs + distanceMs).toISOString(), nowMs)).toBe(shown);
  });
});
