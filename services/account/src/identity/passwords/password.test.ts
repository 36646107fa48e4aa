import { describe, expect, test } from '@jest/globals';
import { argon2Sync } from 'node:crypto';
import { hashPassword, verifyPassword } from './password.ts';

describe('passwords', () => {
  test('a hash is an argon2id PHC string with the cost of OWASP and no trace of the password', async () => {
    const hash = await hashPassword('correct horse');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(hash).not.toContain('correct');
  });

  test('the password verifies, any other does not', async () => {
    const hash = await hashPassword('correct horse');
    expect(await verifyPassword('correct horse', hash)).toBe(true);
    for (const wrong of ['correct hors', 'correct horse ', 'Correct horse', '']) {
      expect(await verifyPassword(wrong, hash)).toBe(false);
    }
  });

  test('two hashes of one password differ', async () => {
    expect(await hashPassword('same')).not.toBe(await hashPassword('same'));
  });

  test('two ways to type one letter are one password', async () => {
    expect(await verifyPassword('cafe\u0301', await hashPassword('caf\u00e9'))).toBe(true);
  });

  test('a hash made under another cost still verifies', async () => {
    const salt = Buffer.from('0123456789abcdef');
    const parameters = { nonce: salt, memory: 1_024, passes: 1, parallelism: 2, tagLength: 32 };
    const hash = argon2Sync('argon2id', { message: 'older', ...parameters });
    const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
    const stored = `$argon2id$v=19$m=1024,t=1,p=2$${text(salt)}$${text(hash)}`;
    expect(await verifyPassword('older', stored)).toBe(true);
    expect(await verifyPassword('other', stored)).toBe(false);
  });

  test.each([
    '',
    'none',
    'correct horse',
    '$argon2i$v=19$m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY',
    '$argon2id$v=19$m=999999999,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY',
    '$argon2id$v=19$m=8,t=2,p=2$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY',
    '$argon2id$v=19$m=19456,t=0,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY',
  ])('nothing verifies against %p, and nothing throws', async (stored) => {
    expect(await verifyPassword('correct horse', stored)).toBe(false);
  });
});
