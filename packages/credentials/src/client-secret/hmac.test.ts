import { createHmac, createSecretKey } from 'node:crypto';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { hmacSha256 } from './hmac.ts';

const keyBytes = fc.uint8Array({ minLength: 1, maxLength: 200 });
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 100 }),
  fc.string({ minLength: 300, maxLength: 400 }),
  // Halves of surrogate pairs have no UTF-8 of their own.
  fc.constant('\ud800 \udc00'),
  fc.string({ minLength: 1_000, maxLength: 1_100 }),
);

test('the HMAC is that of the library, for keys and texts of any length, one after the other', () => {
  fc.assert(
    fc.property(keyBytes, fc.array(anyText, { minLength: 1, maxLength: 4 }), (bytes, texts) => {
      const key = createSecretKey(bytes);
      for (const text of texts) {
        expect(hmacSha256(key, text)).toEqual(createHmac('sha256', key).update(text).digest());
      }
    }),
  );
});

test('the HMAC of RFC 4231, test cases 1 and 2', () => {
  expect(hmacSha256(createSecretKey(Buffer.alloc(20, 0x0b)), 'Hi There').toString('hex')).toBe(
    'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
  );
  expect(
    hmacSha256(createSecretKey(Buffer.from('Jefe')), 'what do ya want for nothing?').toString('hex'),
  ).toBe('5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843');
});
