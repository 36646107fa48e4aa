import { oauthApi } from '@tollgate/contracts/oauth-api';
import type { Form } from '@tollgate/http/form';
import { Problem } from '@tollgate/http/problem';
import { formOperation } from '@tollgate/operation';
import type { FormCall } from '@tollgate/operation';
import type { CallerOf } from '../../abuse/caller.ts';
import type { AuthenticateClient } from '../../client/authenticator.ts';
import { readClientCredentials } from '../../client/credentials.ts';
import { client } from '../../http/callers.ts';
import { allowAnyOrigin } from '../../oauth/any-origin.ts';
import { OAuthError } from '../../oauth/oauth-error.ts';
import type { TokenIssuing } from '../../token/token-issuing.ts';
import type { Grant, TokenResponse } from './grants/grant.ts';

type TokenNeeds = {
  callerOf: CallerOf;
  authenticate: AuthenticateClient;
  issuing: Pick<TokenIssuing, 'count'>;
  grants: readonly Grant[];
};

export const issueAccessToken = formOperation('POST /oauth2/token', {
  ...oauthApi.operations['POST /oauth2/token'],
  caller: client,
  handle: answerTokenRequest,
  // Nothing here needs escaping, and JSON.stringify would take two percent of a token's instructions.
  serialize: ({ access_token, expires_in, scope, token_type, refresh_token }) => {
    const refresh = refresh_token === undefined ? '' : `,"refresh_token":"${refresh_token}"`;
    return `{"access_token":"${access_token}","expires_in":${String(expires_in)},"scope":"${scope}","token_type":"${token_type}"${refresh}}`;
  },
});

/**
 * Grant type and scope are refused after the client, so that unauthenticated callers don't learn what a client may do
 * (docs/design/tokens.md). A refused request counts for the client's limit too.
 */
async function answerTokenRequest(
  { callerOf, authenticate, issuing, grants }: TokenNeeds,
  { form, req, res, requestId }: FormCall,
): Promise<TokenResponse> {
  allowAnyOrigin(req, res, form);
  const credentials = readClientCredentials(req.headers.authorization, form);
  const caller = () => callerOf(req, requestId);
  const attempt = authenticate(credentials, caller);
  const grant = grantOf(grants, form);
  if (grant instanceof Error) {
    const { client: refused } = await attempt.lookUp();
    await issuing.count(refused.client_id);
    throw grant;
  }
  const remembered = attempt.remembered();
  if (remembered !== null) {
    const response = await grant.issue(remembered, form, caller);
    if (response !== null) return response;
  }
  const found = await attempt.lookUp();
  const response = await grant.issue(found, form, caller);
  if (response === null) throw new Error('no token for a client that was looked up');
  return response;
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
