import { MCP_PATH } from '@tollgate/contracts/resource-servers';
import { createCors } from '@tollgate/http/cors';
import type { Cors } from '@tollgate/http/cors';
import {
  COSTS_PATH,
  DATA_PATH,
  ESTIMATE_PATH,
  V1_COSTS_PATH,
  V1_DATA_PATH,
  V1_ESTIMATE_PATH,
} from './http/data-paths.ts';
import type { Config } from './config.ts';

const DATA_METHODS = 'GET, POST';

/** CORS for the paths that take bearer tokens. auth decides about its own: a client secret doesn't belong in a page. */
export function createGatewayCors(
  config: Pick<Config, 'CORS_ALLOWED_ORIGINS' | 'UPSTREAM_V1_URL' | 'STREAMING_URL'>,
): Cors | null {
  return createCors(config.CORS_ALLOWED_ORIGINS, {
    [DATA_PATH]: DATA_METHODS,
    [ESTIMATE_PATH]: DATA_METHODS,
    [COSTS_PATH]: 'GET',
    ...(config.UPSTREAM_V1_URL === undefined
      ? {}
      : { [V1_DATA_PATH]: DATA_METHODS, [V1_ESTIMATE_PATH]: DATA_METHODS, [V1_COSTS_PATH]: 'GET' }),
    ...(config.STREAMING_URL === undefined ? {} : { [MCP_PATH]: 'POST' }),
    '/api/usage': 'GET',
    '/api/usage/operations': 'GET',
    '/api/credits': 'GET',
  });
}
