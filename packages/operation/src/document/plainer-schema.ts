import type { ZodOpenApiOverride } from 'zod-openapi';

/** zod writes them for every z.int(). */
const SAFE_BOUNDS = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER } as const;

/** Simplifies zod's JSON Schema: records with fixed keys become objects, and safe-integer bounds are left out. */
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
