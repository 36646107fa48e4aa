import { CLIENT_CHANGE_CHANNEL, clientChangeSchema } from '@tollgate/contracts/client-change';
import type { ClientChange } from '@tollgate/contracts/client-change';
import type { Logger } from '@tollgate/log';
import type { FollowedChannel } from '@tollgate/redis/follow-channels';
import type { Introspector } from './introspection.ts';

export type ClientChangeListener = Pick<
  Introspector,
  'dropClient' | 'dropToken' | 'dropAll' | 'trustCacheUntil'
> & {
  rest?: Introspector['rest'];
  /** Called after the drop. */
  onDropped?: ((what: ClientChange | 'all') => void) | undefined;
};

/** What an introspector follows so that its cache may be trusted (docs/design/revocation.md, docs/design/stores.md). */
export function clientChangeChannel(
  listener: ClientChangeListener,
  logger: Pick<Logger, 'warn'>,
): FollowedChannel {
  const onDropAll = () => {
    listener.dropAll();
    listener.onDropped?.('all');
  };

  function pass(message: string): void {
    const parsed = clientChangeSchema.safeParse(parseJson(message));
    if (!parsed.success) {
      logger.warn('a change of a client could not be read; all cached introspections are dropped');
      onDropAll();
      return;
    }
    const change = parsed.data;
    if (change.change === 'token') listener.dropToken(change.token_hash);
    else listener.dropClient(change.client_id, change.revocation_epoch);
    listener.onDropped?.(change);
  }

  return {
    channel: CLIENT_CHANGE_CHANNEL,
    onMessage: pass,
    cache: { onDropAll, trustUntil: listener.trustCacheUntil, rest: listener.rest },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
