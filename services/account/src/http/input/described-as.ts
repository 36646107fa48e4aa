import type { z } from 'zod';
import type { ZodOpenApiOverride, oas31 } from 'zod-openapi';

/**
 * A schema whose JSON Schema in the API's document is the given one: where it checks by code, or turns text of a
 * query or path into something else, zod can't tell what may be sent.
 */
export function describedAs<S extends z.ZodType>(schema: S, description: oas31.SchemaObject): S {
  const override: ZodOpenApiOverride = ({ jsonSchema }) => {
    for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key);
    Object.assign(jsonSchema, description);
  };
  return schema.meta({ override });
}
