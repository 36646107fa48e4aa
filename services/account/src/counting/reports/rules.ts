import type { ReportedEvent } from './input.ts';
import type { Attribution } from './store.ts';

export type RefusalCode =
  | 'occurred_in_future'
  | 'occurred_too_long_ago'
  | 'unknown_account'
  | 'unknown_application'
  | 'no_billing_period'
  | 'total_too_large'
  | 'idempotency_conflict';

/** How far another system's clock may be ahead of Postgres'. */
const MAX_AHEAD_MS = 300_000;

export function timeRefusal(
  { occurred_at }: Pick<ReportedEvent, 'occurred_at'>,
  { now, keptFrom }: { now: Date; keptFrom: Date },
): 'occurred_in_future' | 'occurred_too_long_ago' | null {
  if (+occurred_at > +now + MAX_AHEAD_MS) return 'occurred_in_future';
  return occurred_at < keptFrom ? 'occurred_too_long_ago' : null;
}

export function attributionRefusal({
  account_known,
  application_known,
  period_id,
}: Attribution): 'unknown_account' | 'unknown_application' | 'no_billing_period' | null {
  if (!account_known) return 'unknown_account';
  if (!application_known) return 'unknown_application';
  return period_id === null ? 'no_billing_period' : null;
}
