import type { Credit } from '../../billing/credits/credit.ts';
import { isoSeconds } from '../../http/iso-seconds.ts';
import type { WebhookEvent } from '../deliveries/event.ts';

type Told = Pick<
  Credit,
  'credit_id' | 'account_id' | 'points' | 'points_remaining' | 'source' | 'effective_at' | 'expires_at'
>;

/** docs/webhooks.md. Without the note, which an operator wrote for the account only. */
export function grantEvent(
  type: 'credits.granted' | 'credits.expiring',
  timestamp: Date,
  grant: Told,
): WebhookEvent {
  return {
    type,
    timestamp,
    data: {
      account_id: grant.account_id,
      grant: {
        credit_id: grant.credit_id,
        points: grant.points,
        points_remaining: grant.points_remaining,
        source: grant.source,
        effective_at: isoSeconds(grant.effective_at),
        expires_at: grant.expires_at === null ? null : isoSeconds(grant.expires_at),
      },
    },
  };
}

/** `points`: what could be used when the latest grant started. */
export function lowEvent(
  timestamp: Date,
  account_id: number,
  level: { points: number; points_remaining: number },
): WebhookEvent {
  return {
    type: 'credits.low',
    timestamp,
    data: { account_id, points_remaining: level.points_remaining, points: level.points },
  };
}
