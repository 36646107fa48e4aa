import { oauthApi } from '@tollgate/contracts/oauth-api';
import { PROBES } from '@tollgate/server/health';
import { reportClientChange } from './endpoints/client-changes/operation.ts';
import { introspectAccessToken } from './endpoints/introspection/operation.ts';
import { getServerMetadata } from './endpoints/metadata/operation.ts';
import { registerClient } from './endpoints/registration/operation.ts';
import { revokeAccessToken } from './endpoints/revocation/operation.ts';
import { issueAccessToken } from './endpoints/token/operation.ts';

/** For clients, on the public listener. */
export const PUBLIC_API = [
  {
    title: oauthApi.title,
    description: oauthApi.description,
    operations: [issueAccessToken, revokeAccessToken, registerClient, getServerMetadata],
  },
] as const;

/** For the other services, on the private listener. */
export const SERVICE_API = [
  {
    title: 'Tokens and clients',
    description: 'What gateways ask, and what account reports.',
    operations: [introspectAccessToken, reportClientChange],
  },
] as const;

/** All that auth answers. The probes are served by `probes` of @tollgate/server/health. */
export const API = [...PUBLIC_API, ...SERVICE_API, PROBES] as const;
