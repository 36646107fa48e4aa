import type { HealthReport } from '@tollgate/contracts/health-report';
import { findLastRun, findRestore, findWaiting } from '../../payments/reconcile/store.ts';
import type { Query } from '../../platform/database/query.ts';

/** Handled events are kept for 30 days. */
export async function reportPayments(
  query: Query,
  stripeKey: string,
): Promise<NonNullable<HealthReport['payments']>> {
  const [last, waiting] = [await findLastRun(query), await findWaiting(query)];
  const { started_at, differences, foreign_events } = last;
  return {
    is_live: stripeKey.includes('_live_'),
    foreign_events,
    oldest_event_sec: waiting.oldest_event_sec,
    open_issues: waiting.open_issues,
    reconciled_at: started_at?.toISOString() ?? null,
    differences,
    restored_at: (await findRestore(query))?.toISOString() ?? null,
  };
}
