import { accessTokenHash, applicationPart } from '@tollgate/access-token';
import type { ClientRecord } from '@tollgate/contracts/client-record';
import type { ClientRevocation } from '@tollgate/contracts/hand-made-tokens';
import type { PrivateApi } from '@tollgate/private-api/client';
import { Problem } from '@tollgate/problem';
import type { ClientDirectory } from '../client/directory.ts';
import type { TokenStore } from './store.ts';

/**
 * Revokes a token of the client's own: it is dead when this resolves, and one made by hand is so in Postgres.
 * @throws {Problem} service_unavailable where that can't be done
 */
export type RevokeToken = (
  token: string,
  client: ClientRecord,
  caller: { requestId: string; address: string },
) => Promise<void>;

/** As in live-token.ts. */
const ATTEMPTS = 3;

export function createRevokeToken(options: {
  tokens: Pick<TokenStore, 'revoke'>;
  clients: ClientDirectory;
  account: Pick<PrivateApi, 'postJson'>;
}): RevokeToken {
  const { tokens, clients, account } = options;
  return async (token, { client_id, revocation_epoch }, { requestId, address }) => {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const outcome = await tokens.revoke(token, applicationPart(client_id));
      if (outcome === 'revoked') return;
      if (outcome === 'hand-made') {
        const body: ClientRevocation = { token_hash: accessTokenHash(token), address };
        await account.postJson(`/private/clients/${client_id}/revoked-tokens`, body, requestId);
        // account's outbox tells it as well; the client needn't wait for that one.
        await clients.change(client_id, revocation_epoch);
        return;
      }
      // Whether it was made by hand is known once the client's tokens are loaded.
      if ((await clients.find(client_id, requestId)) === null) return;
    }
    throw new Problem('service_unavailable', { cause: new Error('the client kept changing') });
  };
}
