import { expect, test } from '@jest/globals';
import { nextPage } from './next-page.ts';

test('leads to the page that was requested', () => {
  expect(nextPage('/usage?range=7d')).toBe('/user/usage?range=7d');
  expect(nextPage('/')).toBe('/user');
});

test.each([
  undefined,
  null,
  5,
  true,
  {},
  ['/usage'],
  '',
  'usage',
  'https://a.example',
  '/..//a.example',
  '/../api',
])('leads to the Overview from %p', (next) => {
  expect(nextPage(next)).toBe('/user');
});

test('stays at this address', () => {
  expect(nextPage('//a.example')).toBe('/user//a.example');
});
