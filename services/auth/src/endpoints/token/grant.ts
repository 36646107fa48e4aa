import type { Client } from 'oauth2-server';
import ClientCredentialsGrantType from 'oauth2-server/lib/grant-types/client-credentials-grant-type.js';
import { newAccessToken } from '@tollgate/credentials/access-token';
import type { AuthenticClient } from '../../client/authenticator.ts';
import type { TokenIssuing } from '../../token/token-issuing.ts';
import { SCOPE } from '../../redis/token-record.ts';

export const GRANT_TYPE = 'client_credentials';

type Grantee = Client & { authentic: AuthenticClient };

/**
 * Issues a token to an authenticated client whose grant type and scope are checked. Null if the client was only
 * remembered (`json`) and has changed since.
 * @throws {Problem} too_many_requests; service_unavailable
 */
export type GrantAccessToken = (authentic: AuthenticClient) => Promise<string | null>;

/**
 * oauth2-server's client credentials grant without the server around it, which costs 5 to 9 % more
 * (docs/design/tokens.md).
 */
export function createGrant(options: {
  issuing: Pick<TokenIssuing, 'issue'>;
  tokenPrefix: string;
}): GrantAccessToken {
  const { issuing, tokenPrefix } = options;
  const grant = new ClientCredentialsGrantType({
    // Required, but unused: each client has its own token lifespan.
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

function granteeOf(client: Client): AuthenticClient {
  return (client as Grantee).authentic;
}
