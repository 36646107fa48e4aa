import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { privateCacheControl } from './private-cache-control.ts';

test.each([
  [undefined, 'private'],
  ['', 'private'],
  ['public', 'private'],
  ['public, s-maxage=600', 'private'],
  ['PUBLIC,S-MaxAge=600, Max-Age=60', 'private, max-age=60'],
  ['max-age=60, proxy-revalidate, immutable', 'private, max-age=60, immutable'],
  ['no-store', 'private, no-store'],
  ['no-cache', 'private, no-cache'],
  ['no-cache="set-cookie, x", max-age="60"', 'private, no-cache, max-age=60'],
  ['private="x-user", max-age=60', 'private, max-age=60'],
  [
    'stale-while-revalidate=30, stale-if-error=60, must-revalidate',
    'private, stale-while-revalidate=30, stale-if-error=60, must-revalidate',
  ],
  ['max-age=60, x-edge-max-age=600, max-age', 'private, max-age=60'],
  ['x="a, public, s-maxage=9", max-age=1', 'private, max-age=1'],
  ['x="open, max-age=9', 'private'],
  [['public', 'max-age=60'], 'private, max-age=60'],
])('%j becomes %j', (stated, expected) => {
  expect(privateCacheControl(stated)).toBe(expected);
});

test('whatever an upstream states, no shared cache may store it', () => {
  const directive = fc.oneof(
    fc.constantFrom('public', 's-maxage=600', 'private="a"', 'max-age=60', 'must-revalidate', 'no-cache="b'),
    fc.string({ maxLength: 12 }),
  );
  fc.assert(
    fc.property(fc.array(directive), (directives) => {
      const [first, ...rest] = privateCacheControl(directives.join(',')).split(', ');
      expect(first).toBe('private');
      for (const one of rest) expect(one).not.toMatch(/public|s-maxage|private|"/i);
    }),
  );
});
