import { readFileSync } from 'node:fs';
import { pathOf } from './books.ts';
import type { Book } from './books.ts';

type Schema = {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
};

type Content = Record<
  string,
  { schema?: Schema; example?: unknown; examples?: Record<string, { value: unknown }> }
>;

type Header = { $ref?: string; description?: string };
type Response = {
  $ref?: string;
  description?: string;
  headers?: Record<string, Header>;
  content?: Content;
};

type Operation = {
  tags: string[];
  summary: string;
  description?: string;
  security?: Record<string, unknown>[];
  parameters?: { in: string; name: string; required?: boolean; description?: string; schema?: Schema }[];
  requestBody?: { content: Content };
  responses: Record<string, Response>;
};

type Document = {
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, Response>;
    headers?: Record<string, Header>;
    securitySchemes: Record<string, { description?: string }>;
  };
};

/** The largest number that can be stored: no limit that a caller meets. */
const NO_BOUND = 999_999_999_999_999;

/** Fields within fields are listed as deep as this; a reader of the rest needs the document itself. */
const DEPTH = 5;

/**
 * A page for each tag of an OpenAPI 3.1 document: its operations with parameters, bodies and answers, as Markdown.
 * `file`: the document, which packages/operation made of the declarations.
 */
export function referencePages(file: string, book: Book): { id: string; title: string; body: string }[] {
  const document = JSON.parse(readFileSync(file, 'utf8')) as Document;
  return document.tags.map(({ name, description = '' }) => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, operation]) => operation.tags.includes(name))
        .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    );
    const parts = operations.map((each) => operationText(document, book, each));
    return { id: referenceId(name), title: name, body: [description, ...parts].join('\n\n') };
  });
}

/** The IDs of a document's pages, in its order. */
export function referenceIds(file: string): string[] {
  return (JSON.parse(readFileSync(file, 'utf8')) as Document).tags.map(({ name }) => referenceId(name));
}

function referenceId(tag: string): string {
  const slug = tag
    .toLowerCase()
    .replaceAll(/['’]/g, '')
    .replaceAll(/[^a-z0-9]+/g, '-');
  return `api/${slug}`;
}

function operationText(
  document: Document,
  book: Book,
  { method, path, operation }: { method: string; path: string; operation: Operation },
): string {
  const { summary, description, parameters = [], requestBody, responses } = operation;
  const [bodyType, body] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  return [
    `## ${summary}`,
    `\`${method} ${path}\``,
    description,
    callers(document, operation),
    table(
      'Parameters',
      parameters.map(({ name, in: place, required, schema = {}, description: own }) =>
        row(name, typeOf(document, schema), [
          place === 'path' ? '' : `${required === true ? 'Required' : 'Optional'}, in the ${place}.`,
          own ?? schema.description ?? '',
          bounds(schema),
        ]),
      ),
    ),
    table(
      `Body${bodyType === undefined || bodyType === 'application/json' ? '' : ` (\`${bodyType}\`)`}`,
      fieldRows(document, body?.schema ?? {}),
    ),
    sample('A request', body),
    ...Object.entries(responses)
      .filter(([status]) => status.startsWith('2'))
      .map(([status, response]) => answerText(document, status, response)),
    refusals(document, book, responses),
  ]
    .filter((part) => part !== undefined && part !== '')
    .join('\n\n');
}

/** Who may call it: the schemes, of which one is enough. */
function callers({ components }: Document, { security = [] }: Operation): string {
  const ways = security.map((schemes) =>
    Object.keys(schemes)
      .map((name) => components.securitySchemes[name]?.description ?? name)
      .join(' '),
  );
  const [first, ...others] = ways.filter((way) => way !== '');
  if (first === undefined) return 'Without credentials.';
  return [`**Credentials:** ${first}`, ...others.map((way) => `Or: ${way}`)].join(' ');
}

function answerText(document: Document, status: string, response: Response): string {
  const { description = '', content = {} } = resolved(response, document.components.responses);
  const [type, body] = Object.entries(content)[0] ?? [];
  const isShown = type === 'application/json';
  return [
    `### ${status}`,
    description,
    table('Fields', isShown ? fieldRows(document, body?.schema ?? {}) : []),
    isShown ? sample('An answer', body) : '',
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** What is refused: the description of each answer begins with its codes. */
function refusals(document: Document, book: Book, responses: Record<string, Response>): string {
  const listed = Object.entries(responses)
    .filter(([status]) => !status.startsWith('2'))
    .map(([status, response]) => {
      const { description = '' } = resolved(response, document.components.responses);
      return `- **${status === 'default' ? 'Others' : status}:** ${description}`;
    });
  return listed.length === 0
    ? ''
    : `### Errors\n\n[Errors](${pathOf(book, 'errors')}) says what to do at each code.\n\n${listed.join('\n')}`;
}

function sample(label: string, body: Content[string] | undefined): string {
  const value = body?.example ?? Object.values(body?.examples ?? {})[0]?.value;
  return value === undefined ? '' : `${label}:\n\n\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
}

function fieldRows(document: Document, schema: Schema, prefix = '', depth = 0): string[] {
  const own = resolved(schema, document.components.schemas);
  const choices = [...(own.anyOf ?? []), ...(own.oneOf ?? [])];
  if (depth > DEPTH) return [];
  const rows = choices.flatMap((choice) => fieldRows(document, choice, prefix, depth + 1));
  if (own.items !== undefined) rows.push(...fieldRows(document, own.items, `${prefix}[]`, depth + 1));
  if (typeof own.additionalProperties === 'object')
    rows.push(...fieldRows(document, own.additionalProperties, `${prefix}.*`, depth + 1));
  for (const [name, field] of Object.entries(own.properties ?? {})) {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const target = resolved(field, document.components.schemas);
    rows.push(
      row(path, typeOf(document, field), [
        own.required?.includes(name) === true ? '' : 'Optional.',
        field.description ?? target.description ?? '',
        bounds(target),
      ]),
      ...fieldRows(document, field, path, depth + 1),
    );
  }
  // Choices may share fields.
  return [...new Set(rows)];
}

function typeOf(document: Document, schema: Schema): string {
  const own = resolved(schema, document.components.schemas);
  if (own.const !== undefined) return `\`${JSON.stringify(own.const)}\``;
  if (own.enum !== undefined) return own.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  const choices = [...(own.anyOf ?? []), ...(own.oneOf ?? [])];
  if (choices.length > 0) return [...new Set(choices.map((choice) => typeOf(document, choice)))].join(' or ');
  const types = (Array.isArray(own.type) ? own.type : [own.type ?? 'any']).join(' or ');
  const ofItems = own.items === undefined ? '' : ` of ${typeOf(document, own.items)}`;
  return own.format === undefined ? `${types}${ofItems}` : `${types} (${own.format})`;
}

function bounds({ minimum, maximum, maxLength, default: preset }: Schema): string {
  const [first = '', ...others] = [
    minimum === undefined ? '' : `at least ${String(minimum)}`,
    maximum === undefined || maximum >= NO_BOUND ? '' : `at most ${String(maximum)}`,
    maxLength === undefined ? '' : `at most ${String(maxLength)} characters`,
    preset === undefined ? '' : `\`${JSON.stringify(preset)}\` by default`,
  ].filter((text) => text !== '');
  return first === '' ? '' : `${[first.charAt(0).toUpperCase() + first.slice(1), ...others].join(', ')}.`;
}

function resolved<Value extends { $ref?: string }>(value: Value, components: Record<string, Value>): Value {
  const name = value.$ref?.split('/').at(-1);
  return name === undefined ? value : (components[name] ?? value);
}

function row(name: string, type: string, texts: string[]): string {
  const text = texts.filter((each) => each !== '').join(' ');
  return `| \`${name}\` | ${type} | ${text.replaceAll('|', '\\|').replaceAll('\n', ' ')} |`;
}

function table(label: string, rows: string[]): string {
  return rows.length === 0
    ? ''
    : [`**${label}**`, '', '| name | type | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}
