import type { Registry } from 'prom-client';
import { gaugeByVersion } from '../operation-reader/gauge-by-version.ts';
import type { ByVersion } from '../operation-reader/gauge-by-version.ts';
import type { CostSchemaSource } from './open-cost-schema.ts';

type Schemas = ByVersion<Pick<CostSchemaSource, 'ageSec' | 'unknownNames'>>;

/** Of the schemas by which calls are priced. */
export function observeSchemas(registry: Registry, schemas: Schemas): void {
  gaugeByVersion(registry, schemas, {
    name: 'tollgate_schema_age_seconds',
    help: 'Time since the GraphQL schema was last read, or found unchanged; since the start if it never was',
    read: ({ ageSec }) => ageSec(),
  });
  gaugeByVersion(registry, schemas, {
    name: 'tollgate_schema_unknown_costs',
    help: 'Names in the file of weights (GRAPHQL_COSTS) that the GraphQL schema lacks',
    read: ({ unknownNames }) => unknownNames(),
  });
}
