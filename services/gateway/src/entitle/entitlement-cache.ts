import { LRUCache } from 'lru-cache';
import type { Entitlement } from '@tollgate/contracts/entitlement';

/** account's answer, and how long it may be used; both moments are of performance.now(). */
export type KnownEntitlement = {
  entitlement: Entitlement;
  /** Until then it is used without a question. */
  freshUntilMs: number;
  /** Until then it is used where account can't be asked. */
  staleUntilMs: number;
};

/** Entitlements by account, and by payer, so that all of a team's can be dropped at once. */
type EntitlementCache = {
  get: (accountId: number) => KnownEntitlement | undefined;
  set: (accountId: number, known: KnownEntitlement) => void;
  /** Drops the account's own, and those that it pays for. */
  drop: (accountId: number) => void;
  clear: () => void;
};

export function createEntitlementCache(maxEntries: number): EntitlementCache {
  const byPayer = new Map<number, Set<number>>();
  const entries = new LRUCache<number, KnownEntitlement>({
    max: maxEntries,
    // However an entry goes (dropped, pushed out, replaced under another payer), it leaves the index.
    dispose: ({ entitlement: { payer_id } }, accountId) => {
      const accounts = byPayer.get(payer_id);
      accounts?.delete(accountId);
      if (accounts?.size === 0) byPayer.delete(payer_id);
    },
  });
  return {
    get: (accountId) => entries.get(accountId),
    set: (accountId, known) => {
      entries.set(accountId, known);
      const { payer_id } = known.entitlement;
      const accounts = byPayer.get(payer_id);
      if (accounts === undefined) byPayer.set(payer_id, new Set([accountId]));
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
