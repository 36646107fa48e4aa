import { accessTokenHash, clientIdOf, parseAccessToken } from '@tollgate/credentials/access-token';
import { derivedToken, newNonce, refreshTokenPrefix } from '@tollgate/credentials/grant-tokens';
import { grantAnswerSchema } from '@tollgate/contracts/grants';
import { DATA_SCOPE } from '@tollgate/contracts/resource-servers';
import type { GrantAnswer, Refresh } from '@tollgate/contracts/grants';
import { actingClient, grantedOrRefused, issueDelegated } from './delegated.ts';
import type { DelegatedGrantNeeds } from './delegated.ts';
import { missing } from './grant.ts';
import type { Grant } from './grant.ts';

export const REFRESH_TOKEN = 'refresh_token';

/**
 * RFC 6749, section 6. Parameters: `refresh_token`; `resource` may repeat what was granted, `scope` a part of it. The successor and
 * the access token are derived from the presented token and a nonce that account keeps, so a request that comes again
 * gets the same ones, also from another process, and no store holds a token (docs/design/authorization.md).
 */
export function createRefreshTokenGrant(needs: DelegatedGrantNeeds): Grant {
  const { account, issuing, tokenPrefix } = needs;
  const refreshPrefix = refreshTokenPrefix(tokenPrefix);

  /** Null for what isn't a refresh token. */
  function rotation(
    presented: string,
    request: Omit<Refresh, 'connection_client_id' | 'refresh_token_hash' | 'nonce' | 'successor_hash'>,
    requestId: string,
  ): (() => Promise<GrantAnswer>) | null {
    const parsed = parseAccessToken(presented, refreshPrefix);
    const connectionClientId = parsed === null ? null : clientIdOf(parsed.applicationPart);
    if (connectionClientId === null) return null;
    const nonce = newNonce();
    const successor = derivedToken(presented, nonce, { prefix: refreshPrefix, clientId: connectionClientId });
    const body: Refresh = {
      ...request,
      connection_client_id: connectionClientId,
      refresh_token_hash: accessTokenHash(presented),
      nonce,
      successor_hash: accessTokenHash(successor),
    };
    return async () => {
      // Before the rotation: a client that waits as a 429 says would repeat a rotated token too late.
      await issuing.count(connectionClientId);
      return account.ask('/private/grants/refresh', body, grantAnswerSchema, requestId);
    };
  }

  return {
    type: REFRESH_TOKEN,
    check: (form) => (form.has('refresh_token') ? undefined : missing('refresh_token')),
    issue: async (authentic, form, callerOf) => {
      if (authentic.json !== undefined) return null;
      const acting = actingClient(authentic);
      const { client_id } = acting;
      const caller = callerOf();
      const presented = form.get('refresh_token') ?? '';
      const resource = form.get('resource');
      const scope = form.get('scope');
      const request = {
        client_id,
        ...(resource !== undefined && { resource }),
        ...(scope !== undefined && { scope }),
        address: caller.address,
      };
      const ask = rotation(presented, request, caller.requestId);
      const granted = await grantedOrRefused(needs, acting, caller, ask);
      const nonce = granted.nonce ?? '';
      const { client_id: clientId } = granted;
      return issueDelegated(needs, {
        granted,
        actingClientId: client_id,
        // Of its scope: an access token with less of the grant never becomes one with more.
        accessToken: derivedToken(presented, nonce, {
          prefix: tokenPrefix,
          clientId,
          scope: granted.scope ?? DATA_SCOPE,
        }),
        refreshToken: derivedToken(presented, nonce, { prefix: refreshPrefix, clientId }),
      });
    },
  };
}
