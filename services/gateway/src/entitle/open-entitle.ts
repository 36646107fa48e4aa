import { ENTITLEMENT_CHANNEL, entitlementEventSchema } from '@tollgate/contracts/entitlement';
import type { Logger } from '@tollgate/log';
import { followChannel } from '@tollgate/redis/follow-channel';
import type { FurtherChannel } from '@tollgate/redis/follow-channel';
import { createEntitle } from './entitle.ts';
import type { Entitle, EntitleOptions } from './entitle.ts';

type OpenEntitleOptions = EntitleOptions & {
  redisUrl: string;
  /** Of a further channel on the same connections, trusted like account's events. */
  recalls: FurtherChannel & { onDropAll: () => void };
  logger: Logger;
};

/** Entitlements whose cache follows account's events on Redis connections of its own (ADR 0018). */
export function openEntitle(options: OpenEntitleOptions): {
  entitle: Entitle;
  /** While no event can have been missed. */
  isTrusted: () => boolean;
  close: () => void;
} {
  const { redisUrl, logger } = options;
  const { entitle, dropAccount, dropAll, trustCacheUntil, isTrusted } = createEntitle(options);
  const { close } = followChannel({
    url: redisUrl,
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
    further: options.recalls,
    onDropAll: () => {
      dropAll();
      options.recalls.onDropAll();
    },
    trustUntil: trustCacheUntil,
    logger,
  });
  return { entitle, isTrusted, close };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
