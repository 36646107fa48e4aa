import type { ZodOpenApiOverride } from 'zod-openapi';

/** What zod writes of every z.int(), which says nothing. */
const SAFE_BOUNDS = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER } as const;

/**
 * Makes of a JSON Schema that zod wrote one that people and generators read more easily and that means the same: a
 * record with fixed keys is an object with these members, and a whole number has no bounds that JSON has anyway.
 */
export const plainerSchema: ZodOpenApiOverride = ({ jsonSchema }) => {
  for (const bound of ['minimum', 'maximum'] as const) {
    if (jsonSchema[bound] === SAFE_BOUNDS[bound]) Reflect.deleteProperty(jsonSchema, bound);
  }
  const { propertyNames, additionalProperties } = jsonSchema;
  if (typeof propertyNames !== 'object') return;
  delete jsonSchema.propertyNames;
  if (!Array.isArray(propertyNames.enum)) return;
  const names = propertyNames.enum.map(String);
  Object.assign(jsonSchema, {
    properties: Object.fromEntries(names.map((name) => [name, additionalProperties])),
    required: names,
    additionalProperties: false,
  });
};
