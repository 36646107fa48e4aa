import type { z } from 'zod';
import type { authorizationServerMetadataSchema } from '@tollgate/contracts/oauth';
import { oauthApi } from '@tollgate/contracts/oauth-api';
import { Problem } from '@tollgate/http/problem';
import { Reply, anyone, operation } from '@tollgate/operation';
import { SCOPE } from '../../redis/token-record.ts';
import { CLIENT_CREDENTIALS } from '../token/grants/client-credentials.ts';

const CLIENT_AUTHENTICATION = ['client_secret_basic', 'client_secret_post'];

export const getServerMetadata = operation('GET /.well-known/oauth-authorization-server', {
  ...oauthApi.operations['GET /.well-known/oauth-authorization-server'],
  caller: anyone,
  // Not by the Host header, which callers choose.
  handle: ({ issuer }: { issuer: string | undefined }) => {
    if (issuer === undefined) throw new Problem('not_found');
    return new Reply(200, metadataOf(issuer), { 'cache-control': 'public, max-age=300' });
  },
});

/** RFC 8414, without the private introspection endpoint. */
function metadataOf(issuer: string): z.output<typeof authorizationServerMetadataSchema> {
  return {
    issuer,
    token_endpoint: `${issuer}/oauth2/token`,
    revocation_endpoint: `${issuer}/oauth2/revoke`,
    scopes_supported: [SCOPE],
    // Required by RFC 8414.
    response_types_supported: [],
    grant_types_supported: [CLIENT_CREDENTIALS],
    token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    revocation_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
  };
}
