import type { RequestHandler } from 'express';
import type { Form } from '@tollgate/form-encoding/form';
import { Problem } from '@tollgate/problem';
import { callerOf } from '../abuse/caller.ts';
import type { CountTokenRequest } from '../abuse/token-requests.ts';
import type { AuthenticateClient } from '../client/authenticator.ts';
import { readClientCredentials } from '../client/credentials.ts';
import { formOf } from '../oauth/form-body.ts';
import { OAuthError } from '../oauth/oauth-error.ts';
import { GRANT_TYPE, SCOPE, grantAccessToken } from './grant.ts';
import type { GrantOptions } from './grant.ts';

/**
 * `POST /oauth2/token`: the client credentials grant (RFC 6749, section 4.4; service specification, 4.1).
 *
 * Form fields: `grant_type` = `client_credentials`, `scope` = `api`, and `client_id` and `client_secret`, or
 * these two as HTTP Basic. Answers 200 `{access_token, expires_in, scope, token_type}` with `expires_in` in
 * seconds. Errors are RFC 6749's (section 5.2): invalid_request 400, 405 or 413; invalid_client 401;
 * unsupported_grant_type and invalid_scope 400; temporarily_unavailable 503, or 429 over a limit (ADR 0014).
 *
 * The order of checks: the request's shape, the client, the grant type, the scope. Nobody who isn't
 * authenticated learns what a client may do.
 */
export function tokenEndpoint(
  options: GrantOptions & {
    authenticate: AuthenticateClient;
    countTokenRequest: CountTokenRequest;
    onIssued: () => void;
  },
): RequestHandler {
  return async (req, res) => {
    const form = formOf(req);
    const credentials = readClientCredentials(req.headers.authorization, form);
    const client = await options.authenticate(credentials, callerOf(req, res));
    await options.countTokenRequest(client.client_id);
    checkGrant(form);
    const accessToken = await grantAccessToken(client, options);
    options.onIssued();
    res.json({
      access_token: accessToken,
      expires_in: client.token_lifespan_sec,
      scope: SCOPE,
      token_type: 'bearer',
    });
  };
}

function checkGrant(form: Form): void {
  const grantType = form.get('grant_type');
  if (grantType === undefined) {
    throw new Problem('invalid_request', { detail: 'The parameter grant_type is missing.' });
  }
  if (grantType !== GRANT_TYPE) throw new OAuthError('unsupported_grant_type');
  if (form.get('scope') !== SCOPE) throw new OAuthError('invalid_scope');
}
