import { DATA_SCOPE, MCP_SCOPE, MCP_WRITE_SCOPE, OFFLINE_ACCESS } from '@tollgate/contracts/resource-servers';
import type { z } from 'zod';
import type { authorizationServerMetadataSchema } from '@tollgate/contracts/oauth';
import { oauthApi } from '@tollgate/contracts/oauth-api';
import { Problem } from '@tollgate/http/problem';
import { Reply, anyone, operation } from '@tollgate/operation';
import { ANY_ORIGIN } from '../../oauth/any-origin.ts';
import type { RegistrationMode } from '../registration/operation.ts';
import { AUTHORIZATION_CODE } from '../token/grants/authorization-code.ts';
import { CLIENT_CREDENTIALS } from '../token/grants/client-credentials.ts';
import { REFRESH_TOKEN } from '../token/grants/refresh-token.ts';

/** `none` is of public clients, which can't keep a secret. */
const CLIENT_AUTHENTICATION = ['client_secret_basic', 'client_secret_post', 'none'];

type MetadataNeeds = {
  issuer: string | undefined;
  authorizationEndpoint: string | undefined;
  registration: { mode: RegistrationMode };
  readsClientDocuments: boolean;
};

export const getServerMetadata = operation('GET /.well-known/oauth-authorization-server', {
  ...oauthApi.operations['GET /.well-known/oauth-authorization-server'],
  caller: anyone,
  // Not by the Host header, which callers choose.
  handle: ({ issuer, authorizationEndpoint, registration, readsClientDocuments }: MetadataNeeds) => {
    if (issuer === undefined) throw new Problem('not_found');
    const metadata = {
      ...metadataOf(issuer, authorizationEndpoint ?? `${issuer}/oauth2/authorize`),
      ...(registration.mode !== 'off' && { registration_endpoint: `${issuer}/oauth2/register` }),
      ...(readsClientDocuments && { client_id_metadata_document_supported: true }),
    };
    return new Reply(200, metadata, { ...ANY_ORIGIN, 'cache-control': 'public, max-age=300' });
  },
});

/** RFC 8414, without the private introspection endpoint. */
function metadataOf(
  issuer: string,
  authorization_endpoint: string,
): z.output<typeof authorizationServerMetadataSchema> {
  return {
    issuer,
    authorization_endpoint,
    token_endpoint: `${issuer}/oauth2/token`,
    revocation_endpoint: `${issuer}/oauth2/revoke`,
    scopes_supported: [DATA_SCOPE, MCP_SCOPE, MCP_WRITE_SCOPE, OFFLINE_ACCESS],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: [CLIENT_CREDENTIALS, AUTHORIZATION_CODE, REFRESH_TOKEN],
    token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    revocation_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  };
}
