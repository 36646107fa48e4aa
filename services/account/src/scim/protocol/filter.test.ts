import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseFilter } from './filter.ts';
import { ScimError } from './scim-error.ts';

const of = {
  schemaId: 'urn:ietf:params:scim:schemas:core:2.0:User',
  known: ['userName', 'emails.value'] as const,
};

test.each([
  ['userName eq "a@b.c"', [{ name: 'userName', value: 'a@b.c' }]],
  ['USERNAME EQ "a@b.c"', [{ name: 'userName', value: 'a@b.c' }]],
  ['  userName  eq  "a \\"b\\" and c"  ', [{ name: 'userName', value: 'a "b" and c' }]],
  ['urn:ietf:params:scim:schemas:core:2.0:User:userName eq "a"', [{ name: 'userName', value: 'a' }]],
  [
    'userName eq "a" and emails.value eq "b"',
    [
      { name: 'userName', value: 'a' },
      { name: 'emails.value', value: 'b' },
    ],
  ],
])('%s', (text, terms) => {
  expect(parseFilter(text, of)).toEqual(terms);
});

test.each([
  '',
  'userName',
  'userName pr',
  'userName ne "a"',
  'userName co "a"',
  'userName eq a',
  'userName eq "a',
  'userName eq "a" or userName eq "b"',
  'userName eq "a"and userName eq "b"',
  'userName eq "a" and',
  'not (userName eq "a")',
  '(userName eq "a")',
  'active eq true',
  'userName eq true',
  'userName eq null',
  'userName eq "\\u0000"',
  'userName eq "\\x"',
  'emails[type eq "work"].value eq "a"',
  'title eq "a"',
  'urn:example:userName eq "a"',
  Array.from({ length: 11 }, () => 'userName eq "a"').join(' and '),
  `userName eq "${'a'.repeat(1_000)}"`,
])('%s is refused: an unknown filter finds no one', (text) => {
  expect(() => parseFilter(text, of)).toThrow(ScimError);
});

test('any text is read or refused, in a moment', () => {
  const piece = fc.constantFrom(
    'userName',
    ' ',
    'eq',
    '"',
    '\\',
    'and',
    'a',
    '(',
    '[',
    ']',
    'true',
    '.',
    ':',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(piece, { maxLength: 900 }).map((all) => all.join('')),
        fc.string(),
      ),
      (text) => {
        const began = process.threadCpuUsage();
        try {
          for (const { value } of parseFilter(text, of)) expect(typeof value).toBe('string');
        } catch (error) {
          expect(error).toBeInstanceOf(ScimError);
          expect((error as ScimError).scimType).toBe('invalidFilter');
        }
        // Microseconds of CPU time: other work on the machine doesn't count.
        expect(process.threadCpuUsage(began).user).toBeLessThan(250_000);
      },
    ),
    { numRuns: 1_000 },
  );
});
