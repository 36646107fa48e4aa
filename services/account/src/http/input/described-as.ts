import type { z } from 'zod';
import type { ZodOpenApiOverride, oas31 } from 'zod-openapi';

/** The JSON Schema of a schema that checks by code or transforms text, which zod can't describe. */
export function describedAs<S extends z.ZodType>(schema: S, description: oas31.SchemaObject): S {
  const override: ZodOpenApiOverride = ({ jsonSchema }) => {
    for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key);
    Object.assign(jsonSchema, description);
  };
  return schema.meta({ override });
}
