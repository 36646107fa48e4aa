import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { ERROR_CODES } from '../../typescript/src/index.ts';

test('the codes are those of the TypeScript library, which a test compares with docs/errors.md', () => {
  const source = readFileSync('clients/python/src/tollgate_client/errors.py', 'utf8');
  const lists = [...source.matchAll(/^\w+Code = Literal\[([^\]]*)\]/gm)].map(([, list = '']) => list);
  const codes = lists.flatMap((list) => [...list.matchAll(/"(\w+)"/g)].map(([, code]) => code));
  expect(codes.toSorted()).toEqual(ERROR_CODES.toSorted());
});
