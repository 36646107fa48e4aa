import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import type { ValidateFunction } from 'ajv';
import { compileLazily } from '../lazy-schemas.ts';

/** Says what is wrong with an answer or an event by Stripe's own OpenAPI document; nothing if it is right. */
export type StripeDocument = {
  checkResponse: (request: { method: string; path: string }, status: number, body: unknown) => string[];
  checkEvent: (event: unknown) => string[];
};

type Schema = { [name: string]: unknown };
type Operation = { responses: Record<string, { content?: Record<string, { schema?: Schema }> }> };
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

const documents = new Map<string, StripeDocument>();

/** Read once by a worker: its suites would compile the same schemas, in seconds each. */
export function stripeDocument(path: string): StripeDocument {
  let document = documents.get(path);
  if (document === undefined) {
    document = readStripeDocument(path);
    documents.set(path, document);
  }
  return document;
}

function readStripeDocument(path: string): StripeDocument {
  const { paths, components } = JSON.parse(readFileSync(path, 'utf8')) as Document;
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  const compile = compileLazily(ajv, nullsOf(components.schemas) as Record<string, unknown>);
  const compiled = new Map<string, ValidateFunction>();
  const templates = Object.keys(paths).map((template) => ({ template, parts: template.split('/') }));

  function check(what: string, schema: Schema, value: unknown): string[] {
    const key = JSON.stringify(schema);
    let validate = compiled.get(key);
    if (validate === undefined) {
      validate = compile(nullsOf(schema));
      compiled.set(key, validate);
    }
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message }) => `${what}: ${instancePath} ${message ?? ''}`,
    );
  }

  const checkObject = (object: unknown): string[] => {
    const kind = String((object as { object?: unknown }).object);
    if (components.schemas[kind] === undefined) return [`${kind}: Stripe has no such object`];
    return check(kind, { $ref: `#/components/schemas/${kind}` }, object);
  };

  return {
    checkResponse: ({ method, path }, status, body) => {
      const exact = paths[path] === undefined ? undefined : path;
      const template = exact ?? templates.find(({ parts }) => fits(path.split('/'), parts))?.template;
      const operation = template === undefined ? undefined : paths[template]?.[method.toLowerCase()];
      if (template === undefined || operation === undefined)
        return [`${method} ${path}: Stripe has no such operation`];
      const name = status < 400 ? '200' : 'default';
      const schema = operation.responses[name]?.content?.['application/json']?.schema;
      if (schema === undefined) return [`${method} ${template}: no schema for ${String(status)}`];
      return check(`${method} ${template} ${name}`, schema, body);
    },
    checkEvent: (event) => [
      ...checkObject(event),
      ...checkObject((event as { data: { object: unknown } }).data.object),
    ],
  };
}

function fits(path: readonly string[], parts: readonly string[]): boolean {
  return (
    path.length === parts.length && parts.every((part, index) => part.startsWith('{') || part === path[index])
  );
}

/** OpenAPI 3.0 says `nullable`, JSON Schema has a type for it. */
function nullsOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(nullsOf);
  if (typeof value !== 'object' || value === null) return value;
  const { nullable, ...members } = value as Schema;
  const converted = Object.fromEntries(
    Object.entries(members).map(([name, member]) => [name, nullsOf(member)]),
  );
  // First: what is null needs no schema of what it isn't.
  return nullable === true ? { anyOf: [{ type: 'null' }, converted] } : converted;
}
