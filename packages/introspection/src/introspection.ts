import { LRUCache } from 'lru-cache';
import { accessTokenHash, parseAccessToken } from '@tollgate/access-token';
import { introspectionSchema } from '@tollgate/contracts/introspection';
import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { PrivateApi } from '@tollgate/private-api/client';

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
  introspect: (token: string, requestId?: string) => Promise<ActiveToken | null>;
};

/**
 * Introspection with a bounded in-process cache and single flight: while auth is being asked about a token,
 * further callers with the same token wait for that answer. Tokens are held by their hash only. Failures
 * aren't cached.
 */
export function createIntrospector(options: IntrospectorOptions): Introspector {
  const { auth, tokenPrefix, cacheTtlMs, negativeCacheTtlMs, cacheMaxEntries, onLookup } = options;
  // The cache can't hold null, so an inactive token is kept as false.
  const cache = new LRUCache<string, ActiveToken | false>({ max: cacheMaxEntries });
  const inFlight = new Map<string, Promise<ActiveToken | null>>();

  async function ask(hash: string, token: string, requestId?: string): Promise<ActiveToken | null> {
    const answer = await auth.postForm('/oauth2/introspect', { token }, introspectionSchema, requestId);
    if (!answer.active) {
      cache.set(hash, false, { ttl: negativeCacheTtlMs });
      return null;
    }
    const ttl = Math.min(cacheTtlMs, answer.exp * 1000 - Date.now());
    if (ttl <= 0) return null;
    cache.set(hash, answer, { ttl });
    return answer;
  }

  return {
    introspect: (token, requestId) => {
      if (parseAccessToken(token, tokenPrefix) === null) {
        onLookup?.('malformed');
        return Promise.resolve(null);
      }
      const hash = accessTokenHash(token);
      const cached = cache.get(hash);
      if (cached !== undefined && (cached === false || cached.exp * 1000 > Date.now())) {
        onLookup?.('hit');
        return Promise.resolve(cached === false ? null : cached);
      }
      const pending = inFlight.get(hash);
      if (pending !== undefined) {
        onLookup?.('joined');
        return pending;
      }
      onLookup?.('miss');
      const asked = ask(hash, token, requestId).finally(() => inFlight.delete(hash));
      inFlight.set(hash, asked);
      return asked;
    },
  };
}
