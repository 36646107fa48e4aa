import { accessTokenHash, applicationPart, parseAccessToken } from '@tollgate/credentials/access-token';
import type { ActiveToken, Introspection } from '@tollgate/contracts/introspection';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import { createDeadTokens } from './dead-tokens.ts';
import { createQuestions } from './questions.ts';
import type { Asked } from './questions.ts';
import { createTokenCache } from './token-cache.ts';
import type { LiveToken } from './token-cache.ts';

export type { LiveToken } from './token-cache.ts';

export type IntrospectorOptions = {
  /** auth's private API. */
  auth: Pick<PrivateApi, 'postForm'>;
  tokenPrefix: string;
  /** How long an active token's answer is kept, at most; never past the token's `exp`. */
  cacheTtlMs: number;
  /** How long "inactive" is kept: short, it only blunts a storm of one dead token. */
  negativeCacheTtlMs: number;
  /** Bound of the cache, in tokens. */
  cacheMaxEntries: number;
  /** Told of each answer's origin, for metrics. */
  onLookup?: (outcome: 'malformed' | 'hit' | 'joined' | 'miss') => void;
};

export type Introspector = {
  /**
   * The token's active introspection, or null where it is malformed or inactive.
   * @throws {Problem} service_unavailable where auth can't be asked: fail closed, but never as a 401.
   */
  introspect: (token: string, requestId?: string) => Promise<LiveToken | null>;
  /** The same from the cache alone, at once; undefined where auth has to be asked. */
  introspectCached: (token: string) => LiveToken | null | undefined;
  /**
   * The client has changed, and its tokens below the epoch are dead, whatever auth says from now on. Without an
   * epoch any of them may be: all are forgotten, those that auth is just being asked about included.
   */
  dropClient: (clientId: string, revocationEpoch?: number) => void;
  /** One token is dead, whatever auth says from now on. */
  dropToken: (tokenHash: string) => void;
  /** Revocations may have been missed: all is asked for again. What is known to be dead stays so. */
  dropAll: () => void;
  /**
   * Until then (performance.now()) all revocations are known, and the cache may answer. It starts in the past:
   * without somebody who follows the revocations (see revocations.ts) auth is asked each time.
   */
  trustCacheUntil: (timeMs: number) => void;
  /** Whether that is still so. */
  knowsRevocations: () => boolean;
  /** Until when that was last known to be so (performance.now()), also where it ended early. */
  knewRevocationsUntilMs: () => number;
};

/**
 * Introspection with a bounded in-process cache and single flight: while auth is being asked about a token,
 * further callers with the same token wait for that answer. Tokens are held by their hash only. Failures
 * aren't cached.
 */
export function createIntrospector(options: IntrospectorOptions): Introspector {
  const { auth, tokenPrefix, cacheTtlMs, negativeCacheTtlMs, cacheMaxEntries, onLookup } = options;
  const cache = createTokenCache(cacheMaxEntries);
  const dead = createDeadTokens();
  const questions = createQuestions({ auth, onLookup, judge });
  let trustedUntilMs = 0;
  let lastTrustedUntilMs = 0;

  const knowsRevocations = () => performance.now() < trustedUntilMs;

  /** What auth's answer is worth, and for how long it is kept. auth may not have heard yet what this process has. */
  function judge(
    { hash, applicationPart: part }: Asked,
    answer: Introspection,
    askedMs: number,
  ): LiveToken | null {
    const isDead = answer.active && (dead.has(hash) || dead.isBelowEpoch(part, answer.revocation_epoch));
    const active = answer.active && !isDead ? liveToken(answer, askedMs) : null;
    const ttlMs = active === null ? negativeCacheTtlMs : Math.min(cacheTtlMs, leftMs(active));
    // A token of which auth says "active" past its expiry isn't kept.
    if (active !== null || !answer.active || isDead) cache.set(hash, part, active, ttlMs);
    return active;
  }

  function dropClient(clientId: string, revocationEpoch?: number): void {
    const part = applicationPart(clientId);
    if (revocationEpoch === undefined) {
      cache.dropApplication(part);
      questions.drop((question) => question.applicationPart === part);
      return;
    }
    dead.noteEpoch(part, revocationEpoch);
    questions.change(part);
    cache.endBelow(part, revocationEpoch, cacheTtlMs);
  }

  function fromCache(hash: string): LiveToken | null | undefined {
    const cached = knowsRevocations() ? cache.get(hash) : undefined;
    if (cached === undefined || (cached !== null && leftMs(cached) <= 0)) return undefined;
    onLookup?.('hit');
    return cached;
  }

  return {
    introspectCached: (token) => fromCache(accessTokenHash(token)),
    introspect: (token, requestId) => {
      const hash = accessTokenHash(token);
      const cached = fromCache(hash);
      if (cached !== undefined) return Promise.resolve(cached);
      // What is cached was well-formed.
      const parsed = parseAccessToken(token, tokenPrefix);
      if (parsed === null) {
        onLookup?.('malformed');
        return Promise.resolve(null);
      }
      return dead.has(hash)
        ? Promise.resolve(null)
        : questions.ask({ hash, applicationPart: parsed.applicationPart, token, requestId });
    },
    dropClient,
    dropToken: (tokenHash) => {
      dead.note(tokenHash);
      cache.drop(tokenHash);
      questions.drop(({ hash }) => hash === tokenHash);
    },
    dropAll: () => {
      cache.clear();
      questions.drop(() => true);
    },
    trustCacheUntil: (timeMs) => {
      trustedUntilMs = timeMs;
      lastTrustedUntilMs = Math.max(lastTrustedUntilMs, timeMs);
    },
    knowsRevocations,
    knewRevocationsUntilMs: () => lastTrustedUntilMs,
  };
}

/**
 * What auth says is active, or null where it has expired on its way. Counted from before the question, so that what
 * the answer took doesn't prolong it.
 */
function liveToken(answer: ActiveToken, askedMs: number): LiveToken | null {
  const nowMs = performance.now();
  // An auth of the version before says only when, by a clock that needn't be this one.
  const expiresAtMs =
    answer.expires_in_ms === undefined
      ? nowMs + answer.exp * 1000 - Date.now()
      : askedMs + answer.expires_in_ms;
  return expiresAtMs > nowMs ? { ...answer, expiresAtMs } : null;
}

function leftMs({ expiresAtMs }: LiveToken): number {
  return expiresAtMs - performance.now();
}
