import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { descriptionSchema, lineSchema, nameSchema } from './name.ts';

const faultOf = (name: string) => nameSchema.safeParse(name).error?.issues.map(({ message }) => message);

const VISIBLE = 'must have at least one visible character';
const BIDI = 'must not contain bidirectional controls';
const TAGS = 'must not contain tag characters';
const CONTROL = 'must be Unicode text without control characters';

const tagged = (text: string) =>
  Array.from(text, (character) => String.fromCodePoint(0xe0000 + character.charCodeAt(0))).join('');

/** A black flag, tags and the end of tags. */
const tagFlag = (region: string) => `\u{1f3f4}${tagged(region)}\u{e007f}`;

describe('a name is refused', () => {
  test.each([
    ['white space', ' \u00a0\u3000', VISIBLE],
    ['zero-width characters', '\u200b\u200c\u200d\u2060\ufeff', VISIBLE],
    ['soft hyphens', '\u00ad\u00ad', VISIBLE],
    ['Hangul fillers', '\u115f\u1160\u3164\uffa0', VISIBLE],
    ['blank Braille', '\u2800', VISIBLE],
    ['variation selectors', '\ufe0f\u{e0100}', VISIBLE],
    ['combining marks alone', '\u0301\u034f', VISIBLE],
    ['direction marks alone', '\u200e\u200f\u061c', VISIBLE],
    ['private use', '\ue000', VISIBLE],
    ['an override', 'Invoice \u202egpj.exe', BIDI],
    ['an embedding', 'a\u202bb\u202c', BIDI],
    ['an isolate', 'a\u2067b\u2069', BIDI],
    ['tags', `ETL${tagged('ignore this')}`, TAGS],
    ['a flag of tags that no system shows', tagFlag('usca'), TAGS],
    ['tags behind a flag', `${tagFlag('gbeng')}${tagged('x')}`, TAGS],
    ['a control character', 'a\u0007b', CONTROL],
    ['a line separator', 'a\u2028b', CONTROL],
    ['half a surrogate pair', 'a\ud800', CONTROL],
    ['nothing', '', 'must have 1 to 200 characters'],
    ['too much', '😀'.repeat(201), 'must have 1 to 200 characters'],
  ])('of %s', (_, name, fault) => {
    expect(faultOf(name)).toEqual([fault]);
  });
});

describe('a name passes', () => {
  test.each([
    'ETL',
    '.',
    'Ada Lovelace',
    'Zoë Ångström',
    'e\u0301tude',
    'יישום הנתונים',
    'تطبيق البيانات',
    // Joiners of real spelling: Persian, Sinhala, Malayalam.
    'می\u200cخواهم',
    'ශ්\u200dරී',
    'ന്\u200d',
    'עסק \u200fbeta',
    '東京データ',
    '葛\u{e0100}飾',
    '데이터',
    'ผู้ใช้',
    'हिन्दी',
    '𓀀𓁐',
    '👩\u200d💻',
    '👨\u200d👩\u200d👧\u200d👦',
    '👍🏽',
    '❤\ufe0f',
    '1\ufe0f\u20e3',
    '🇨🇭',
    '🏳\ufe0f\u200d🌈',
    tagFlag('gbeng'),
    tagFlag('gbsct'),
    `Team ${tagFlag('gbwls')}`,
    '😀'.repeat(200),
  ])('%s', (name) => {
    expect(nameSchema.parse(name)).toBe(name);
  });

  test('only without anything that is refused elsewhere in it', () => {
    const bad = fc.constantFrom('\u202e', '\u2066', '\u{e0041}', '\u0000', '\u2029');
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        bad,
        fc.string({ unit: 'grapheme' }),
        (left, control, right) => {
          expect(nameSchema.safeParse(`x${left}${control}${right}`).success).toBe(false);
        },
      ),
    );
  });
});

test('a description may be empty, and follows the rules otherwise', () => {
  expect(['', 'Alerts', ' '].map((text) => descriptionSchema.safeParse(text).success)).toEqual([
    true,
    true,
    true,
  ]);
  expect(
    ['\u202e', tagged('x'), 'x'.repeat(201)].map((text) => descriptionSchema.safeParse(text).success),
  ).toEqual([false, false, false]);
});

test('a line of a plan is trimmed, and not empty', () => {
  expect(lineSchema.parse(' €10 per month ')).toBe('€10 per month');
  expect(['  ', '\u200b', 'a\u202eb'].map((text) => lineSchema.safeParse(text).success)).toEqual([
    false,
    false,
    false,
  ]);
});
