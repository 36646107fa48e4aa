import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { seal, sealingKeysSetting, unseal } from './sealing.ts';

const key = (id: string) => ({ id, key: randomBytes(32) });
const OWNER = 'access token 7';

test('what was sealed is opened, under any of the keys, for its owner only', () => {
  const [older, newer] = [key('k1'), key('k2')];
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 100 }), fc.string(), (token, other) => {
      const sealed = seal(token.toWellFormed(), OWNER, [older]);
      expect(unseal(sealed, OWNER, [newer, older])).toBe(token.toWellFormed());
      fc.pre(other.toWellFormed() !== OWNER);
      expect(() => unseal(sealed, other.toWellFormed(), [older])).toThrow();
      expect(() => unseal(sealed, OWNER, [newer])).toThrow(/Internal error/);
      expect(() => unseal(sealed, OWNER, [{ ...newer, id: 'k1' }])).toThrow();
    }),
  );
});

test('no bit can be changed unnoticed', () => {
  const keys = [key('k1')];
  const sealed = seal('tg_token', OWNER, keys);
  for (const part of ['sealed', 'sealed_nonce'] as const) {
    for (let bit = 0; bit < sealed[part].length * 8; bit += 1) {
      const changed = Buffer.from(sealed[part]);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(() => unseal({ ...sealed, [part]: changed }, OWNER, keys)).toThrow();
    }
  }
});

test('the same token is never sealed twice the same', () => {
  const keys = [key('k1')];
  const sealed = Array.from({ length: 100 }, () => seal('t', OWNER, keys).sealed_nonce.toString('hex'));
  expect(new Set(sealed).size).toBe(100);
});

test('keys as a setting: the first seals; ids once, 32 bytes each', () => {
  const base64 = (bytes: number) => Buffer.alloc(bytes, 1).toString('base64');
  const keys = sealingKeysSetting.parse(`k2:${base64(32)}\n k1:${base64(32)}`);
  expect(keys.map(({ id, key: { length } }) => [id, length])).toEqual([
    ['k2', 32],
    ['k1', 32],
  ]);
  expect(seal('t', OWNER, keys).sealing_key_id).toBe('k2');
  for (const wrong of [
    '',
    'k1',
    `k1:${base64(31)}`,
    `k1:${base64(33)}`,
    `k 1:${base64(32)}`,
    `:${base64(32)}`,
  ]) {
    expect(sealingKeysSetting.safeParse(wrong).success).toBe(false);
  }
  expect(sealingKeysSetting.safeParse(`k1:${base64(32)} k1:${base64(32)}`).success).toBe(false);
});
