import { expect, test } from '@jest/globals';
import { isAmbiguousPath } from './literal-path.ts';

test.each([
  '/operator/../private',
  '/operator/..',
  '/operator/./x',
  '/operator/%2e%2e/private',
  '/operator/.%2E/private',
  '/operator/..%2fprivate',
  '/operator%2f..%2fprivate',
  '/operator/..\\private',
  '/operator/..%5Cprivate',
  '/operator/..;/private',
])('%s is ambiguous', (path) => {
  expect(isAmbiguousPath(path)).toBe(true);
});

test.each([
  '/operator/',
  '/operator/docs/a.b',
  '/operator/...',
  '/operator/..a',
  '/operator/a..',
  '/operator/a%2eb',
])('%s is not', (path) => {
  expect(isAmbiguousPath(path)).toBe(false);
});
