import { isoSeconds } from '../../http/iso-seconds.ts';
import type { WebhookEvent } from '../deliveries/event.ts';
import type { Alert, CheckedPeriod } from './alert.ts';

/** docs/webhooks.md. */
export function alertEvent(period: CheckedPeriod, alert: Alert): WebhookEvent {
  return {
    type: 'usage.alert',
    timestamp: alert.created_at,
    data: {
      alert_id: alert.alert_id,
      account_id: period.account_id,
      billing_period: {
        period_id: period.period_id,
        plan_name: period.plan_name,
        started_at: isoSeconds(period.started_at),
        ended_at: isoSeconds(period.ended_at),
      },
      limit: alert.limit_name,
      limit_value: alert.limit_value,
      used: alert.used,
      share_percent: alert.share,
    },
  };
}
