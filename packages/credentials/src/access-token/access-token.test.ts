import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  TOKEN_PREFIX_PATTERN,
  accessTokenHash,
  applicationPart,
  clientIdOf,
  newAccessToken,
  parseAccessToken,
} from './access-token.ts';

const CLIENT_ID = '6f1f6d5e-5d2a-4f0b-9c0e-0a4b1c2d3e4f';
const BASE62 = Array.from('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');

const prefix = fc.stringMatching(TOKEN_PREFIX_PATTERN);

test('a new token is read back with its application, whatever the prefix', () => {
  fc.assert(
    fc.property(prefix, fc.uuid(), (prefix, clientId) => {
      const token = newAccessToken(prefix, clientId);
      expect(token).toHaveLength(prefix.length + 73);
      expect(parseAccessToken(token, prefix)).toEqual({ applicationPart: applicationPart(clientId) });
    }),
  );
});

test('tokens issued before stay good: the format is frozen', () => {
  // Made with Python's zlib and hashlib: the secret part is the bytes 0 to 31.
  const token = 'tg_3NgVeeUMfBeWnViRi3udvr_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf2N2xfQ';
  expect(applicationPart('00000000-0000-0000-0000-000000000000')).toBe('0'.repeat(22));
  expect(applicationPart('ffffffff-ffff-ffff-ffff-ffffffffffff')).toBe('7n42DGM5Tflk9n8mt7Fhc7');
  expect(parseAccessToken(token, 'tg')).toEqual({ applicationPart: '3NgVeeUMfBeWnViRi3udvr' });
  expect(accessTokenHash(token)).toBe('3Pi__SFKUmnzuOzd_dqNU5S5l5YexD4EpU_AQqT-s2E');
});

test('every change of a single character is refused', () => {
  const token = newAccessToken('tg', CLIENT_ID);
  const changed = Array.from(token).flatMap((original, at) =>
    [...BASE62, '_', '-', ' ', '\n', 'é']
      .filter((other) => other !== original)
      .map((other) => token.slice(0, at) + other + token.slice(at + 1)),
  );
  expect(changed.length).toBeGreaterThan(4_500);
  expect(changed.filter((other) => parseAccessToken(other, 'tg') !== null)).toEqual([]);
});

test('a character too few or too many and two neighbours exchanged are refused', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.nat(74), fc.constantFrom(...BASE62, '\n', ' '), (clientId, at, extra) => {
      const token = newAccessToken('tg', clientId);
      expect(parseAccessToken(token.slice(0, at) + token.slice(at + 1), 'tg')).toBeNull();
      expect(parseAccessToken(token.slice(0, at) + extra + token.slice(at), 'tg')).toBeNull();
      expect(parseAccessToken(token + extra, 'tg')).toBeNull();
      const [one = '', other = ''] = token.slice(at, at + 2);
      if (one === other || other === '') return;
      expect(parseAccessToken(token.slice(0, at) + other + one + token.slice(at + 2), 'tg')).toBeNull();
    }),
  );
});

test('arbitrary strings are refused and never throw', () => {
  const anything = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.stringMatching(/^tg_[0-9A-Za-z]{22}_[0-9A-Za-z]{49}$/),
    fc.string({ maxLength: 5 }).map((start) => start.repeat(10_000)),
  );
  fc.assert(
    fc.property(anything, (text) => {
      expect(parseAccessToken(text, 'tg')).toBeNull();
    }),
  );
});

test('a token with another prefix is refused', () => {
  fc.assert(
    fc.property(prefix, prefix, (made, read) => {
      fc.pre(made !== read);
      expect(parseAccessToken(newAccessToken(made, CLIENT_ID), read)).toBeNull();
    }),
  );
});

test('different clients have different application parts', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.uuid(), (one, other) => {
      expect(applicationPart(one) === applicationPart(other)).toBe(one === other);
    }),
  );
});

test('an application part leads back to its client, and what is beyond 128 bits to none', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.bigInt({ min: 2n ** 128n, max: 62n ** 22n - 1n }), (clientId, beyond) => {
      expect(clientIdOf(applicationPart(clientId))).toBe(clientId);
      let part = '';
      for (let rest = beyond; part.length < 22; rest /= 62n) part = (BASE62[Number(rest % 62n)] ?? '') + part;
      expect(clientIdOf(part)).toBeNull();
    }),
  );
  expect(clientIdOf('7n42DGM5Tflk9n8mt7Fhc7')).toBe('ffffffff-ffff-ffff-ffff-ffffffffffff');
  expect(clientIdOf('7n42DGM5Tflk9n8mt7Fhc8')).toBeNull();
  expect(clientIdOf('0'.repeat(22))).toBe('00000000-0000-0000-0000-000000000000');
});

test('no two tokens of a client are equal', () => {
  const tokens = Array.from({ length: 1_000 }, () => newAccessToken('tg', CLIENT_ID));
  expect(new Set(tokens.map(accessTokenHash)).size).toBe(1_000);
});

test('every digit of the secret part is as likely as any other', () => {
  const counts = new Map<string, number>();
  for (let made = 0; made < 10_000; made += 1) {
    for (const digit of newAccessToken('tg', CLIENT_ID).slice(-49, -6)) {
      counts.set(digit, (counts.get(digit) ?? 0) + 1);
    }
  }
  const expected = (10_000 * 43) / 62;
  expect(counts.size).toBe(62);
  // Seven standard deviations: chance leaves that once in a billion runs.
  for (const count of counts.values())
    expect(Math.abs(count - expected)).toBeLessThan(7 * Math.sqrt(expected));
});
