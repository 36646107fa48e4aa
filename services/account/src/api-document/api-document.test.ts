import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { z } from 'zod';
import { ANY_DOOR, createApiDocument } from './api-document.ts';
import { API_CHAPTERS } from './chapters.ts';
import { openContract } from '../../test/suite/contract/contract.ts';
import type { OpenApi } from '../../test/suite/contract/contract.ts';

const document = createApiDocument(ANY_DOOR);
const json = JSON.parse(JSON.stringify(document)) as OpenApi;
const operations = API_CHAPTERS.flatMap(({ operations: ofChapter }) => Object.entries(ofChapter));

describe("the API's document", () => {
  test('is OpenAPI 3.1', async () => {
    const result = await new Validator().validate({ ...document });
    expect(result).toEqual({ valid: true });
  });

  test('is the one in docs/openapi.json, where a review sees what changes (npm run openapi)', () => {
    const path = resolve(import.meta.dirname, '../../../../docs/openapi.json');
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(json);
  });

  test('has one schema for all errors of one content type, so that a generated client has one type', () => {
    const { operations: described } = openContract(json);
    const answers = [
      ...described.flatMap(({ responses }) => Object.values(responses)),
      ...Object.values(json.components.responses),
    ];
    const problems = answers.flatMap(({ content = {} }) => content['application/problem+json'] ?? []);
    expect(problems.length).toBeGreaterThan(0);
    for (const { schema } of problems) expect(schema).toEqual({ $ref: '#/components/schemas/Problem' });
  });

  test('names every operation once', () => {
    const ids = operations.map(([, { operationId }]) => operationId);
    expect(ids).toEqual([...new Set(ids)]);
    const routes = operations.map(([route]) => route);
    expect(routes).toEqual([...new Set(routes)]);
  });

  test('every path parameter is described, and none that is in no path', () => {
    for (const [route, { params }] of operations) {
      const inPath = [...route.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect([route, Object.keys(params?.shape ?? {})]).toEqual([route, inPath]);
    }
  });

  test('every schema is sound JSON Schema, and what is shown as an example is valid by it', () => {
    const { examples, faultsOf } = openContract(json);
    for (const { of, schema, value } of examples()) {
      expect([of, value, faultsOf(schema, value)]).toEqual([of, value, []]);
    }
  });

  test("an example of a body passes the endpoint's own validation", () => {
    for (const [route, { body, form, example }] of operations) {
      const schema: z.ZodType | undefined = body ?? form;
      if (schema !== undefined) expect([route, schema.safeParse(example).success]).toEqual([route, true]);
    }
  });
});
