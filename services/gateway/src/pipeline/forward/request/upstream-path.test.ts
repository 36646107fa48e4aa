import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { upstreamPath } from './upstream-path.ts';

test.each([
  ['GET', '?query=%7Ba%7D&variables=%7B%7D', '/api/graphql?query=%7Ba%7D&variables=%7B%7D'],
  ['GET', '?query=a&token=tg_secret', '/api/graphql?query=a'],
  ['GET', '?token=x&query=a&access_token=y', '/api/graphql?query=a'],
  ['GET', '?TOKEN=x&%74oken=y&to%6Ben', '/api/graphql'],
  ['GET', '?tokens=1&query=token', '/api/graphql?tokens=1&query=token'],
  ['GET', '?', '/api/graphql'],
  ['GET', '', '/api/graphql'],
  ['POST', '?query=a', '/api/graphql'],
])('%s %s goes to %s', (method, query, expected) => {
  expect(upstreamPath('/api/graphql', method, query)).toBe(expected);
});

test('no token parameter survives, by the reading of any URL parser, and nothing else changes', () => {
  const name = fc.oneof(
    fc.constantFrom('token', 'Token', 'access_token', '%74oken', '+token', 'tok%65n'),
    fc.stringMatching(/^[a-z%+]{0,6}$/),
  );
  const pairs = fc.array(fc.tuple(name, fc.stringMatching(/^[a-z0-9=%;]{0,6}$/)), { maxLength: 6 });
  fc.assert(
    fc.property(pairs, (given) => {
      const query = `?${given.map(([key, value]) => `${key}=${value}`).join('&')}`;
      const passed = upstreamPath('/', 'GET', query).slice(2);
      const names = [...new URLSearchParams(passed).keys()].map((key) => key.toLowerCase());
      expect(names).not.toContain('token');
      expect(names).not.toContain('access_token');
      for (const pair of passed === '' ? [] : passed.split('&'))
        expect(query.slice(1).split('&')).toContain(pair);
    }),
  );
});
