import { LRUCache } from 'lru-cache';
import type { ActiveToken } from '@tollgate/contracts/introspection';

/** An active token as a process knows it. */
export type LiveToken = ActiveToken & {
  /** When it expires, by performance.now(). */
  expiresAtMs: number;
};

/** Introspections by token hash, and by application, so that one application's can be dropped at once. */
export type TokenCache = {
  /** Null is an inactive token, undefined one that isn't known. */
  get: (tokenHash: string) => LiveToken | null | undefined;
  set: (tokenHash: string, applicationPart: string, active: LiveToken | null, ttlMs: number) => void;
  drop: (tokenHash: string) => void;
  /** Of an application: what is below the epoch is inactive from now on, what has no epoch isn't known any more. */
  endBelow: (applicationPart: string, revocationEpoch: number, ttlMs: number) => void;
  dropApplication: (applicationPart: string) => void;
  clear: () => void;
};

type Entry = { applicationPart: string; active: LiveToken | null };

export function createTokenCache(maxEntries: number): TokenCache {
  const byApplication = new Map<string, Set<string>>();
  const entries = new LRUCache<string, Entry>({
    max: maxEntries,
    // However an entry goes (dropped, expired, pushed out), it leaves the index too.
    disposeAfter: ({ applicationPart }, tokenHash, reason) => {
      if (reason === 'set') return;
      const hashes = byApplication.get(applicationPart);
      hashes?.delete(tokenHash);
      if (hashes?.size === 0) byApplication.delete(applicationPart);
    },
  });
  const ofApplication = (part: string) => [...(byApplication.get(part) ?? [])];
  return {
    get: (tokenHash) => entries.get(tokenHash)?.active,
    set: (tokenHash, applicationPart, active, ttlMs) => {
      entries.set(tokenHash, { applicationPart, active }, { ttl: ttlMs });
      const hashes = byApplication.get(applicationPart);
      if (hashes === undefined) byApplication.set(applicationPart, new Set([tokenHash]));
      else hashes.add(tokenHash);
    },
    drop: (tokenHash) => {
      entries.delete(tokenHash);
    },
    endBelow: (applicationPart, revocationEpoch, ttlMs) => {
      for (const tokenHash of ofApplication(applicationPart)) {
        const active = entries.get(tokenHash)?.active;
        // A dead one stays so: the same may be said again and again.
        if (active === null || active === undefined) continue;
        if (active.revocation_epoch === undefined) entries.delete(tokenHash);
        else if (active.revocation_epoch < revocationEpoch)
          entries.set(tokenHash, { applicationPart, active: null }, { ttl: ttlMs });
      }
    },
    dropApplication: (applicationPart) => {
      for (const tokenHash of ofApplication(applicationPart)) entries.delete(tokenHash);
    },
    clear: () => {
      entries.clear();
    },
  };
}
