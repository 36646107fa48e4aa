import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { FormatsPlugin } from 'ajv-formats';
import { compileLazily } from '@tollgate/testbed/lazy-schemas';
import { ANY_DOOR, createApiDocument } from '../../../src/api/owner.ts';

/** Checks real responses against the API's document, read as any client reads it. */

/** The parts of OpenAPI 3.1 that are read here. */
export type OpenApi = {
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: { responses: Record<string, OpenApiAnswer>; schemas: Record<string, JsonSchema> };
};

type JsonSchema = Record<string, unknown>;

type Parameter = { in: 'path' | 'query'; name: string; required?: boolean; schema: JsonSchema };

type Media = { schema: JsonSchema; example?: unknown; examples?: Record<string, { value: unknown }> };

type OpenApiAnswer = {
  $ref?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, Media>;
};

type OpenApiOperation = {
  operationId: string;
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, OpenApiAnswer>;
};

/** `body` is undefined if the operation takes none. */
export type ContractOperation = OpenApiOperation & {
  method: string;
  path: string;
  body: { type: string; schema: JsonSchema; example: unknown } | undefined;
};

export type RealAnswer = { status: number; headers: Headers; text: string };

export type Contract = {
  schemas: Readonly<Record<string, JsonSchema>>;
  operations: readonly ContractOperation[];
  /** How a value violates a schema of the document; empty if it is valid. */
  faultsOf: (schema: JsonSchema, value: unknown) => string[];
  /** How a response differs from the document. `path` is the request's. */
  faultsOfAnswer: (method: string, path: string, answer: RealAnswer) => string[];
  examples: () => { of: string; schema: JsonSchema; value: unknown }[];
};

/** OpenAPI's own keyword, which adds nothing to `oneOf`. */
const ANNOTATIONS = ['discriminator'];

/** Responses of Express itself, possible at every path. */
const WITHOUT_ROUTE = new Set([400, 401, 403, 404, 405, 415]);

const PROBLEM = { $ref: '#/components/schemas/Problem' };

let own: Contract | undefined;

export function ownContract(): Contract {
  own ??= openContract(JSON.parse(JSON.stringify(createApiDocument(ANY_DOOR))) as OpenApi);
  return own;
}

/** @throws {Error} if a response contradicts the API's document */
export function assertDocumented(method: string, path: string, answer: RealAnswer): void {
  const faults = ownContract().faultsOfAnswer(method, path, answer);
  if (faults.length > 0) {
    throw new Error(`${method} ${path} ${String(answer.status)} isn't as documented: ${faults.join('; ')}`);
  }
}

export function openContract(document: OpenApi): Contract {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true, keywords: ANNOTATIONS });
  // The types describe the CommonJS module, which is nested one level deeper.
  (formats as unknown as FormatsPlugin)(ajv);
  ajv.addFormat('password', true);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
      body: bodyOf(operation),
    })),
  );
  // As OpenAPI prescribes, a path without parameters goes before one with them.
  const routes = operations
    .toSorted((one, other) => Number(one.path.includes('{')) - Number(other.path.includes('{')))
    .map((operation) => ({ operation, pattern: patternOf(operation.path) }));
  const compile = compileLazily(ajv, document.components.schemas);
  const validators = new Map<string, ReturnType<typeof ajv.compile>>();

  function faultsOf(schema: JsonSchema, value: unknown): string[] {
    const key = JSON.stringify(schema);
    let validate = validators.get(key);
    if (validate === undefined) {
      validate = compile(schema);
      validators.set(key, validate);
    }
    // The validator's type also allows an asynchronous one.
    if (validate(value) === true) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message = '', params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }

  function operationAt(method: string, target: string): ContractOperation | undefined {
    const [path = ''] = target.split('?');
    return routes.find(({ operation, pattern }) => operation.method === method && pattern.test(path))
      ?.operation;
  }

  const answerOf = (answer: OpenApiAnswer): OpenApiAnswer => {
    const name = answer.$ref?.replace('#/components/responses/', '');
    return name === undefined ? answer : (document.components.responses[name] ?? {});
  };

  return {
    schemas: document.components.schemas,
    operations,
    faultsOf,
    faultsOfAnswer: (method, path, answer) => {
      const operation = operationAt(method === 'HEAD' ? 'GET' : method, path);
      if (operation === undefined) {
        return WITHOUT_ROUTE.has(answer.status)
          ? faultsOf(PROBLEM, parsed(answer.text))
          : [`${String(answer.status)} where there is no operation`];
      }
      const described = operation.responses[answer.status] ?? operation.responses['default'];
      if (described === undefined) return [`${String(answer.status)} isn't documented: ${answer.text}`];
      return [
        ...missingHeaders(answerOf(described), answer),
        ...faultsOfBody(answerOf(described), answer, method, faultsOf),
      ];
    },
    examples: () =>
      operations.flatMap(({ method, path, body, responses }) => {
        const of = `${method} ${path}`;
        const media = Object.values(responses).flatMap((answer) =>
          Object.values(answerOf(answer).content ?? {}),
        );
        const answers = media.flatMap(({ schema, example, examples = {} }) =>
          [example, ...Object.values(examples).map(({ value }) => value)]
            .filter((value) => value !== undefined)
            .map((value) => ({ of, schema, value })),
        );
        return body === undefined ? answers : [{ of, schema: body.schema, value: body.example }, ...answers];
      }),
  };
}

function bodyOf({ requestBody }: OpenApiOperation): ContractOperation['body'] {
  const [entry] = Object.entries(requestBody?.content ?? {});
  if (entry === undefined) return undefined;
  const [type, { schema, example }] = entry;
  return { type, schema, example };
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

function missingHeaders({ headers = {} }: OpenApiAnswer, answer: RealAnswer): string[] {
  return Object.keys(headers)
    .filter((name) => !answer.headers.has(name))
    .map((name) => `the header ${name} is missing`);
}

function faultsOfBody(
  { content }: OpenApiAnswer,
  answer: RealAnswer,
  method: string,
  faultsOf: Contract['faultsOf'],
): string[] {
  if (method === 'HEAD') return answer.text === '' ? [] : ['HEAD has a body'];
  if (content === undefined)
    return answer.text === '' ? [] : [`a body where none is documented: ${answer.text}`];
  const type = answer.headers.get('content-type')?.split(';')[0] ?? 'none';
  const media = content[type];
  if (media === undefined) return [`the content type ${type} isn't documented`];
  const value = type.endsWith('json') ? parsed(answer.text) : answer.text;
  return [...faultsOf(media.schema, value), ...undocumentedCode(type, media, value)].map(
    (fault) => `${fault} in ${answer.text.slice(0, 500)}`,
  );
}

/** All problems have one schema; the examples name the possible codes. */
function undocumentedCode(type: string, { examples = {} }: Media, value: unknown): string[] {
  if (type !== 'application/problem+json') return [];
  const { code } = value as { code: string };
  return code in examples ? [] : [`the code ${code} isn't documented`];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return `no JSON: ${text}`;
  }
}
