import { createGroupedStore } from '@tollgate/cache/grouped-store';
import type { ActiveToken } from '@tollgate/contracts/introspection';

export type LiveToken = ActiveToken & {
  /** When it expires, by performance.now(). */
  expiresAtMs: number;
};

/** Grouped by application, so that one application's tokens can be dropped at once. */
export type TokenCache = {
  /** Null: inactive. Undefined: unknown. */
  get: (tokenHash: string, nowMs?: number) => LiveToken | null | undefined;
  /** Never past the token's expiry. */
  set: (tokenHash: string, applicationPart: string, active: LiveToken | null, ttlMs: number) => void;
  drop: (tokenHash: string) => void;
  /** Makes an application's tokens below the epoch inactive. */
  endBelow: (applicationPart: string, revocationEpoch: number, ttlMs: number) => void;
  clear: () => void;
};

export function createTokenCache(maxEntries: number): TokenCache {
  const tokens = createGroupedStore<string, string, LiveToken | null>(maxEntries);
  const { get, drop, clear } = tokens;

  function set(hash: string, applicationPart: string, active: LiveToken | null, ttlMs: number): void {
    const expiresAtMs = Math.min(performance.now() + ttlMs, active?.expiresAtMs ?? Infinity);
    tokens.set(hash, applicationPart, active, expiresAtMs);
  }

  return {
    get,
    set,
    drop,
    endBelow: (applicationPart, revocationEpoch, ttlMs) => {
      for (const hash of tokens.keysOf(applicationPart)) {
        const active = get(hash);
        // account repeats its messages: inactive tokens stay inactive without a request.
        if (active === null || active === undefined) continue;
        if (active.revocation_epoch < revocationEpoch) set(hash, applicationPart, null, ttlMs);
      }
    },
    clear,
  };
}
