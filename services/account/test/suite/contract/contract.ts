import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { FormatsPlugin } from 'ajv-formats';
import { ANY_DOOR, createApiDocument } from '../../../src/api-document/api-document.ts';

/** The API's document, read as any client reads it, to hold real answers to it. */

/** What of OpenAPI 3.1 is read here. */
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

/** One operation; `body` is undefined where it takes none. */
export type ContractOperation = OpenApiOperation & {
  method: string;
  path: string;
  body: { type: string; schema: JsonSchema; example: unknown } | undefined;
};

export type RealAnswer = { status: number; headers: Headers; text: string };

export type Contract = {
  schemas: Readonly<Record<string, JsonSchema>>;
  operations: readonly ContractOperation[];
  /** What is wrong with a value by a schema of the document; nothing: it is valid. */
  faultsOf: (schema: JsonSchema, value: unknown) => string[];
  /** What of an answer the document doesn't say. `path` is the request's. */
  faultsOfAnswer: (method: string, path: string, answer: RealAnswer) => string[];
  /** Each example of an answer, with its schema. */
  examples: () => { of: string; schema: JsonSchema; value: unknown }[];
};

/** OpenAPI's own keyword, which says nothing that `oneOf` doesn't; and where references lead. */
const ANNOTATIONS = ['discriminator', 'components'];

/** Express' own, which every path can be answered with. */
const WITHOUT_ROUTE = new Set([400, 401, 403, 404, 405, 415]);

const PROBLEM = { $ref: '#/components/schemas/Problem' };

let own: Contract | undefined;

/** The contract of account as it is. */
export function ownContract(): Contract {
  own ??= openContract(JSON.parse(JSON.stringify(createApiDocument(ANY_DOOR))) as OpenApi);
  return own;
}

/** @throws {Error} for an answer that isn't as the API's document has it */
export function assertDocumented(method: string, path: string, answer: RealAnswer): void {
  const faults = ownContract().faultsOfAnswer(method, path, answer);
  if (faults.length > 0) {
    throw new Error(`${method} ${path} ${String(answer.status)} isn't as documented: ${faults.join('; ')}`);
  }
}

export function openContract(document: OpenApi): Contract {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true, keywords: ANNOTATIONS });
  // Its types describe the CommonJS module, which is one level further in.
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
  const validators = new Map<string, ReturnType<typeof ajv.compile>>();

  function faultsOf(schema: JsonSchema, value: unknown): string[] {
    const key = JSON.stringify(schema);
    const validate = validators.get(key) ?? ajv.compile({ allOf: [schema], components: document.components });
    validators.set(key, validate);
    // Its type could be that of an asynchronous one.
    if (validate(value) === true) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message = '', params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
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
      const operation = findOperation(operations, method === 'HEAD' ? 'GET' : method, path);
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

/** As OpenAPI has it: a path without parameters goes before one with them. */
function findOperation(
  operations: readonly ContractOperation[],
  method: string,
  target: string,
): ContractOperation | undefined {
  const [path = ''] = target.split('?');
  return operations
    .filter((operation) => operation.method === method)
    .toSorted((one, other) => Number(one.path.includes('{')) - Number(other.path.includes('{')))
    .find((operation) => new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path));
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

/** All problems have one schema; the examples name the codes that an answer can have. */
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
