import { Problem } from '@tollgate/problem';
import type { ClientDirectory } from '../client/directory.ts';
import type { TokenRecord, TokenStore } from './store.ts';

/**
 * The record of a token that is good now, or null where it is unknown, expired or revoked.
 * @throws {Problem} service_unavailable where that can't be known
 */
export type FindLiveToken = (
  token: string,
  applicationPart: string,
  requestId: string,
) => Promise<TokenRecord | null>;

/** Redis may lose its data once more between a verification and its use, hardly twice. */
const ATTEMPTS = 3;

/**
 * Finds tokens: one round trip as a rule. Where Redis may lack the application's last revocation (it was
 * restarted, replaced, emptied), account is asked first, which verifies the epoch (ADR 0013).
 */
export function createFindLiveToken(options: {
  tokens: Pick<TokenStore, 'find'>;
  clients: Pick<ClientDirectory, 'find'>;
}): FindLiveToken {
  const { tokens, clients } = options;
  return async (token, applicationPart, requestId) => {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const found = await tokens.find(token, applicationPart);
      if (found === null) return null;
      if (found.verified) return found.record;
      const client = await clients.find(found.record.client_id, requestId);
      // Deleted: none of its tokens is good any more.
      if (client === null) return null;
    }
    throw new Problem('service_unavailable', { cause: new Error('Redis kept losing the verified epoch') });
  };
}
