import { createSecretKey, randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { hmacSecret, matchesSecret, newClientSecret, pepperSetting } from './client-secret.ts';
import type { Pepper } from './client-secret.ts';

const secretText = fc.oneof(fc.constant(newClientSecret()), fc.string({ unit: 'binary', maxLength: 100 }));
const pepperKey = fc.uint8Array({ minLength: 32, maxLength: 64 }).map((bytes) => createSecretKey(bytes));

function pepper(id: string): Pepper {
  return { id, key: createSecretKey(randomBytes(32)) };
}

test('a secret matches its own HMAC and no other secret does', () => {
  fc.assert(
    fc.property(secretText, secretText, pepperKey, (secret, other, key) => {
      const peppers = [{ id: 'p1', key }];
      const stored = [hmacSecret(secret, peppers)];
      expect(matchesSecret(secret, stored, peppers)).toBe(true);
      expect(matchesSecret(other, stored, peppers)).toBe(other === secret);
    }),
  );
});

test('the stored form holds nothing of the secret', () => {
  const secret = newClientSecret();
  expect(JSON.stringify(hmacSecret(secret, [pepper('p1')]))).not.toContain(secret.slice(0, 8));
});

test('a rotation of peppers: the old one verifies, the new one writes, and once dropped nothing matches', () => {
  const [before, after] = [pepper('2025'), pepper('2026')];
  const secret = newClientSecret();
  const stored = hmacSecret(secret, [before]);
  expect(stored.pepper_id).toBe('2025');
  expect(matchesSecret(secret, [stored], [after, before])).toBe(true);
  expect(hmacSecret(secret, [after, before]).pepper_id).toBe('2026');
  expect(matchesSecret(secret, [stored], [after])).toBe(false);
});

test('a pepper with the same id and another key verifies nothing', () => {
  const secret = newClientSecret();
  expect(matchesSecret(secret, [hmacSecret(secret, [pepper('p1')])], [pepper('p1')])).toBe(false);
});

test('each of two live secrets matches, under whichever pepper it was stored', () => {
  const peppers = [pepper('new'), pepper('old')];
  const [one, two] = [newClientSecret(), newClientSecret()];
  const stored = [hmacSecret(one, peppers.slice(1)), hmacSecret(two, peppers)];
  expect(matchesSecret(one, stored, peppers)).toBe(true);
  expect(matchesSecret(two, stored, peppers)).toBe(true);
  expect(matchesSecret(newClientSecret(), stored, peppers)).toBe(false);
});

test('nothing stored, or an HMAC cut short, matches nothing', () => {
  fc.assert(
    fc.property(secretText, fc.nat(31), (secret, length) => {
      const peppers = [pepper('p1')];
      const { pepper_id, hmac } = hmacSecret(secret, peppers);
      const short = Buffer.from(hmac, 'base64url').subarray(0, length).toString('base64url');
      expect(matchesSecret(secret, [], peppers)).toBe(false);
      expect(matchesSecret(secret, [{ pepper_id, hmac: short }], peppers)).toBe(false);
      expect(matchesSecret('', [{ pepper_id, hmac: '' }], peppers)).toBe(false);
    }),
  );
});

test('without a pepper nothing is stored', () => {
  expect(() => hmacSecret('secret', [])).toThrow('no pepper');
});

test('new secrets are 256 bits and never equal', () => {
  const secrets = Array.from({ length: 1_000 }, newClientSecret);
  expect(new Set(secrets).size).toBe(1_000);
  for (const secret of secrets) expect(secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
});

test('the setting reads pairs separated by white space, the first one writing', () => {
  const [one, two] = [randomBytes(32), randomBytes(48)];
  const peppers = pepperSetting.parse(`a:${one.toString('base64')}\n  b-2:${two.toString('base64url')} `);
  expect(peppers.map(({ id, key }) => ({ id, key: key.export() }))).toEqual([
    { id: 'a', key: one },
    { id: 'b-2', key: two },
  ]);
});

test('the setting refuses a key too short, a missing id, the same id twice and nothing, without showing a key', () => {
  const key = randomBytes(32).toString('base64');
  const short = randomBytes(31).toString('base64').replaceAll('=', '');
  for (const value of [
    '',
    ' ',
    key,
    `:${key}`,
    `a:${short}`,
    `a:${key} b`,
    `a:${key} a:${key}`,
    `a b:${key}`,
  ]) {
    const { error } = pepperSetting.safeParse(value);
    expect([value, error?.issues.length]).toEqual([value, 1]);
    expect(JSON.stringify(error?.issues)).not.toContain(key.slice(0, 10));
  }
});
