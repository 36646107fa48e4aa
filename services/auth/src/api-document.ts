import { createOpenApi } from '@tollgate/operation/api-document';
import type { ApiDocument } from '@tollgate/operation/api-document';
import { AUTH_SECURITY } from '@tollgate/operation/security';
import { API } from './api.ts';

const DESCRIPTION = `Issues, introspects and revokes access tokens.

The OAuth endpoints for clients are on auth's public listener and also in the public API's document. Introspection,
\`/private\` and the probes are on its private listener, which is not for the Internet: account and gateways have
credentials of \`SERVICE_CREDENTIALS\`, by HTTP Basic. Errors are problem+json (RFC 9457) with a \`code\`, except those of
\`/oauth2/token\` and \`/oauth2/revoke\` (RFC 6749).`;

/** Written to docs/openapi-auth.json. */
export function createAuthDocument(): ApiDocument {
  return createOpenApi(API, {
    title: 'Tollgate auth',
    description: DESCRIPTION,
    serverUrl: '/',
    securitySchemes: AUTH_SECURITY,
  });
}
