import { accessTokenHash } from '@tollgate/credentials/access-token';
import type { Revocation } from '@tollgate/contracts/revocation';
import type { Introspector } from '@tollgate/introspection';
import { isEnded } from '@tollgate/introspection/revocations';
import { invalidToken } from '@tollgate/http/problem';
import { createGroups } from './groups.ts';
import { recheckTokens } from './recheck-tokens.ts';
import type { TokenUse, WatchedUse } from './token-use.ts';

export type TokenWatch = {
  /**
   * Ends the use within a second of its token's end, until `release`. `asOf` is what `revocations` said before the
   * token was asked about; without it the token is asked about again.
   */
  hold: (holder: object, use: TokenUse, asOf?: number) => void;
  release: (holder: object) => void;
  /** How many revocations have come so far. */
  revocations: () => number;
  /** Something was revoked, or may have been. */
  onRevoked: (what: Revocation | 'all') => void;
  close: () => void;
};

/** How soon it is noticed that revocations can't be heard of any more. */
const LOOK_INTERVAL_MS = 50;
/** How often auth is asked about all tokens meanwhile. */
const ASK_INTERVAL_MS = 500;
/** A token that has been good is believed to be for so long at most; with the time to close, that is the second. */
const BELIEVED_MS = 900;
/** What is known of revocations is trusted for 0.8 s after it was proven (ADR 0013). */
const BELIEVED_AFTER_TRUST_MS = 100;
/** auth has so long at least, also where a process that stood still finds all deadlines past. */
const MIN_ANSWER_MS = 150;
const ANSWER_MS = 850;

/**
 * All that is open for a token at this gateway. While revocations are heard of, nobody is asked: what they end is
 * ended at once, whatever else is away. When they can't be heard of, auth is asked about every token, and a use of
 * which it can't say in time that its token lives ends with 503: within a second of its token's end it has ended,
 * or was known to be good (ADR 0013).
 */
export function createTokenWatch(
  introspection: Pick<Introspector, 'introspect' | 'knowsRevocations' | 'knewRevocationsUntilMs'>,
): TokenWatch {
  const { introspect, knowsRevocations, knewRevocationsUntilMs } = introspection;
  const all = new Map<object, WatchedUse>();
  const byClient = createGroups<string, WatchedUse>();
  const byToken = createGroups<string, WatchedUse>();
  let revocations = 0;
  let askedMs = -Infinity;

  function recheck(uses: Iterable<WatchedUse>, deadlineOf: (use: WatchedUse) => number): void {
    void recheckTokens(uses, introspect, deadlineOf);
  }

  function recheckSoon(uses: Iterable<WatchedUse>): void {
    const deadlineMs = performance.now() + ANSWER_MS;
    recheck(uses, () => deadlineMs);
  }

  /** Revocations may have been missed since they were last known to be heard of. */
  function recheckAll(): void {
    const trustedMs = knewRevocationsUntilMs() + BELIEVED_AFTER_TRUST_MS;
    const earliestMs = performance.now() + MIN_ANSWER_MS;
    recheck(all.values(), ({ goodAtMs }) => Math.max(trustedMs, goodAtMs + BELIEVED_MS, earliestMs));
  }

  const timer = setInterval(() => {
    const nowMs = performance.now();
    if (knowsRevocations() || nowMs - askedMs < ASK_INTERVAL_MS) return;
    askedMs = nowMs;
    recheckAll();
  }, LOOK_INTERVAL_MS);
  timer.unref();

  return {
    hold: (holder, use, asOf) => {
      const watched: WatchedUse = { ...use, goodAtMs: performance.now() };
      all.set(holder, watched);
      byClient.add(use.active.client_id, watched);
      byToken.add(accessTokenHash(use.token), watched);
      // A revocation that came between the answer and this found nothing to end.
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
      const uncertain: WatchedUse[] = [];
      for (const use of [
        ...(what.kind === 'client' ? byClient.of(what.client_id) : byToken.of(what.token_hash)),
      ]) {
        const ended = isEnded(what, use.active);
        if (ended === undefined) uncertain.push(use);
        else if (ended) use.end(invalidToken());
      }
      recheckSoon(uncertain);
    },
    close: () => {
      clearInterval(timer);
    },
  };
}
