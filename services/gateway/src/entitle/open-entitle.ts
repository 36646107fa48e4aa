import { ENTITLEMENT_CHANNEL, entitlementEventSchema } from '@tollgate/contracts/entitlement';
import type { Logger } from '@tollgate/log';
import { followChannel } from '@tollgate/redis/follow-channel';
import { createEntitle } from './entitle.ts';
import type { Entitle, EntitleOptions } from './entitle.ts';

/** What of all entitlements is out of date: an account's own and those that it pays for, or all. */
type ChangedEntitlements = number | 'all';

type OpenEntitleOptions = EntitleOptions & {
  redisUrl: string;
  logger: Logger;
  /**
   * Told after the cache has dropped them: whoever holds something open for an account asks again. `all`: events
   * may have been missed.
   */
  onChanged?: (changed: ChangedEntitlements) => void;
};

/**
 * Entitlements whose cache follows account's events on Redis connections of its own, by the rules of revocations
 * (ADR 0018): it answers only while no event can have been missed.
 */
export function openEntitle(options: OpenEntitleOptions): { entitle: Entitle; close: () => void } {
  const { redisUrl, logger, onChanged, ...rest } = options;
  const { entitle, dropAccount, dropAll, trustCacheUntil } = createEntitle(rest);
  const onDropAll = () => {
    dropAll();
    onChanged?.('all');
  };
  const { close } = followChannel({
    url: redisUrl,
    channel: ENTITLEMENT_CHANNEL,
    onMessage: (message) => {
      const event = entitlementEventSchema.safeParse(parseJson(message));
      if (!event.success) {
        logger.warn('an entitlement event could not be read; all cached entitlements are dropped');
        onDropAll();
        return;
      }
      dropAccount(event.data.account_id);
      onChanged?.(event.data.account_id);
    },
    onDropAll,
    trustUntil: trustCacheUntil,
    logger,
  });
  return { entitle, close };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
