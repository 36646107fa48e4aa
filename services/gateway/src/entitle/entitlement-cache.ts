import { LRUCache } from 'lru-cache';
import type { Entitlement } from '@tollgate/contracts/entitlement';

/** Entitlements by account, and by payer, so that all of a team's can be dropped at once. */
type EntitlementCache = {
  get: (accountId: number) => Entitlement | undefined;
  set: (accountId: number, entitlement: Entitlement, ttlMs: number) => void;
  /** Drops the account's own, and those that it pays for. */
  drop: (accountId: number) => void;
  clear: () => void;
};

export function createEntitlementCache(maxEntries: number): EntitlementCache {
  const byPayer = new Map<number, Set<number>>();
  const entries = new LRUCache<number, Entitlement>({
    max: maxEntries,
    // However an entry goes (dropped, expired, pushed out, replaced under another payer), it leaves the index.
    dispose: ({ payer_id }, accountId) => {
      const accounts = byPayer.get(payer_id);
      accounts?.delete(accountId);
      if (accounts?.size === 0) byPayer.delete(payer_id);
    },
  });
  return {
    get: (accountId) => entries.get(accountId),
    set: (accountId, entitlement, ttlMs) => {
      entries.set(accountId, entitlement, { ttl: ttlMs });
      const accounts = byPayer.get(entitlement.payer_id);
      if (accounts === undefined) byPayer.set(entitlement.payer_id, new Set([accountId]));
      else accounts.add(accountId);
    },
    drop: (accountId) => {
      entries.delete(accountId);
      for (const paidFor of [...(byPayer.get(accountId) ?? [])]) entries.delete(paidFor);
    },
    clear: () => {
      entries.clear();
    },
  };
}
