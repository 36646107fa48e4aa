import { LRUCache } from 'lru-cache';

/**
 * Revoked tokens and epochs, so that an auth that hasn't heard of a revocation can't bring a token back. account
 * repeats what auth hasn't acknowledged every second, so what the bound pushes out is known to auth.
 */
export type DeadTokens = {
  add: (tokenHash: string) => void;
  has: (tokenHash: string) => boolean;
  raiseEpoch: (applicationPart: string, revocationEpoch: number) => void;
  isBelowEpoch: (applicationPart: string, epoch: number) => boolean;
};

const MAX_ENTRIES = 20_000;

/** A database that is restored together with Redis may begin again at a smaller epoch. */
const TTL_MS = 3_600_000;

export function createDeadTokens(): DeadTokens {
  const tokens = new LRUCache<string, true>({ max: MAX_ENTRIES, ttl: TTL_MS });
  const epochs = new LRUCache<string, number>({ max: MAX_ENTRIES, ttl: TTL_MS });
  return {
    add: (tokenHash) => {
      tokens.set(tokenHash, true);
    },
    has: (tokenHash) => tokens.has(tokenHash),
    raiseEpoch: (part, revocationEpoch) => {
      epochs.set(part, Math.max(epochs.get(part) ?? 0, revocationEpoch));
    },
    isBelowEpoch: (part, epoch) => epoch < (epochs.get(part) ?? 0),
  };
}
