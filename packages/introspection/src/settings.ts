import { wholeNumber } from '@tollgate/config/settings';

/** Settings of a service that introspects bearer tokens (docs/configuration.md). */
export function introspectionSettings(defaultCacheMaxEntries: number) {
  return {
    INTROSPECTION_CACHE_TTL_MS: wholeNumber(1, 600_000)
      .default(300_000)
      .describe('how long the introspection of an active token is cached'),
    INTROSPECTION_NEGATIVE_CACHE_TTL_MS: wholeNumber(1, 30_000)
      .default(1_000)
      .describe('how long "inactive" is cached'),
    INTROSPECTION_CACHE_MAX_ENTRIES: wholeNumber(1, 10_000_000)
      .default(defaultCacheMaxEntries)
      .describe('maximum size of the introspection cache'),
  };
}
