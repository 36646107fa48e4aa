import type { Client } from 'oauth2-server';
import ClientCredentialsGrantType from 'oauth2-server/lib/grant-types/client-credentials-grant-type.js';
import { newAccessToken } from '@tollgate/credentials/access-token';
import type { AuthenticClient } from '../../client/authenticator.ts';
import type { TokenIssuing } from '../../token/token-issuing.ts';
import { SCOPE } from '../../token/token-record.ts';

/** The only grant (service specification, section 5). */
export const GRANT_TYPE = 'client_credentials';

/** An authenticated client as the library's `client`, with what is known of it. */
type Grantee = Client & { authentic: AuthenticClient };

/**
 * Issues an access token to a client that is authenticated and whose grant type and scope are checked. Null where
 * it was only remembered (`json`) and has changed since.
 * @throws {Problem} too_many_requests; service_unavailable where the token can't be stored
 */
export type GrantAccessToken = (authentic: AuthenticClient) => Promise<string | null>;

/**
 * Issues tokens by oauth2-server's client credentials grant. Of the library it is the grant alone, made once:
 * the server around it would read the caller's request once more, and what it would do with it falls short
 * (ADR 0010).
 */
export function createGrant(options: {
  issuing: Pick<TokenIssuing, 'issue'>;
  tokenPrefix: string;
}): GrantAccessToken {
  const { issuing, tokenPrefix } = options;
  const grant = new ClientCredentialsGrantType({
    // Wanted, and only used for a date that isn't: each client has a lifespan of its own.
    accessTokenLifetime: 1,
    model: {
      getUserFromClient: (client) => ({ account_id: granteeOf(client).client.account_id }),
      validateScope: () => [SCOPE],
      generateAccessToken: ({ id }) => newAccessToken(tokenPrefix, id),
      saveToken: async (token, client) => {
        const outcome = await issuing.issue(token.accessToken, granteeOf(client));
        return outcome === 'issued' ? token : null;
      },
    },
  });
  return async (authentic) => {
    const client: Grantee = { id: authentic.client.client_id, grants: [GRANT_TYPE], authentic };
    const token = await grant.handle({ body: { scope: SCOPE } }, client);
    return token === null ? null : token.accessToken;
  };
}

/** The library hands the client on as it got it. */
function granteeOf(client: Client): AuthenticClient {
  return (client as Grantee).authentic;
}
