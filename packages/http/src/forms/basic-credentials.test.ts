import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseBasic } from './basic-credentials.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 30 }).filter((value) => !value.includes('\0'));

function header(pair: string | Uint8Array, scheme = 'Basic'): string {
  return `${scheme} ${Buffer.from(pair).toString('base64')}`;
}

function formEncode(value: string): string {
  return new URLSearchParams({ '': value }).toString().slice(1);
}

test('a form-encoded id and secret are read back, colons and percent signs included', () => {
  fc.assert(
    fc.property(text, text, (id, secret) => {
      expect(parseBasic(header(`${formEncode(id)}:${formEncode(secret)}`))).toEqual({ id, secret });
    }),
  );
});

test('the first colon divides; the scheme is read in any case', () => {
  expect(parseBasic(header('id:a:b', 'bASIC'))).toEqual({ id: 'id', secret: 'a:b' });
  expect(parseBasic(header('-_.~%2B%25%3A:a+b'))).toEqual({ id: '-_.~+%:', secret: 'a b' });
});

test('a byte order mark is a part of the id', () => {
  expect(parseBasic(header('\ufeffid:secret'))).toEqual({ id: '\ufeffid', secret: 'secret' });
});

test('base64 without its padding is read, other base64 is not', () => {
  expect(parseBasic('Basic YTpi')).toEqual({ id: 'a', secret: 'b' });
  expect(parseBasic('Basic YTpiYw==')).toEqual({ id: 'a', secret: 'bc' });
  expect(parseBasic('Basic YTpiYw')).toEqual({ id: 'a', secret: 'bc' });
  for (const broken of ['YTpiY', 'YTpi=', 'YTpiYw=', 'YTp iYw==', 'YTp-Yw==', 'YTpi\n', '', '====']) {
    expect([broken, parseBasic(`Basic ${broken}`)]).toEqual([broken, null]);
  }
});

test('another scheme, no colon, a broken encoding, bytes that are not UTF-8 and NUL are null', () => {
  const headers = [
    '',
    'Basic',
    'Basic ',
    'Bearer YTpi',
    'BasicYTpi',
    `Basic YTpi, ${header('a:b')}`,
    header('no-colon'),
    header('a%:b'),
    header('a:%zz'),
    header('a:%00'),
    header('a:\0'),
    header(Buffer.from([0x61, 0x3a, 0xff])),
  ];
  for (const value of headers) expect([value, parseBasic(value)]).toEqual([value, null]);
});

test('arbitrary headers never throw', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.base64String().map((b) => `Basic ${b}`),
      ),
      (value) => {
        expect(() => parseBasic(value)).not.toThrow();
      },
    ),
  );
});

test('a long header that almost fits is refused quickly', () => {
  const began = process.threadCpuUsage();
  expect(parseBasic(`Basic ${' '.repeat(8_000)}${'AAAA'.repeat(2_000)}!`)).toBeNull();
  // Microseconds of CPU time: other work on the machine doesn't count.
  expect(process.threadCpuUsage(began).user).toBeLessThan(2_000_000);
});
