import OAuth2Server from 'oauth2-server';
import { applicationPart, newAccessToken } from '@tollgate/access-token';
import type { ClientRecord } from '@tollgate/contracts/client-record';
import { Problem } from '@tollgate/problem';
import type { TokenStore } from '../token/store.ts';

/** The only grant and the only scope (service specification, section 5). */
export const GRANT_TYPE = 'client_credentials';
export const SCOPE = 'api';

export type GrantOptions = { tokens: Pick<TokenStore, 'save'>; tokenPrefix: string };

/**
 * Issues an access token to a client that is authenticated and whose grant type and scope are checked, through
 * oauth2-server's client credentials grant. The library sees nothing of the caller's request: what it would
 * do with it falls short (ADR 0010).
 *
 * @throws {Problem} service_unavailable where the token can't be stored
 */
export async function grantAccessToken(client: ClientRecord, options: GrantOptions): Promise<string> {
  const server = new OAuth2Server({
    model: clientCredentialsModel(client, options),
    accessTokenLifetime: client.token_lifespan_sec,
    requireClientAuthentication: { [GRANT_TYPE]: false },
  });
  try {
    const { accessToken } = await server.token(tokenRequest(client.client_id), new OAuth2Server.Response());
    return accessToken;
  } catch (error) {
    // The library wraps what the model throws; anything else of it is a fault of ours, never the caller's.
    throw error instanceof OAuth2Server.OAuthError && innerError(error) instanceof Problem
      ? innerError(error)
      : error;
  }
}

function clientCredentialsModel(
  client: ClientRecord,
  { tokens, tokenPrefix }: GrantOptions,
): OAuth2Server.ClientCredentialsModel {
  const { client_id, account_id, application_id, token_lifespan_sec, revocation_epoch } = client;
  return {
    getClient: () => Promise.resolve({ id: client_id, grants: [GRANT_TYPE] }),
    getUserFromClient: () => Promise.resolve({ account_id }),
    validateScope: () => Promise.resolve([SCOPE]),
    generateAccessToken: () => Promise.resolve(newAccessToken(tokenPrefix, client_id)),
    saveToken: async (token, grantee, user) => {
      const iat = Math.floor(Date.now() / 1000);
      await tokens.save(token.accessToken, applicationPart(client_id), {
        client_id,
        account_id,
        application_id,
        scope: SCOPE,
        iat,
        exp: iat + token_lifespan_sec,
        epoch: revocation_epoch,
      });
      return { ...token, client: grantee, user };
    },
    // The library's type wants it; only its own bearer check would call it, and that isn't used.
    getAccessToken: () => Promise.resolve(null),
  };
}

function tokenRequest(clientId: string): OAuth2Server.Request {
  return new OAuth2Server.Request({
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '1' },
    query: {},
    body: { grant_type: GRANT_TYPE, client_id: clientId, scope: SCOPE },
  });
}

function innerError(error: OAuth2Server.OAuthError): unknown {
  return 'inner' in error ? error.inner : undefined;
}
