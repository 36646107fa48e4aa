import { ENTITLEMENT_CHANNEL, entitlementEventSchema } from '@tollgate/contracts/entitlement';
import type { Logger } from '@tollgate/log';
import type { FollowedChannel } from '@tollgate/redis/follow-channels';
import { createEntitle } from './entitle.ts';
import type { Entitle, EntitleOptions } from './entitle.ts';

type OpenEntitleOptions = EntitleOptions & { logger: Pick<Logger, 'warn'> };

/** Entitlements whose cache is used while `channel`, account's events, is followed (docs/design/entitlement.md). */
export function openEntitle(options: OpenEntitleOptions): {
  entitle: Entitle;
  /** While no event can have been missed. */
  isTrusted: () => boolean;
  channel: FollowedChannel;
} {
  const { logger } = options;
  const { entitle, dropAccount, dropAll, trustCacheUntil, rest, isTrusted } = createEntitle(options);
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
