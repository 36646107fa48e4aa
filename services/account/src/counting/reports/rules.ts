import type { ReportedEvent } from './input.ts';
import type { Attribution } from './store.ts';

/** Why an event isn't counted, and what its reporter can do, in Markdown (docs/errors.md). */
export const REFUSALS = {
  idempotency_conflict: {
    meaning: 'The key was used for an event with other content.',
    fix: 'Use a key of its own for each event.',
  },
  unknown_account: { meaning: "The account doesn't exist." },
  unknown_application: {
    meaning: 'The account has no such application.',
    fix: "Omit `application_id` if you don't know it.",
  },
  no_billing_period: {
    meaning: 'The payer had no period or grace window at that time.',
    fix: 'Keep the event and send it again later.',
  },
  occurred_in_future: { meaning: 'More than five minutes ahead.', fix: 'Correct the clock.' },
  occurred_too_long_ago: {
    meaning: 'Older than the hourly usage that is kept (`USAGE_RETENTION_MONTHS`).',
  },
  total_too_large: {
    meaning: 'A total of the period would exceed 2^53 - 1 (9007199254740991).',
    fix: 'Report to another period, or contact support.',
  },
} as const;

export type RefusalCode = keyof typeof REFUSALS;

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
