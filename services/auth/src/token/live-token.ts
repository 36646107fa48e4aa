import { clientIdOf } from '@tollgate/credentials/access-token';
import { Problem } from '@tollgate/http/problem';
import type { ClientDirectory } from '../client/directory.ts';
import type { LiveRecord, TokenStore } from './store.ts';

/**
 * An active token's record; null if it is unknown, expired or revoked.
 * @throws {Problem} service_unavailable if that can't be known
 */
export type FindLiveToken = (
  token: string,
  applicationPart: string,
  requestId: string,
) => Promise<LiveRecord | null>;

/** Redis may lose its data again between a verification and its use. */
const ATTEMPTS = 3;

/**
 * Usually takes one round trip. If Redis may lack a revocation or manual tokens, a look-up in account verifies the
 * epoch and loads the tokens first (docs/design/revocation.md, docs/design/tokens.md). Callers can make up tokens of
 * unknown applications, so at most `missLookUpsMaxInFlight` applications are looked up at once; beyond that,
 * introspection is unavailable.
 */
export function createFindLiveToken(options: {
  tokens: Pick<TokenStore, 'find'>;
  clients: Pick<ClientDirectory, 'find'>;
  missLookUpsMaxInFlight: number;
  onManualTokenUsed: (tokenHash: string) => void;
}): FindLiveToken {
  const { tokens, clients, missLookUpsMaxInFlight, onManualTokenUsed } = options;
  const waiting = new Map<string, number>();

  async function lookUpMiss(applicationPart: string, requestId: string): Promise<boolean> {
    const clientId = clientIdOf(applicationPart);
    if (clientId === null) return false;
    const others = waiting.get(applicationPart) ?? 0;
    if (others === 0 && waiting.size >= missLookUpsMaxInFlight)
      throw unavailable('too many look-ups of misses');
    waiting.set(applicationPart, others + 1);
    try {
      return (await clients.find(clientId, requestId)) !== null;
    } finally {
      const left = (waiting.get(applicationPart) ?? 1) - 1;
      if (left === 0) waiting.delete(applicationPart);
      else waiting.set(applicationPart, left);
    }
  }

  return async (token, applicationPart, requestId) => {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const { record, certain, manualTokenHash } = await tokens.find(token, applicationPart);
      if (certain) {
        if (manualTokenHash !== null) onManualTokenUsed(manualTokenHash);
        return record;
      }
      const known =
        record === null
          ? await lookUpMiss(applicationPart, requestId)
          : (await clients.find(record.client_id, requestId)) !== null;
      if (!known) return null;
    }
    throw unavailable('Redis kept losing the verified epoch');
  };
}

function unavailable(why: string): Problem {
  return new Problem('service_unavailable', { cause: new Error(why) });
}
