import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isAtOrBelow, isCanonicalPath } from './canonical-path.ts';

test.each([
  '/oauth2/token',
  '/user',
  '/user/',
  '/user/api_v2/applications/17',
  '/user/assets/index-B2x.js',
  '/.well-known/oauth-authorization-server',
  '/user/caf%C3%A9',
  '/user/...',
])('%s is canonical', (path) => {
  expect(isCanonicalPath(path)).toBe(true);
});

test.each([
  '',
  '*',
  'oauth2',
  '//oauth2/token',
  '/oauth2//token',
  '/oauth2/../private',
  '/oauth2/./token',
  '/oauth2/..',
  '/oauth2/..;/private',
  '/oauth2/.;x/private',
  '/oauth2/%2e%2e/private',
  '/oauth2/%2E./private',
  '/oauth2%2f..%2fprivate',
  '/oauth2/%252e%252e/private',
  '/oauth2/..%5cprivate',
  '/oauth2\\..\\private',
  '/oauth2/%00',
  '/oauth2/%0d%0aX:y',
  '/oauth2/%',
  '/oauth2/%zz',
  '/oauth2/a b',
  '/oauth2/#',
  'http://other/oauth2',
])('%j is not', (path) => {
  expect(isCanonicalPath(path)).toBe(false);
});

test('a canonical path is the same after every normalisation that a server may do', () => {
  const piece = fc.constantFrom(
    '/',
    '.',
    '..',
    '%2e',
    '%2F',
    '%5c',
    '%25',
    ';',
    'a',
    'oauth2',
    '\\',
    '%41',
    '?',
    '#',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const path = `/${pieces.join('')}`;
      if (!isCanonicalPath(path)) return;
      expect(new URL(path, 'http://host').pathname).toBe(path);
      const decoded = decodeURIComponent(path);
      expect(decoded.split('/')).toHaveLength(path.split('/').length);
      expect(decoded).not.toMatch(/\\|\/\/|%/);
      expect(decoded.split('/').map((segment) => segment.split(';')[0])).not.toContain('..');
    }),
    { numRuns: 2_000 },
  );
});

test('a prefix ends at a segment', () => {
  expect(isAtOrBelow('/user', '/user')).toBe(true);
  expect(isAtOrBelow('/user/x', '/user')).toBe(true);
  expect(isAtOrBelow('/users', '/user')).toBe(false);
  expect(isAtOrBelow('/User', '/user')).toBe(false);
  expect(isAtOrBelow('/user/../private', '/user')).toBe(false);
});
