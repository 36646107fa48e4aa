import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import type { Principal } from './principal.ts';
import type { LiveUsage } from './record-script.ts';

/** Usage before it is queued, which gives it its time. */
export type UntimedUsage = Omit<UsageEvent, 'at_ms'>;

export function usageEvent(
  { token, payer }: Principal,
  used: LiveUsage,
  apiVersion: UsageEvent['api_version'] = 'v2',
): UntimedUsage {
  return {
    payer_id: payer.payerId,
    period_id: payer.periodId,
    account_id: token.account_id,
    application_id: token.application_id,
    api_version: apiVersion,
    ...used,
  };
}
