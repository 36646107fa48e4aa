import type { z } from 'zod';
import { oauthApi } from '@tollgate/contracts/oauth-api';
import type { tokenResponseSchema } from '@tollgate/contracts/oauth';
import type { Form } from '@tollgate/http/form';
import { Problem } from '@tollgate/http/problem';
import { formOperation } from '@tollgate/operation';
import type { FormCall } from '@tollgate/operation';
import type { CallerOf } from '../../abuse/caller.ts';
import type { AuthenticClient, AuthenticateClient } from '../../client/authenticator.ts';
import { readClientCredentials } from '../../client/credentials.ts';
import { client } from '../../http/callers.ts';
import { OAuthError } from '../../oauth/oauth-error.ts';
import { SCOPE } from '../../redis/token-record.ts';
import type { TokenIssuing } from '../../token/token-issuing.ts';
import type { Grant } from './grants/grant.ts';

type TokenNeeds = {
  callerOf: CallerOf;
  authenticate: AuthenticateClient;
  issuing: Pick<TokenIssuing, 'count'>;
  grants: readonly Grant[];
};

type TokenResponse = z.output<typeof tokenResponseSchema>;

export const issueAccessToken = formOperation('POST /oauth2/token', {
  ...oauthApi.operations['POST /oauth2/token'],
  caller: client,
  handle: answerTokenRequest,
  // Nothing here needs escaping, and JSON.stringify would take two percent of a token's instructions.
  serialize: ({ access_token, expires_in, scope, token_type }) =>
    `{"access_token":"${access_token}","expires_in":${String(expires_in)},"scope":"${scope}","token_type":"${token_type}"}`,
});

/**
 * Grant type and scope are refused after the client, so that unauthenticated callers don't learn what a client may do
 * (docs/design/tokens.md). A refused request counts for the client's limit too.
 */
async function answerTokenRequest(
  { callerOf, authenticate, issuing, grants }: TokenNeeds,
  { form, req, requestId }: FormCall,
): Promise<TokenResponse> {
  const credentials = readClientCredentials(req.headers.authorization, form);
  const attempt = authenticate(credentials, () => callerOf(req, requestId));
  const grant = grantOf(grants, form);
  if (grant instanceof Error) {
    const { client: refused } = await attempt.lookUp();
    await issuing.count(refused.client_id);
    throw grant;
  }
  const remembered = attempt.remembered();
  if (remembered !== null) {
    const accessToken = await grant.issue(remembered, form);
    if (accessToken !== null) return tokenResponse(accessToken, remembered);
  }
  const found = await attempt.lookUp();
  const accessToken = await grant.issue(found, form);
  if (accessToken === null) throw new Error('no token for a client that was looked up');
  return tokenResponse(accessToken, found);
}

/** The grant that the form asks for, or why it gets none. */
function grantOf(grants: readonly Grant[], form: Form): Grant | Problem | OAuthError {
  const type = form.get('grant_type');
  if (type === undefined) {
    return new Problem('invalid_request', { detail: 'The required parameter grant_type is missing.' });
  }
  const grant = grants.find((each) => each.type === type);
  if (grant === undefined) return new OAuthError('unsupported_grant_type');
  return grant.check(form) ?? grant;
}

function tokenResponse(access_token: string, { client: of }: AuthenticClient): TokenResponse {
  return { access_token, expires_in: of.token_lifespan_sec, scope: SCOPE, token_type: 'bearer' };
}
