import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { CostSchemaSource } from './open-cost-schema.ts';

type Schemas = Readonly<Record<'v1' | 'v2', Pick<CostSchemaSource, 'ageSec' | 'unknownNames'> | null>>;

/** Of the schemas by which calls are priced; those that aren't configured have no samples. */
export function observeSchemas(registry: Registry, schemas: Schemas): void {
  const observe = (
    description: { name: string; help: string },
    read: (schema: NonNullable<Schemas['v2']>) => number,
  ) =>
    new Gauge({
      ...description,
      labelNames: ['api_version'],
      registers: [registry],
      collect() {
        for (const [api_version, schema] of Object.entries(schemas)) {
          if (schema !== null) this.set({ api_version }, read(schema));
        }
      },
    });
  observe(
    {
      name: 'tollgate_schema_age_seconds',
      help: 'Time since the GraphQL schema was last read, or found unchanged; since the start if it never was',
    },
    ({ ageSec }) => ageSec(),
  );
  observe(
    {
      name: 'tollgate_schema_unknown_costs',
      help: 'Names in the file of weights (GRAPHQL_COSTS) that the GraphQL schema lacks',
    },
    ({ unknownNames }) => unknownNames(),
  );
}
