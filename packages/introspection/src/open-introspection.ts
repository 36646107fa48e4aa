import type { Logger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import { createIntrospector } from './introspection.ts';
import type { Introspector, IntrospectorOptions } from './introspection.ts';
import { followRevocations } from './revocations.ts';

export type OpenIntrospectionOptions = Pick<IntrospectorOptions, 'auth' | 'onLookup'> & {
  /** The service's settings: those of settings.ts, and where auth publishes revocations. */
  config: {
    TOKEN_PREFIX: string;
    INTROSPECTION_CACHE_TTL_MS: number;
    INTROSPECTION_NEGATIVE_CACHE_TTL_MS: number;
    INTROSPECTION_CACHE_MAX_ENTRIES: number;
    REDIS_URL: string;
  };
  logger: Logger;
};

/** An introspector whose cache follows auth's revocations on a Redis connection of its own (ADR 0013). */
export function openIntrospection({ config, auth, logger, ...told }: OpenIntrospectionOptions): {
  introspect: Introspector['introspect'];
  close: () => void;
} {
  const introspector = createIntrospector({
    auth,
    tokenPrefix: config.TOKEN_PREFIX,
    cacheTtlMs: config.INTROSPECTION_CACHE_TTL_MS,
    negativeCacheTtlMs: config.INTROSPECTION_NEGATIVE_CACHE_TTL_MS,
    cacheMaxEntries: config.INTROSPECTION_CACHE_MAX_ENTRIES,
    ...told,
  });
  const { close } = followRevocations({
    redis: openRedis(config.REDIS_URL, logger),
    listener: introspector,
    logger,
  });
  return { introspect: introspector.introspect, close };
}
