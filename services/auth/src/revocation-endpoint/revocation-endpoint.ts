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
 * Answers 200 with an empty body, also for a token that is malformed, unknown or revoked already, and then
 * changes nothing (section 2.2). Errors are RFC 6749's: invalid_request 400, 405 or 413; invalid_client 401;
 * temporarily_unavailable 503, or 429 over a limit. Another client's token is invalid_request (section 2.1):
 * the token itself names its client, so the answer doesn't tell whether it lives.
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
    const parsed = parseAccessToken(token, tokenPrefix);
    if (parsed !== null) {
      if (parsed.applicationPart !== own) {
        throw new Problem('invalid_request', { detail: 'The token belongs to another client.' });
      }
      await tokens.revoke(token, own);
    }
    res.status(200).end();
  };
}
