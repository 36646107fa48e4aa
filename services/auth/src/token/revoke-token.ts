import { accessTokenHash, applicationPart } from '@tollgate/credentials/access-token';
import type { ClientRecord } from '@tollgate/contracts/client-record';
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
