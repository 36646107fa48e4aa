import { LRUCache } from 'lru-cache';

/**
 * What is known to be dead, so that an auth that hasn't heard of it yet (it was stopped, or account can't reach
 * it) can't bring it back into the cache. Bounded: what was heard longest ago goes first. account repeats every
 * second what auth hasn't acknowledged, so what goes is what auth knows.
 */
export type DeadTokens = {
  note: (tokenHash: string) => void;
  has: (tokenHash: string) => boolean;
  noteEpoch: (applicationPart: string, revocationEpoch: number) => void;
  /** False also where the token's epoch isn't known. */
  isBelowEpoch: (applicationPart: string, epoch: number | undefined) => boolean;
};

const MAX_ENTRIES = 20_000;

/** Not for ever: a database that is restored together with Redis may begin again at a smaller epoch. */
const TTL_MS = 3_600_000;

export function createDeadTokens(): DeadTokens {
  const tokens = new LRUCache<string, true>({ max: MAX_ENTRIES, ttl: TTL_MS });
  const epochs = new LRUCache<string, number>({ max: MAX_ENTRIES, ttl: TTL_MS });
  return {
    note: (tokenHash) => {
      tokens.set(tokenHash, true);
    },
    has: (tokenHash) => tokens.has(tokenHash),
    noteEpoch: (part, revocationEpoch) => {
      epochs.set(part, Math.max(epochs.get(part) ?? 0, revocationEpoch));
    },
    isBelowEpoch: (part, epoch) => epoch !== undefined && epoch < (epochs.get(part) ?? 0),
  };
}
