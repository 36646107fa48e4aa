import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import type { HttpRequest } from '@tollgate/plain-http/message';
import { pathOf } from '@tollgate/http/request-head';

export const DATA_PATH = '/graphql';
export const V1_DATA_PATH = '/v1/graphql';

/** The API version of a data call's path, or null. */
export function apiVersionOf(req: Pick<HttpRequest, 'url'>): UsageEvent['api_version'] | null {
  const path = pathOf(req);
  if (path === DATA_PATH) return 'v2';
  return path === V1_DATA_PATH ? 'v1' : null;
}
