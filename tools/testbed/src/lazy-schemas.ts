import type { Ajv, KeywordDefinition, SchemaValidateFunction, ValidateFunction } from 'ajv';

/** In place of `$ref`, with the name of a schema. */
const KEYWORD = 'schemaNamed';

const REFERENCE = '#/components/schemas/';

/**
 * Has `ajv` compile each schema of an OpenAPI document when a value first reaches it. An object of an API refers to
 * hundreds of others, which stand in its answers by their ids: to compile them all takes seconds.
 *
 * Returns what compiles a schema that refers to those of the document.
 */
export function compileLazily(
  ajv: Pick<Ajv, 'addKeyword' | 'compile'>,
  schemas: Readonly<Record<string, unknown>>,
): (schema: unknown) => ValidateFunction {
  const compiled = new Map<string, ValidateFunction>();
  const compile = (schema: unknown) => ajv.compile(named(schema) as object);

  function validatorOf(name: string): ValidateFunction {
    const validate = compiled.get(name) ?? compile(schemas[name]);
    compiled.set(name, validate);
    return validate;
  }

  const validate: SchemaValidateFunction = (name: string, value: unknown, _parent, at) => {
    const ofSchema = validatorOf(name);
    if (ofSchema(value)) return true;
    validate.errors = (ofSchema.errors ?? []).map((error) => ({
      ...error,
      instancePath: `${at?.instancePath ?? ''}${error.instancePath}`,
    }));
    return false;
  };
  ajv.addKeyword({
    keyword: KEYWORD,
    schemaType: 'string',
    errors: 'full',
    validate,
  } satisfies KeywordDefinition);
  return compile;
}

function named(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(named);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) =>
      name === '$ref' && typeof member === 'string' && member.startsWith(REFERENCE)
        ? [KEYWORD, member.slice(REFERENCE.length)]
        : [name, named(member)],
    ),
  );
}
