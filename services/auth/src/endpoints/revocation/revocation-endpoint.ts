import type { RequestHandler } from 'express';
import { applicationPart, parseAccessToken } from '@tollgate/credentials/access-token';
import { REQUEST_ID_HEADER } from '@tollgate/log/request-id';
import { Problem } from '@tollgate/http/problem';
import type { CallerOf } from '../../abuse/caller.ts';
import type { CountRequest } from '../../abuse/caller-limit.ts';
import type { AuthenticateClient } from '../../client/authenticator.ts';
import { readClientCredentials } from '../../client/credentials.ts';
import type { ReadForm } from '../../http/form-reader.ts';
import type { RevokeToken } from '../../token/revoke-token.ts';

/**
 * `POST /oauth2/revoke` (RFC 7009): a client revokes a token of its own. Form fields: `token`, and the client's
 * credentials as at the token endpoint; `token_type_hint` is ignored. 200 with an empty body once Postgres has the
 * revocation, also for a malformed, unknown or revoked token (section 2.2). Errors are RFC 6749's: invalid_request
 * 400, 405 or 413; invalid_client 401; temporarily_unavailable 503, or 429 over a limit. Another client's token is
 * invalid_request (section 2.1), which doesn't tell whether it is active: the token itself names its client.
 */
export function revocationEndpoint(options: {
  readForm: ReadForm;
  callerOf: CallerOf;
  authenticate: AuthenticateClient;
  countRevocation: CountRequest;
  revokeToken: RevokeToken;
  tokenPrefix: string;
}): RequestHandler {
  const { readForm, callerOf, authenticate, countRevocation, revokeToken, tokenPrefix } = options;
  return async (req, res) => {
    const form = await readForm(req, res);
    const credentials = readClientCredentials(req.headers.authorization, form);
    const caller = callerOf(req, String(res.getHeader(REQUEST_ID_HEADER)));
    const { client } = await authenticate(credentials, () => caller).lookUp();
    // Each adds a row to Postgres.
    countRevocation(client.client_id);
    const token = form.get('token');
    if (token === undefined) {
      throw new Problem('invalid_request', { detail: 'The required parameter token is missing.' });
    }
    const own = applicationPart(client.client_id);
    const parsed = parseAccessToken(token, tokenPrefix);
    if (parsed !== null) {
      if (parsed.applicationPart !== own) {
        throw new Problem('invalid_request', { detail: 'The token was issued to another client.' });
      }
      await revokeToken(token, client, caller);
    }
    res.status(200).end();
  };
}
