import type { ClientChange } from '@tollgate/contracts/client-change';
import type { Logger } from '@tollgate/log';
import type { FollowedChannel } from '@tollgate/redis/follow-channels';
import { createIntrospector } from './introspection.ts';
import type { Introspector, IntrospectorOptions } from './introspection.ts';
import { clientChangeChannel } from './client-changes.ts';

export type OpenIntrospectionOptions = Pick<IntrospectorOptions, 'auth' | 'onLookup'> & {
  config: {
    TOKEN_PREFIX: string;
    INTROSPECTION_CACHE_TTL_MS: number;
    INTROSPECTION_NEGATIVE_CACHE_TTL_MS: number;
    INTROSPECTION_CACHE_MAX_ENTRIES: number;
  };
  logger: Logger;
  /**
   * Called after the drop, to end open sockets. `all`: revocations may have been missed, so recheck every
   * token.
   */
  onDropped?: (what: ClientChange | 'all') => void;
};

/** An introspector whose cache is used while `channel` is followed (docs/design/revocation.md). */
export function openIntrospection(options: OpenIntrospectionOptions): {
  introspect: Introspector['introspect'];
  introspectCached: Introspector['introspectCached'];
  knowsRevocations: Introspector['knowsRevocations'];
  knewRevocationsUntilMs: Introspector['knewRevocationsUntilMs'];
  channel: FollowedChannel;
} {
  const { config, auth, logger, onDropped, ...told } = options;
  const introspector = createIntrospector({
    auth,
    tokenPrefix: config.TOKEN_PREFIX,
    cacheTtlMs: config.INTROSPECTION_CACHE_TTL_MS,
    negativeCacheTtlMs: config.INTROSPECTION_NEGATIVE_CACHE_TTL_MS,
    cacheMaxEntries: config.INTROSPECTION_CACHE_MAX_ENTRIES,
    ...told,
  });
  const channel = clientChangeChannel({ ...introspector, onDropped }, logger);
  const { introspect, introspectCached, knowsRevocations, knewRevocationsUntilMs } = introspector;
  return { introspect, introspectCached, knowsRevocations, knewRevocationsUntilMs, channel };
}
