import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { ERROR_CODES } from '../src/index.ts';

/** Those of docs/errors.md that a program with an access token can get. */
const CHAPTERS = ['access', 'plan-and-limits', 'requests', 'availability', 'oauth'];

test('there is a class for each code that a caller can get, and for no other', () => {
  const document = readFileSync('docs/errors.md', 'utf8');
  const tableOf = (chapter: string) =>
    document.split(`<!-- generated: ${chapter} -->`)[1]?.split('<!-- end -->')[0] ?? '';
  const codes = CHAPTERS.flatMap((chapter) =>
    [...tableOf(chapter).matchAll(/^\| `(\w+)`/gm)].map(([, code]) => code),
  );
  const closes = [...tableOf('close-codes').matchAll(/^\| \d+ +\| `([a-z_]+)`/gm)].map(([, code]) => code);
  expect(codes.length).toBeGreaterThan(40);
  expect(closes.length).toBeGreaterThan(10);
  expect(ERROR_CODES.toSorted()).toEqual([...new Set([...codes, ...closes])].toSorted());
});
