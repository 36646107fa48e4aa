import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import type { HttpRequest } from '@tollgate/plain-http/message';
import { pathOf } from '@tollgate/http/request-head';

export const DATA_PATH = '/graphql';
export const V1_DATA_PATH = '/v1/graphql';

export const ESTIMATE_PATH = '/graphql/estimate';
export const V1_ESTIMATE_PATH = '/v1/graphql/estimate';

export const COSTS_PATH = '/graphql/costs';
export const V1_COSTS_PATH = '/v1/graphql/costs';

const VERSIONS = new Map<string, UsageEvent['api_version']>([
  [DATA_PATH, 'v2'],
  [ESTIMATE_PATH, 'v2'],
  [COSTS_PATH, 'v2'],
  [V1_DATA_PATH, 'v1'],
  [V1_ESTIMATE_PATH, 'v1'],
  [V1_COSTS_PATH, 'v1'],
]);

/** The API version of a data call's path, or of one beside it that tells prices, or null. */
export function apiVersionOf(req: Pick<HttpRequest, 'url'>): UsageEvent['api_version'] | null {
  return VERSIONS.get(pathOf(req)) ?? null;
}

/** Whether the path tells what the parts of a schema weigh. */
export function isCostsPath(req: Pick<HttpRequest, 'url'>): boolean {
  const path = pathOf(req);
  return path === COSTS_PATH || path === V1_COSTS_PATH;
}
