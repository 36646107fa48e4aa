import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import type { CountedOperation } from '../operation-reader/counted-operation.ts';
import type { Principal } from './principal.ts';
import type { LiveUsage } from './record-script.ts';

/** The operation that usage is of, and what else is counted of it. */
export type OperationUse = {
  counted: CountedOperation;
  isError: boolean;
  /** From the head of the call to the end of its response; null for a subscription, or a part of one. */
  durationMs: number | null;
  /** Of a request whose price the upstream has stated, to compare them; else null. */
  estimatedPoints: number | null;
};

/** Usage before it is queued, which gives it its time. */
export type UntimedUsage = Omit<UsageEvent, 'at_ms' | 'operations'> & { operation: OperationUse | null };

export type TimedUsage = UntimedUsage & Pick<UsageEvent, 'at_ms'>;

export function usageEvent(
  { token, payer }: Principal,
  used: LiveUsage,
  operation: OperationUse | null,
  apiVersion: UsageEvent['api_version'] = 'v2',
): UntimedUsage {
  return {
    payer_id: payer.payerId,
    period_id: payer.periodId,
    account_id: token.account_id,
    application_id: token.application_id,
    api_version: apiVersion,
    ...used,
    operation,
  };
}
