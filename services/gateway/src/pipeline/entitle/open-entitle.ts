import { ENTITLEMENT_CHANNEL, entitlementEventSchema } from '@tollgate/contracts/entitlement';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import type { RedisConnection } from '@tollgate/redis';
import type { FollowedChannel } from '@tollgate/redis/follow-channels';
import type { ComposeContext } from '@tollgate/server';
import type { Config } from '../../config.ts';
import { createEntitle } from './entitle.ts';
import type { Entitle } from './entitle.ts';
import { createReadKeptAnswer } from './kept-answers.ts';
import { createEntitleMetrics } from './metrics.ts';

/** Entitlements whose cache is used while `channel`, account's events, is followed (docs/design/entitlement.md). */
export function openEntitle(
  { config, logger, registry }: Pick<ComposeContext<Config>, 'config' | 'logger' | 'registry'>,
  { account, redis }: { account: PrivateApi; redis: RedisConnection },
): {
  entitle: Entitle;
  /** While no event can have been missed. */
  isTrusted: () => boolean;
  channel: FollowedChannel;
} {
  const { entitle, dropAccount, dropAll, trustCacheUntil, rest, isTrusted } = createEntitle({
    account,
    readKeptAnswer: createReadKeptAnswer(redis),
    cacheTtlMs: config.ENTITLEMENT_CACHE_TTL_MS,
    staleIfErrorMs: config.ENTITLEMENT_STALE_IF_ERROR_MS,
    strictPoints: config.STRICT_POINTS,
    readsCalls: config.GRAPHQL_READ === 'on',
    cacheMaxEntries: config.ENTITLEMENT_CACHE_MAX_ENTRIES,
    logger,
    ...createEntitleMetrics(registry),
  });
  const channel: FollowedChannel = {
    channel: ENTITLEMENT_CHANNEL,
    onMessage: (message) => {
      const event = entitlementEventSchema.safeParse(parseJson(message));
      if (event.success) {
        dropAccount(event.data.account_id);
        return;
      }
      logger.warn('an entitlement event could not be read; all cached entitlements are dropped');
      dropAll();
    },
    cache: { onDropAll: dropAll, trustUntil: trustCacheUntil, rest },
  };
  return { entitle, isTrusted, channel };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
