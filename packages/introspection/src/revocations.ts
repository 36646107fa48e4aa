import type { ActiveToken } from '@tollgate/contracts/introspection';
import { REVOCATION_CHANNEL, revocationSchema } from '@tollgate/contracts/revocation';
import type { Revocation } from '@tollgate/contracts/revocation';
import type { Logger } from '@tollgate/log';
import type { FollowedChannel } from '@tollgate/redis/follow-channels';
import type { Introspector } from './introspection.ts';

export type RevocationListener = Pick<
  Introspector,
  'dropClient' | 'dropToken' | 'dropAll' | 'trustCacheUntil'
> & {
  rest?: Introspector['rest'];
  /** Called after the drop. */
  onDropped?: ((what: Revocation | 'all') => void) | undefined;
};

/** Whether a message ends an active token; undefined if only auth knows. */
export function isEnded(
  revocation: Revocation,
  { revocation_epoch: epoch }: ActiveToken,
): boolean | undefined {
  if (revocation.kind === 'token') return true;
  if (revocation.revocation_epoch === undefined || epoch === undefined) return undefined;
  return epoch < revocation.revocation_epoch;
}

/** What an introspector follows so that its cache may be trusted (ADR 0013, ADR 0018). */
export function revocationChannel(
  listener: RevocationListener,
  logger: Pick<Logger, 'warn'>,
): FollowedChannel {
  const onDropAll = () => {
    listener.dropAll();
    listener.onDropped?.('all');
  };

  function pass(message: string): void {
    const parsed = revocationSchema.safeParse(parseJson(message));
    if (!parsed.success) {
      logger.warn('a revocation message could not be read; all cached introspections are dropped');
      onDropAll();
      return;
    }
    const revocation = parsed.data;
    if (revocation.kind === 'client') listener.dropClient(revocation.client_id, revocation.revocation_epoch);
    else listener.dropToken(revocation.token_hash);
    listener.onDropped?.(revocation);
  }

  return {
    channel: REVOCATION_CHANNEL,
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
