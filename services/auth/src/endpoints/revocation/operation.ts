import { oauthApi } from '@tollgate/contracts/oauth-api';
import { applicationPart, parseAccessToken } from '@tollgate/credentials/access-token';
import { refreshTokenPrefix } from '@tollgate/credentials/grant-tokens';
import { Problem } from '@tollgate/http/problem';
import { formOperation } from '@tollgate/operation';
import type { FormCall } from '@tollgate/operation';
import type { CallerOf } from '../../abuse/caller.ts';
import type { CountRequest } from '../../abuse/caller-limit.ts';
import type { AuthenticateClient } from '../../client/authenticator.ts';
import { readClientCredentials } from '../../client/credentials.ts';
import { client } from '../../http/callers.ts';
import { allowAnyOrigin } from '../../oauth/any-origin.ts';
import type { EndConnection, RevokeToken } from '../../token/revoke-token.ts';

type RevocationNeeds = {
  callerOf: CallerOf;
  authenticate: AuthenticateClient;
  countRevocation: CountRequest;
  revokeToken: RevokeToken;
  endConnection: EndConnection;
  tokenPrefix: string;
};

export const revokeAccessToken = formOperation('POST /oauth2/revoke', {
  ...oauthApi.operations['POST /oauth2/revoke'],
  caller: client,
  handle: revoke,
});

/** Returns once Postgres has the revocation. */
async function revoke(
  { callerOf, authenticate, countRevocation, revokeToken, endConnection, tokenPrefix }: RevocationNeeds,
  { form, req, res, requestId }: FormCall,
): Promise<undefined> {
  allowAnyOrigin(req, res, form);
  const credentials = readClientCredentials(req.headers.authorization, form);
  const caller = callerOf(req, requestId);
  const { client: owner } = await authenticate(credentials, () => caller).lookUp();
  // Each adds a row to Postgres. Anyone can name a public client, which keeps its own share then.
  const { client_id } = owner;
  countRevocation(owner.authorization === 'public' ? `${client_id} ${caller.addressGroup}` : client_id);
  const token = form.get('token');
  if (token === undefined) {
    throw new Problem('invalid_request', { detail: 'The required parameter token is missing.' });
  }
  const refreshToken = parseAccessToken(token, refreshTokenPrefix(tokenPrefix));
  const parsed = refreshToken ?? parseAccessToken(token, tokenPrefix);
  if (parsed === null) return;
  const isOwn = parsed.applicationPart === applicationPart(owner.client_id);
  if (owner.authorization !== undefined) {
    // Its tokens are connections'; one that names the client itself was never issued.
    if (isOwn) return;
    const presented = {
      token,
      connectionPart: parsed.applicationPart,
      isRefreshToken: refreshToken !== null,
    };
    if (await endConnection(presented, owner.client_id, caller)) return;
  }
  // This doesn't tell whether the token is active: it names its client itself.
  if (!isOwn) {
    throw new Problem('invalid_request', { detail: 'The token was issued to another client.' });
  }
  await revokeToken(token, owner, caller);
}
