import { accessTokenHash, applicationPart, clientIdOf } from '@tollgate/credentials/access-token';
import type { ClientRecord } from '@tollgate/contracts/client-record';
import type { GrantEnd } from '@tollgate/contracts/grants';
import type { ClientRevocation } from '@tollgate/contracts/manual-tokens';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import type { TokenStore } from './store.ts';

/**
 * Revokes a token for good, whatever Redis loses later.
 * @throws {Problem} service_unavailable
 */
export type RevokeToken = (
  token: string,
  client: Pick<ClientRecord, 'client_id' | 'revocation_epoch'>,
  caller: { requestId: string; address: string },
) => Promise<void>;

/**
 * Disconnects the application that acts for a person, whose access or refresh token this is: RFC 7009, section 2.1, ends
 * all tokens of a grant together. Anyone can make up a token that names a connection, so only one that was issued counts.
 * False if it is another application's.
 * @throws {Problem} service_unavailable
 */
export type EndConnection = (
  presented: { token: string; connectionPart: string; isRefreshToken: boolean },
  clientId: string,
  caller: { requestId: string; address: string },
) => Promise<boolean>;

export function createEndConnection({
  tokens,
  account,
}: {
  tokens: Pick<TokenStore, 'find'>;
  account: Pick<PrivateApi, 'postJson'>;
}): EndConnection {
  return async ({ token, connectionPart, isRefreshToken }, client_id, { requestId, address }) => {
    const connection_client_id = clientIdOf(connectionPart);
    if (connection_client_id === null) return true;
    if (!isRefreshToken) {
      const { record } = await tokens.find(token, connectionPart);
      if (record === null) return true;
      if (record.via !== client_id) return false;
    }
    const body: GrantEnd = {
      client_id,
      connection_client_id,
      ...(isRefreshToken && { refresh_token_hash: accessTokenHash(token) }),
      address,
    };
    await account.postJson('/private/grants/end', body, requestId);
    return true;
  };
}

/** Postgres first, so that a retry can finish the rest. Also for a token that Redis lacks: a backup may bring it back. */
export function createRevokeToken({
  tokens,
  account,
}: {
  tokens: Pick<TokenStore, 'find' | 'revoke'>;
  account: Pick<PrivateApi, 'postJson'>;
}): RevokeToken {
  return async (token, client, { requestId, address }) => {
    const { client_id } = client;
    const { record } = await tokens.find(token, applicationPart(client_id));
    const body: ClientRevocation = {
      token_hash: accessTokenHash(token),
      address,
      ...(record === null ? {} : { expires_at: record.exp }),
    };
    await account.postJson(`/private/clients/${client_id}/revoked-tokens`, body, requestId);
    await tokens.revoke(token, client);
  };
}
