import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { numberToBase62, toBase62 } from './base62.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function valueOf(digits: string): bigint {
  return Array.from(digits).reduce((value, digit) => value * 62n + BigInt(ALPHABET.indexOf(digit)), 0n);
}

test('bytes as base62 have the asked length and the bytes’ value', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ minLength: 32, maxLength: 32 }),
    fc
      .tuple(fc.integer({ min: 0, max: 32 }), fc.uint8Array({ minLength: 32, maxLength: 32 }))
      .map(([leading, rest]) => rest.fill(0, 0, leading)),
  );
  fc.assert(
    fc.property(bytes, (bytes) => {
      const digits = toBase62(Buffer.from(bytes), 43);
      expect(digits).toHaveLength(43);
      expect(valueOf(digits)).toBe(BigInt(`0x${Buffer.from(bytes).toString('hex')}`));
    }),
    { examples: [[new Uint8Array(32)], [new Uint8Array(32).fill(255)]] },
  );
});

test('a number as base62 has the asked length and the number’s value', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (value) => {
      const digits = numberToBase62(value, 6);
      expect(digits).toHaveLength(6);
      expect(valueOf(digits)).toBe(BigInt(value));
    }),
    { examples: [[0], [2 ** 32 - 1]] },
  );
});
