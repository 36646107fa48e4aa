import { expect, test } from '@jest/globals';
import { allowedOrigins } from './allowed-origins.ts';

test.each([
  ['', []],
  ['*', ['*']],
  ['https://a.example', ['https://a.example']],
  [
    'https://a.example, http://localhost:5173\nhttps://[2001:db8::1]:8443',
    ['https://a.example', 'http://localhost:5173', 'https://[2001:db8::1]:8443'],
  ],
  ['capacitor://localhost', ['capacitor://localhost']],
])('"%s" are origins', (value, origins) => {
  expect(allowedOrigins.parse(value)).toEqual(origins);
});

test.each([
  '*, https://a.example',
  'https://*.example',
  'a.example',
  'https://a.example/',
  'https://a.example/path',
  'https://A.example',
  'https://a.example:443',
  'https://user@a.example',
  'https://a.example?x',
  'null',
  'https://',
])('"%s" are none', (value) => {
  expect(allowedOrigins.safeParse(value).success).toBe(false);
});
