import { revokedTokensSchema } from '@tollgate/contracts/client-record';
import type { RevokedTokens } from '@tollgate/contracts/client-record';
import type { LostRevocation } from '@tollgate/contracts/client-change';
import type { Logger } from '@tollgate/log';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import type { ClientStore } from './client-store.ts';

/** Restores revocations that Redis or Postgres has lost (docs/design/revocation.md). */
export type Repair = {
  /** A Redis that has lost writes may hold tokens again that were revoked: deletes them, page by page. */
  deleteRevoked: (clientId: string, requestId: string) => Promise<void>;
  /** Postgres was restored from a backup older than the client's last revocation: sends account the later epoch. */
  raiseEpoch: (clientId: string, knownEpoch: number, requestId: string) => Promise<void>;
};

export function createRepair({
  store,
  account,
  logger,
}: {
  store: Pick<ClientStore, 'deleteTokens'>;
  account: Pick<PrivateApi, 'get' | 'postJson'>;
  logger: Pick<Logger, 'error'>;
}): Repair {
  return {
    deleteRevoked: async (clientId, requestId) => {
      let after: string | null = '';
      while (after !== null) {
        const path: string = `/private/clients/${clientId}/revoked-tokens?after=${after}`;
        const page: RevokedTokens | null = await account.get(path, revokedTokensSchema, requestId);
        await store.deleteTokens(clientId, page?.token_hashes ?? []);
        after = page?.next_after ?? null;
      }
    },
    raiseEpoch: async (clientId, knownEpoch, requestId) => {
      const about = { client_id: clientId, revocation_epoch: knownEpoch, request_id: requestId };
      logger.error(about, 'Postgres has lost a revocation; account is told to take it over');
      const body: LostRevocation = { revocation_epoch: knownEpoch };
      await account.postJson(`/private/clients/${clientId}/lost-revocation`, body, requestId);
    },
  };
}
