import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import type { HttpRequest } from '@tollgate/plain-http/message';
import { pathOf } from '@tollgate/http/request-head';

export const DATA_PATH = '/graphql';
export const V1_DATA_PATH = '/v1/graphql';

export const ESTIMATE_PATH = '/graphql/estimate';
export const V1_ESTIMATE_PATH = '/v1/graphql/estimate';

/** The API version of a data call's path, or an estimate's, or null. */
export function apiVersionOf(req: Pick<HttpRequest, 'url'>): UsageEvent['api_version'] | null {
  const path = pathOf(req);
  if (path === DATA_PATH || path === ESTIMATE_PATH) return 'v2';
  return path === V1_DATA_PATH || path === V1_ESTIMATE_PATH ? 'v1' : null;
}
