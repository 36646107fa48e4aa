import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import openapiTypescript, { COMMENT_HEADER, astToString } from 'openapi-typescript';

test('the client’s types are those of docs/openapi-operator.json (npm run openapi writes both)', async () => {
  const document = new URL('../../../../docs/openapi-operator.json', import.meta.url);
  const types = COMMENT_HEADER + astToString(await openapiTypescript(document));
  expect(readFileSync(new URL('schema.d.ts', import.meta.url), 'utf8')).toBe(types);
});
