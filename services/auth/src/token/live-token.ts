import { clientIdOf } from '@tollgate/credentials/access-token';
import { Problem } from '@tollgate/http/problem';
import type { ClientDirectory } from '../client/directory.ts';
import type { LiveRecord, TokenStore } from './store.ts';

/**
 * The record of a token that is good now, or null where it is unknown, expired or revoked.
 * @throws {Problem} service_unavailable where that can't be known
 */
export type FindLiveToken = (
  token: string,
  applicationPart: string,
  requestId: string,
) => Promise<LiveRecord | null>;

/** Redis may lose its data once more between a verification and its use, hardly twice. */
const ATTEMPTS = 3;

/**
 * Finds tokens: one round trip as a rule, active or not. Where Redis may lack the application's last revocation, or
 * its tokens made by hand (it was restarted, replaced, emptied, or they have changed), account is asked first,
 * which verifies the epoch and brings the tokens (ADR 0013, ADR 0017).
 *
 * Anybody can make up tokens of applications that nobody knows. So tokens of which nothing is found have account
 * asked about `missLookUpsMaxInFlight` applications at one moment, and then are neither active nor inactive.
 */
export function createFindLiveToken(options: {
  tokens: Pick<TokenStore, 'find'>;
  clients: Pick<ClientDirectory, 'find'>;
  missLookUpsMaxInFlight: number;
  onManualTokenUsed: (tokenHash: string) => void;
}): FindLiveToken {
  const { tokens, clients, missLookUpsMaxInFlight, onManualTokenUsed } = options;
  /** Callers that wait, by application: however many they are, account is asked once for them all. */
  const waiting = new Map<string, number>();

  /** Whether there is such a client, whose tokens are in Redis then. */
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
      // Deleted, or never there: none of its tokens is good.
      if (!known) return null;
    }
    throw unavailable('Redis kept losing the verified epoch');
  };
}

function unavailable(why: string): Problem {
  return new Problem('service_unavailable', { cause: new Error(why) });
}
