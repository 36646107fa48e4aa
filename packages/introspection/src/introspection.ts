import { accessTokenHash, applicationPart, parseAccessToken } from '@tollgate/access-token';
import { introspectionSchema } from '@tollgate/contracts/introspection';
import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { PrivateApi } from '@tollgate/private-api/client';
import { Problem } from '@tollgate/problem';
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
  /** Forgets all tokens of a client, those that auth is just being asked about included. */
  dropClient: (clientId: string) => void;
  /** Forgets one token by its hash. */
  dropToken: (tokenHash: string) => void;
  dropAll: () => void;
  /**
   * Until then (performance.now()) all revocations are known, and the cache may answer. It starts in the past:
   * without somebody who follows the revocations (see revocations.ts) auth is asked each time.
   */
  trustCacheUntil: (timeMs: number) => void;
  /** Whether that is still so. */
  knowsRevocations: () => boolean;
};

type Question = { applicationPart: string; dropped: boolean; answer: Promise<LiveToken | null> };

/** Between an answer and its use the token can be revoked, and then auth is asked again; not for ever. */
const ATTEMPTS = 3;

/**
 * Introspection with a bounded in-process cache and single flight: while auth is being asked about a token,
 * further callers with the same token wait for that answer. Tokens are held by their hash only. Failures
 * aren't cached.
 */
export function createIntrospector(options: IntrospectorOptions): Introspector {
  const { auth, tokenPrefix, cacheTtlMs, negativeCacheTtlMs, cacheMaxEntries, onLookup } = options;
  const cache = createTokenCache(cacheMaxEntries);
  const inFlight = new Map<string, Question>();
  let trustedUntilMs = 0;

  const knowsRevocations = () => performance.now() < trustedUntilMs;

  /** Asks auth until no revocation came between the question and its answer. */
  async function ask(question: Question, hash: string, token: string, requestId?: string) {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      question.dropped = false;
      const askedMs = performance.now();
      const answer = await auth.postForm('/oauth2/introspect', { token }, introspectionSchema, requestId);
      if (isDropped(question)) continue;
      const active = answer.active ? liveToken(answer, askedMs) : null;
      const ttlMs = active === null ? negativeCacheTtlMs : Math.min(cacheTtlMs, leftMs(active));
      // A token of which auth says "active" past its expiry isn't kept.
      if (active !== null || !answer.active) cache.set(hash, question.applicationPart, active, ttlMs);
      return active;
    }
    throw new Problem('service_unavailable', { cause: new Error('revocations came during every answer') });
  }

  function askOnce(hash: string, part: string, token: string, requestId?: string) {
    const pending = inFlight.get(hash);
    onLookup?.(pending === undefined ? 'miss' : 'joined');
    if (pending !== undefined) return pending.answer;
    const question: Question = { applicationPart: part, dropped: false, answer: Promise.resolve(null) };
    question.answer = ask(question, hash, token, requestId).finally(() => inFlight.delete(hash));
    inFlight.set(hash, question);
    return question.answer;
  }

  function dropQuestions(concerned: (hash: string, question: Question) => boolean): void {
    for (const [hash, question] of inFlight) if (concerned(hash, question)) question.dropped = true;
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
      return askOnce(hash, parsed.applicationPart, token, requestId);
    },
    dropClient: (clientId) => {
      const part = applicationPart(clientId);
      cache.dropApplication(part);
      dropQuestions((_hash, question) => question.applicationPart === part);
    },
    dropToken: (tokenHash) => {
      cache.drop(tokenHash);
      dropQuestions((hash) => hash === tokenHash);
    },
    dropAll: () => {
      cache.clear();
      dropQuestions(() => true);
    },
    trustCacheUntil: (timeMs) => {
      trustedUntilMs = timeMs;
    },
    knowsRevocations,
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

/** A function of its own, because the compiler believes that the member is still what it was set to. */
function isDropped(question: Question): boolean {
  return question.dropped;
}
