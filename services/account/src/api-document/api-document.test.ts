import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { z } from 'zod';
import type { Described } from '@tollgate/operation';
import type { ApiDocument } from '@tollgate/operation/api-document';
import { OPERATOR_API, createOperatorDocument } from '../api/operator.ts';
import { ANY_DOOR, OWNER_API, createApiDocument } from '../api/owner.ts';
import { REPORTER_API, SERVICE_API, createServicesDocument } from '../api/services.ts';
import { openContract } from '../../test/suite/contract/contract.ts';
import type { OpenApi } from '../../test/suite/contract/contract.ts';

const document = createApiDocument(ANY_DOOR);
const json = JSON.parse(JSON.stringify(document)) as OpenApi;
const operations: readonly Described[] = OWNER_API.flatMap(({ operations: ofChapter }) => [...ofChapter]);
const ofOperators: readonly Described[] = OPERATOR_API.flatMap(({ operations: ofChapter }) => [...ofChapter]);
const ofServices: readonly Described[] = [...SERVICE_API, ...REPORTER_API].flatMap(
  ({ operations: ofChapter }) => [...ofChapter],
);
const routeOf = ({ method, path }: Described) => `${method} ${path}`;

describe("the API's document", () => {
  test('is OpenAPI 3.1', async () => {
    const result = await new Validator().validate({ ...document });
    expect(result).toEqual({ valid: true });
  });

  test('is the one in docs/openapi.json, where a review sees what changes (npm run openapi)', () => {
    const path = resolve(import.meta.dirname, '../../../../docs/openapi.json');
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(json);
  });

  test("of the operators' API is OpenAPI 3.1, too, and the one in docs/openapi-operator.json", async () => {
    await expectWritten(createOperatorDocument(), 'openapi-operator.json');
  });

  test.each([document, createOperatorDocument(), createServicesDocument()])(
    'has a name for each schema that it shares (%#)',
    ({ components }) => {
      expect(Object.keys(components?.schemas ?? {}).filter((name) => !/^[A-Z]/.test(name))).toEqual([]);
    },
  );

  test("of the services' API is OpenAPI 3.1, too, and the one in docs/openapi-services.json", async () => {
    await expectWritten(createServicesDocument(), 'openapi-services.json');
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
    for (const all of [operations, ofOperators, ofServices]) {
      const ids = all.map(({ operationId }) => operationId);
      expect(ids).toEqual([...new Set(ids)]);
      const routes = all.map(routeOf);
      expect(routes).toEqual([...new Set(routes)]);
    }
  });

  test('every path parameter is described, and none that is in no path', () => {
    for (const { params, ...operation } of [...operations, ...ofOperators, ...ofServices]) {
      const route = routeOf(operation);
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
    for (const { body, form, example, ...operation } of [...operations, ...ofOperators, ...ofServices]) {
      const route = routeOf(operation);
      const schema: z.ZodType | undefined = body ?? form;
      if (schema !== undefined) expect([route, schema.safeParse(example).success]).toEqual([route, true]);
    }
  });
});

async function expectWritten(written: ApiDocument, name: string): Promise<void> {
  expect(await new Validator().validate({ ...written })).toEqual({ valid: true });
  const path = resolve(import.meta.dirname, '../../../../docs', name);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(JSON.parse(JSON.stringify(written)));
}
