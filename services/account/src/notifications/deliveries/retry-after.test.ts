import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { retryAfterSec } from './retry-after.ts';

const NOW = new Date('2026-11-22T12:00:00Z');

/** Up to 49 years from now, which two-digit years can express. */
const date = fc
  .integer({ min: -40 * 365 * 86_400, max: 49 * 365 * 86_400 })
  .map((sec) => new Date(NOW.getTime() + sec * 1_000));

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** RFC 9110, section 5.6.7. */
const FORMATS: Readonly<Record<string, (date: Date) => string>> = {
  'IMF-fixdate': (at) => at.toUTCString(),
  'RFC 850': (at) => {
    const [, day, month, year, time] = at.toUTCString().split(' ');
    return `${DAYS[at.getUTCDay()] ?? ''}, ${day ?? ''}-${month ?? ''}-${year?.slice(2) ?? ''} ${time ?? ''} GMT`;
  },
  asctime: (at) => {
    const [name, , month, year, time] = at.toUTCString().split(' ');
    const day = String(at.getUTCDate()).padStart(2, ' ');
    return `${name?.slice(0, 3) ?? ''} ${month ?? ''} ${day} ${time ?? ''} ${year ?? ''}`;
  },
};

test('seconds are taken as they are', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat({ max: 5 }), (sec, zeros) => {
      expect(retryAfterSec(`${'0'.repeat(zeros)}${String(sec)}`, NOW)).toBe(sec);
    }),
  );
  expect(retryAfterSec('9'.repeat(1_000), NOW)).toBe(Infinity);
});

describe('a date is so many seconds from now, none where it is past', () => {
  test.each(Object.entries(FORMATS))('%s', (_name, format) => {
    fc.assert(
      fc.property(date, (at) => {
        const wanted = Math.max(0, (at.getTime() - NOW.getTime()) / 1_000);
        expect(retryAfterSec(format(at), NOW)).toBe(wanted);
      }),
    );
  });

  test('the examples of the RFC', () => {
    const before = new Date('1994-11-06T08:48:37Z');
    for (const text of [
      'Sun, 06 Nov 1994 08:49:37 GMT',
      'Sunday, 06-Nov-94 08:49:37 GMT',
      'Sun Nov  6 08:49:37 1994',
    ]) {
      expect(retryAfterSec(text, before)).toBe(60);
    }
  });

  test('two digits of a year that would be more than 50 years ahead are past', () => {
    const at = new Date('1977-11-22T12:00:00Z');
    expect(retryAfterSec(FORMATS['RFC 850']?.(at) ?? '', NOW)).toBe(0);
  });
});

describe('what is neither is nothing', () => {
  test.each([
    ['', ' ', '-1', '+5', '1.5', '1e3', '0x10', '5 s', '5, 6', '１', 'soon', 'NaN', 'Infinity'],
    ['2026-11-22T12:00:30Z', '2026-11-22', 'Nov 22, 2026', 'Sun, 22 Nov 2026 12:00:30 +0100'],
    ['Mon, 22 Nov 2026 12:00:30 GMT', 'Sun, 22 Nov 2026 12:00:30', 'sun, 22 nov 2026 12:00:30 gmt'],
    ['Tue, 31 Feb 2026 12:00:30 GMT', 'Sun, 22 Nov 2026 25:00:30 GMT', 'Sun, 22 Nov 26 12:00:30 GMT'],
    ['Monday, 22-Nov-26 12:00:30 GMT', 'Noday, 22-Nov-26 12:00:30 GMT', 'Sunday, 22-Nov-2026 12:00:30 GMT'],
    ['Sun Nov 31 12:00:30 2026', 'Sun Nov 022 12:00:30 2026', 'Sun Nov 22 12:00:30 2026 GMT'],
  ])('%j', (...texts) => {
    for (const text of texts) expect([text, retryAfterSec(text, NOW)]).toEqual([text, null]);
  });

  test('whatever a server says', () => {
    const nearly = fc
      .tuple(
        date,
        fc.constantFrom(...Object.values(FORMATS)),
        fc.nat({ max: 23 }),
        fc.constantFrom('', 'x', '-'),
      )
      .map(([at, format, index, instead]) => {
        const text = format(at);
        return text[index] === instead ? `${text}x` : text.slice(0, index) + instead + text.slice(index + 1);
      });
    fc.assert(
      fc.property(fc.oneof(fc.string(), nearly), (text) => {
        fc.pre(!/^\s*\d+\s*$/.test(text));
        expect(retryAfterSec(text, NOW)).toBeNull();
      }),
    );
  });
});
