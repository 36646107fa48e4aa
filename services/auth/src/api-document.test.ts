import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Described } from '@tollgate/operation';
import { createAuthDocument } from './api-document.ts';
import { API } from './api.ts';

const operations = API.flatMap(({ operations: ofChapter }): readonly Described[] => ofChapter);

test('the document is the one in docs/openapi-auth.json (npm run openapi)', () => {
  const path = resolve(import.meta.dirname, '../../../docs/openapi-auth.json');
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(JSON.parse(JSON.stringify(createAuthDocument())));
});

test('an example of a request is valid by its schema', () => {
  for (const { method, path, body, form, example } of operations) {
    const schema = body ?? form;
    if (schema !== undefined)
      expect([method, path, schema.safeParse(example).success]).toEqual([method, path, true]);
  }
});

test('every operation is a row of the README, on its listener', () => {
  const readme = readFileSync(resolve(import.meta.dirname, '../README.md'), 'utf8');
  const rows = [...readme.matchAll(/^\| `([A-Z]+ \/\S+)`/gm)].map(([, route]) => route);
  expect(rows.toSorted()).toEqual(operations.map(({ method, path }) => `${method} ${path}`).toSorted());
});
