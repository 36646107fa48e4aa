import { createEventCache } from '@tollgate/cache/event-cache';
import type { CacheRest, EventCache, Load } from '@tollgate/cache/event-cache';
import { accessTokenHash, applicationPart, parseAccessToken } from '@tollgate/credentials/access-token';
import { introspectionSchema } from '@tollgate/contracts/introspection';
import type { ActiveToken, Introspection } from '@tollgate/contracts/introspection';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import { createDeadTokens } from './dead-tokens.ts';
import type { DeadTokens } from './dead-tokens.ts';
import { createTokenCache } from './token-cache.ts';
import type { LiveToken } from './token-cache.ts';

export type { LiveToken } from './token-cache.ts';

export type IntrospectorOptions = {
  auth: Pick<PrivateApi, 'postForm'>;
  tokenPrefix: string;
  /** How long an active token is kept, at most; never past its `exp`. */
  cacheTtlMs: number;
  /** How long an inactive token is kept: short, it only blunts a storm of one dead token. */
  negativeCacheTtlMs: number;
  cacheMaxEntries: number;
  onLookup?: (outcome: 'malformed' | 'hit' | 'joined' | 'miss') => void;
};

export type Introspector = {
  /**
   * The token's active introspection, or null if it is malformed or inactive.
   * @throws {Problem} service_unavailable if auth doesn't answer: fail closed, but never as a 401
   */
  introspect: (token: string, requestId?: string) => Promise<LiveToken | null>;
  /** From the cache alone, by accessTokenHash; undefined if only auth knows. */
  introspectCached: (tokenHash: string) => LiveToken | null | undefined;
  /** The client's tokens below the epoch are dead, whatever auth answers. */
  dropClient: (clientId: string, revocationEpoch: number) => void;
  /** The token is dead, whatever auth answers from now on. */
  dropToken: (tokenHash: string) => void;
  /** Revocations may have been missed: drops the cache. Known revocations stay known. */
  dropAll: () => void;
  /** Until then (performance.now()) no revocation is missed and the cache may answer; at first it may not. */
  trustCacheUntil: (timeMs: number) => void;
  rest: CacheRest;
  knowsRevocations: () => boolean;
  /** The latest moment passed to `trustCacheUntil`, also if trust ended before it. */
  knewRevocationsUntilMs: () => number;
};

type Request = { applicationPart: string; token: string; requestId: string | undefined };

type TokenEvent =
  | { change: 'token'; tokenHash: string }
  | { change: 'application'; applicationPart: string; revocationEpoch: number };

/** An event cache (docs/design/revocation.md) in front of auth, which holds only hashes of tokens. */
export function createIntrospector(options: IntrospectorOptions): Introspector {
  const { tokenPrefix, onLookup } = options;
  const dead = createDeadTokens();
  const cache = createIntrospectionCache(options, dead);
  let lastTrustedUntilMs = 0;

  function fromCache(hash: string): LiveToken | null | undefined {
    const cached = cache.get(hash);
    if (cached !== undefined) onLookup?.('hit');
    return cached;
  }

  async function loadAfter(
    rested: Promise<void> | undefined,
    hash: string,
    request: Request,
  ): Promise<LiveToken | null> {
    if (rested === undefined) return cache.load(hash, request);
    await rested;
    const cached = fromCache(hash);
    return cached === undefined ? cache.load(hash, request) : cached;
  }

  return {
    introspectCached: fromCache,
    introspect: (token, requestId) => {
      const hash = accessTokenHash(token);
      const cached = fromCache(hash);
      if (cached !== undefined) return Promise.resolve(cached);
      // Only now, because a cached token is well-formed.
      const parsed = parseAccessToken(token, tokenPrefix);
      if (parsed === null) {
        onLookup?.('malformed');
        return Promise.resolve(null);
      }
      if (dead.has(hash)) return Promise.resolve(null);
      const request = { applicationPart: parsed.applicationPart, token, requestId };
      return loadAfter(cache.rest.end(), hash, request);
    },
    dropClient: (clientId, revocationEpoch) => {
      cache.invalidate({
        change: 'application',
        applicationPart: applicationPart(clientId),
        revocationEpoch,
      });
    },
    dropToken: (tokenHash) => {
      cache.invalidate({ change: 'token', tokenHash });
    },
    dropAll: cache.clear,
    trustCacheUntil: (timeMs) => {
      cache.trustUntil(timeMs);
      lastTrustedUntilMs = Math.max(lastTrustedUntilMs, timeMs);
    },
    rest: cache.rest,
    knowsRevocations: cache.isTrusted,
    knewRevocationsUntilMs: () => lastTrustedUntilMs,
  };
}

function createIntrospectionCache(
  { auth, cacheTtlMs, negativeCacheTtlMs, cacheMaxEntries, onLookup }: IntrospectorOptions,
  dead: DeadTokens,
): EventCache<string, Request, LiveToken | null, TokenEvent> {
  const tokens = createTokenCache(cacheMaxEntries);

  /** An auth that hasn't heard of a revocation yet answers "active". */
  function keep(answer: Introspection, { key: hash, context, startedMs }: Load<string, Request>) {
    const part = context.applicationPart;
    const isDead = answer.active && (dead.has(hash) || dead.isBelowEpoch(part, answer.revocation_epoch));
    const active = answer.active && !isDead ? liveToken(answer, startedMs) : null;
    // A token that auth calls active past its expiry isn't kept.
    if (active !== null || !answer.active || isDead) {
      tokens.set(hash, part, active, active === null ? negativeCacheTtlMs : cacheTtlMs);
    }
    return active;
  }

  function apply(event: TokenEvent): void {
    if (event.change === 'token') {
      dead.add(event.tokenHash);
      tokens.drop(event.tokenHash);
    } else {
      dead.raiseEpoch(event.applicationPart, event.revocationEpoch);
      tokens.endBelow(event.applicationPart, event.revocationEpoch, cacheTtlMs);
    }
  }

  return createEventCache({
    store: tokens,
    load: (_hash, { token, requestId }) =>
      auth.postForm('/oauth2/introspect', { token }, introspectionSchema, requestId),
    keep,
    apply,
    isStale,
    onLookup,
  });
}

function isStale(answer: Introspection, event: TokenEvent, { key, context }: Load<string, Request>): boolean {
  if (event.change === 'token') return event.tokenHash === key;
  // An active token's epoch is compared with the event's when it is kept.
  return event.applicationPart === context.applicationPart && !answer.active;
}

/** Null if the token expired while the response was on its way. */
function liveToken(answer: ActiveToken, startedMs: number): LiveToken | null {
  const expiresAtMs = startedMs + answer.expires_in_ms;
  return expiresAtMs > performance.now() ? { ...answer, expiresAtMs } : null;
}
