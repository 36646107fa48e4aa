import type { RequestHandler } from 'express';
import { Problem } from '@tollgate/http/problem';
import { GRANT_TYPE } from '../token/grant.ts';
import { SCOPE } from '../../redis/token-record.ts';

const CLIENT_AUTHENTICATION = ['client_secret_basic', 'client_secret_post'];

/**
 * `GET /.well-known/oauth-authorization-server`: RFC 8414 metadata without the private introspection endpoint. 404
 * `not_found` if no issuer is configured, because callers choose the Host header.
 */
export function metadataEndpoint(issuer: string | undefined): RequestHandler {
  const metadata = issuer === undefined ? undefined : metadataOf(issuer);
  return (_req, res) => {
    if (metadata === undefined) throw new Problem('not_found');
    res.set('cache-control', 'public, max-age=300').json(metadata);
  };
}

function metadataOf(issuer: string) {
  return {
    issuer,
    token_endpoint: `${issuer}/oauth2/token`,
    revocation_endpoint: `${issuer}/oauth2/revoke`,
    scopes_supported: [SCOPE],
    // Required by RFC 8414.
    response_types_supported: [],
    grant_types_supported: [GRANT_TYPE],
    token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    revocation_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
  };
}
