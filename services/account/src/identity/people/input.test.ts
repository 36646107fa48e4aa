import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addressSchema } from '../accounts/input.ts';
import { profileSchema } from './input.ts';
import { passwordFault } from '../passwords/password-rules.ts';

const isEmail = (email: unknown) => addressSchema.safeParse({ email }).success;

describe('an email address', () => {
  test.each([
    'a@b.example',
    'First.Last+tag@sub.example.com',
    "o'neil@example.com",
    'A_1-2@xn--bcher-kva.example',
    'r&d@example.com',
    'fax=1/sales@example.com',
    'a!#$%*?^`{|}~@example.com',
    'a@example.xn--p1ai',
    'a@bücher.example',
    'a@example.рф',
  ])('%s is one', (email) => {
    expect(isEmail(email)).toBe(true);
  });

  test.each([
    'nobody',
    '@example.com',
    'a@',
    'a@b',
    ' a@b.example',
    'a@b.example ',
    'a b@c.example',
    'a@b.example, c@d.example',
    'Name <a@b.example>',
    '"quoted"@example.com',
    'bücher@example.com',
    '.a@example.com',
    'a..b@example.com',
    'a@-b.example',
    'a@b_c.example',
    'a@example.1',
    'a@[192.0.2.1]',
    'a@b\u200dc.exa mple',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b'.repeat(64)}.example`,
    `${'a'.repeat(250)}@b.example`,
    7,
    null,
    ['a@b.example'],
  ])('%p is none', (email) => {
    expect(isEmail(email)).toBe(false);
  });

  test('of a domain beyond ASCII is kept in the form that mail servers know', () => {
    const kept = (email: string) => addressSchema.parse({ email }).email;
    expect(kept('Ada@Bücher.example')).toBe('Ada@xn--bcher-kva.example');
    expect(kept('a@example.рф')).toBe('a@example.xn--p1ai');
    expect(kept('First.Last@Example.COM')).toBe('First.Last@Example.COM');
  });

  test('that passes holds nothing that means anything in a mail’s header, whatever was typed', () => {
    const around = fc.tuple(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(fc.oneof(fc.emailAddress(), fc.string()), around, (email, [before, after]) => {
        for (const text of [email, before + email, email + after, `${email}\r\nBcc: ${email}`]) {
          const parsed = addressSchema.safeParse({ email: text });
          if (!parsed.success) continue;
          expect(parsed.data.email).toMatch(/^[\x21-\x7e]+$/);
          expect(parsed.data.email).not.toMatch(/[<>(),;:"[\]\\]/);
          expect(parsed.data.email.split('@')).toHaveLength(2);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('a name', () => {
  const isName = (name: unknown) => profileSchema.safeParse({ name }).success;

  test('that passes is Unicode text that Postgres can hold, of 1 to 200 characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 210 }), (name) => {
        if (!isName(name)) return;
        expect(Array.from(name).length).toBeLessThanOrEqual(200);
        expect([name.trim() === '', name.isWellFormed(), /\p{Cc}/u.test(name)]).toEqual([false, true, false]);
      }),
    );
  });

  test('of what a reader takes for characters passes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (name) => {
        // Separators of lines and paragraphs are among them, once in thousands.
        expect(isName(`x${name.replaceAll(/[\p{Zl}\p{Zp}]/gu, '')}`)).toBe(true);
      }),
    );
  });

  test('counts characters, not UTF-16 units', () => {
    expect([isName('😀'.repeat(200)), isName('😀'.repeat(201))]).toEqual([true, false]);
  });
});

describe('a new password', () => {
  const email = 'someone.else@example.com';

  test('may be anything of 8 to 200 characters that isn’t common', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 8, maxLength: 60 }), (password) => {
        fc.pre(
          Array.from(password).length <= 192 && new Set(password.normalize('NFKC').toLowerCase()).size > 1,
        );
        expect(passwordFault(`${password} ~ fine`, email)).toBeUndefined();
      }),
    );
  });

  test.each([
    ['1234567', /8 to 200/],
    ['😀'.repeat(7), /8 to 200/],
    ['x'.repeat(201), /8 to 200/],
    ['password1', /commonest/],
    ['QWERTYUIOP', /commonest/],
    ['ｐａｓｓｗｏｒｄ', /commonest/],
    ['11111111111111', /commonest/],
    ['it is SOMEONE.ELSE@example.com', /email/],
    ['someone.else', /email/],
    ['half a \ud83d surrogate', /Unicode/],
  ])('%p is refused', (password, message) => {
    expect(passwordFault(password, email)).toMatch(message);
  });

  test('may hold a short local part, which many good ones do', () => {
    expect(passwordFault('grand piano', 'an@example.com')).toBeUndefined();
  });
});
