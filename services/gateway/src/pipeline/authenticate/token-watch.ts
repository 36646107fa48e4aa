import { accessTokenHash } from '@tollgate/credentials/access-token';
import type { ClientChange } from '@tollgate/contracts/client-change';
import type { Introspector } from '@tollgate/introspection';
import { invalidToken } from '@tollgate/http/problem';
import { createGroups } from './groups.ts';
import { recheckTokens } from './recheck-tokens.ts';
import { createSweep } from './sweep.ts';
import type { TokenUse, WatchedUse } from './token-use.ts';

export type TokenWatch = {
  /** Ends the use within a second of its token's end. `asOf` is `revocations` before the token's introspection. */
  hold: (holder: object, use: TokenUse, asOf?: number) => void;
  release: (holder: object) => void;
  revocations: () => number;
  onRevoked: (what: ClientChange | 'all') => void;
  close: () => void;
};

const CHANNEL_CHECK_INTERVAL_MS = 50;
/** Between rechecks while it is lost. */
const RECHECK_INTERVAL_MS = 500;
/** With the time to close, this makes a second. */
const CONFIRMATION_VALID_MS = 900;
/** Caches are trusted for 0.8 s (docs/design/revocation.md). */
const AFTER_CHANNEL_TRUST_MS = 100;
/** At least, for a process that stood still. */
const MIN_RECHECK_TIMEOUT_MS = 150;
const RECHECK_TIMEOUT_MS = 850;

/**
 * Revocations end uses at once; while the channel is lost, uses that auth doesn't confirm end with 503
 * (docs/design/revocation.md).
 */
export function createTokenWatch(
  introspection: Pick<Introspector, 'introspect' | 'knowsRevocations' | 'knewRevocationsUntilMs'>,
): TokenWatch {
  const { introspect, knowsRevocations, knewRevocationsUntilMs } = introspection;
  const all = new Map<object, WatchedUse>();
  const byClient = createGroups<string, WatchedUse>();
  const byToken = createGroups<string, WatchedUse>();
  let revocations = 0;
  let recheckedMs = -Infinity;

  function recheck(uses: Iterable<WatchedUse>, deadlineOf: (use: WatchedUse) => number): void {
    void recheckTokens(uses, introspect, deadlineOf);
  }

  function recheckSoon(uses: Iterable<WatchedUse>): void {
    const deadlineMs = performance.now() + RECHECK_TIMEOUT_MS;
    recheck(uses, () => deadlineMs);
  }

  function recheckAll(): void {
    const trustedMs = knewRevocationsUntilMs() + AFTER_CHANNEL_TRUST_MS;
    const earliestMs = performance.now() + MIN_RECHECK_TIMEOUT_MS;
    recheck(all.values(), ({ goodAtMs }) =>
      Math.max(trustedMs, goodAtMs + CONFIRMATION_VALID_MS, earliestMs),
    );
  }

  const channelCheck = createSweep(CHANNEL_CHECK_INTERVAL_MS, () => {
    const nowMs = performance.now();
    if (!knowsRevocations() && nowMs - recheckedMs >= RECHECK_INTERVAL_MS) {
      recheckedMs = nowMs;
      recheckAll();
    }
    return all.size > 0;
  });

  return {
    hold: (holder, use, asOf) => {
      const watched: WatchedUse = { ...use, goodAtMs: performance.now() };
      all.set(holder, watched);
      channelCheck.start();
      byClient.add(use.active.client_id, watched);
      byToken.add(accessTokenHash(use.token), watched);
      // A revocation between the introspection and this found nothing to end.
      if (asOf !== revocations) recheckSoon([watched]);
    },
    release: (holder) => {
      const watched = all.get(holder);
      if (watched === undefined) return;
      all.delete(holder);
      byClient.remove(watched.active.client_id, watched);
      byToken.remove(accessTokenHash(watched.token), watched);
    },
    revocations: () => revocations,
    onRevoked: (what) => {
      revocations += 1;
      if (what === 'all') {
        recheckAll();
        return;
      }
      const uses = what.change === 'token' ? byToken.of(what.token_hash) : byClient.of(what.client_id);
      for (const use of [...uses]) {
        const isEnded = what.change === 'token' || use.active.revocation_epoch < what.revocation_epoch;
        if (isEnded) use.end(invalidToken());
      }
    },
    close: channelCheck.stop,
  };
}
