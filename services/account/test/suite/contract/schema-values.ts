import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';

/** Values that are valid by a JSON Schema, for the keywords that the API's document uses. */

export type Schema = {
  $ref?: string;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: unknown;
};

const MAX_CHARACTERS = 300;

const FORMATS: Readonly<Record<string, Arbitrary<string>>> = {
  email: fc
    .tuple(fc.stringMatching(/^[a-z0-9]{1,20}$/), fc.stringMatching(/^[a-z]{1,10}$/))
    .map(([name, host]) => `${name}@${host}.example`),
  uuid: fc.uuid(),
  uri: fc.webUrl(),
  'date-time': fc
    .date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })
    .map((date) => `${date.toISOString().slice(0, 19)}Z`),
};

/** `known` has existing ids by member, because they lead further than unknown ones. */
export function validValues(
  schema: Schema,
  schemas: Readonly<Record<string, Schema>>,
  known: Readonly<Record<string, unknown>> = {},
): Arbitrary<unknown> {
  const of = (inner: Schema) => validValues(inner, schemas, known);
  if (schema.$ref !== undefined) return of(schemas[schema.$ref.replace('#/components/schemas/', '')] ?? {});
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return fc.oneof(...choices.map(of));
  switch (schema.type) {
    case 'string':
      return text(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1_000, max: Math.min(schema.maximum ?? 2 ** 31, 2 ** 31) });
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(of(schema.items ?? {}), { maxLength: 5 });
    case 'object':
      return object(schema, schemas, known);
    default:
      return fc.jsonValue();
  }
}

function text({
  format = '',
  pattern,
  minLength = 0,
  maxLength = MAX_CHARACTERS,
}: Schema): Arbitrary<string> {
  const ofFormat = FORMATS[format];
  if (ofFormat !== undefined) return ofFormat;
  const shortest = Math.max(minLength, 0);
  const longest = Math.min(maxLength, shortest + MAX_CHARACTERS);
  if (pattern === undefined) return fc.string({ unit: 'binary', minLength: shortest, maxLength: longest });
  const whole = new RegExp(pattern);
  return fc.stringMatching(whole).filter((value) => Array.from(value).length <= longest);
}

function object(
  { properties = {}, required = [] }: Schema,
  schemas: Readonly<Record<string, Schema>>,
  known: Readonly<Record<string, unknown>>,
): Arbitrary<unknown> {
  const members = Object.entries(properties).map(([name, schema]) => {
    const any = validValues(schema, schemas, known);
    return [name, name in known ? fc.oneof(fc.constant(known[name]), any) : any] as const;
  });
  return fc.record(Object.fromEntries(members), { requiredKeys: required });
}
