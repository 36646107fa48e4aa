import type { RequestHandler } from 'express';
import { applicationPart, parseAccessToken } from '@tollgate/access-token';
import { Problem } from '@tollgate/problem';
import { callerOf } from '../abuse/caller.ts';
import type { AuthenticateClient } from '../client/authenticator.ts';
import { readClientCredentials } from '../client/credentials.ts';
import { formOf } from '../oauth/form-body.ts';
import type { TokenStore } from '../token/store.ts';

/**
 * `POST /oauth2/revoke` (RFC 7009): a client gives back a token of its own. Form fields: `token`, and the
 * client's credentials as at the token endpoint; `token_type_hint` is ignored, there is one type.
 *
 * Answers 200 with an empty body, also for a token that is malformed, unknown, revoked already or another
 * client's, and then changes nothing (section 2.2). Errors are RFC 6749's: invalid_request 400, 405 or 413;
 * invalid_client 401; temporarily_unavailable 503, or 429 over a limit.
 */
export function revocationEndpoint(options: {
  authenticate: AuthenticateClient;
  tokens: Pick<TokenStore, 'revoke'>;
  tokenPrefix: string;
}): RequestHandler {
  const { authenticate, tokens, tokenPrefix } = options;
  return async (req, res) => {
    const form = formOf(req);
    const credentials = readClientCredentials(req.headers.authorization, form);
    const client = await authenticate(credentials, callerOf(req, res));
    const token = form.get('token');
    if (token === undefined) {
      throw new Problem('invalid_request', { detail: 'The parameter token is missing.' });
    }
    const own = applicationPart(client.client_id);
    if (parseAccessToken(token, tokenPrefix)?.applicationPart === own) await tokens.revoke(token, own);
    res.status(200).end();
  };
}
