import type { HealthReport } from '../health-report.ts';
import { orOk, problem, warning } from './finding.ts';
import type { Finding } from './finding.ts';

/** A run is hourly; some may fail. */
const MAX_RECONCILIATION_AGE_SEC = 3 * 3_600;
const MAX_EVENT_AGE_SEC = 900;

/** What payments need of an operator (docs/design/payments.md). */
export function checkPayments(report: HealthReport): readonly Finding[] {
  const { payments, public_url, reported_at } = report;
  const check = 'payments';
  if (payments === null || payments === undefined)
    return checkUnattended(report.unattended_subscriptions ?? []);
  const { is_live, foreign_events, oldest_event_sec, open_issues, reconciled_at, differences } = payments;
  const isRestored = typeof payments.restored_at === 'string';
  const ageSec = reconciled_at === null ? 0 : (Date.parse(reported_at) - Date.parse(reconciled_at)) / 1_000;
  const found = (isFound: boolean, finding: Finding) => (isFound ? [finding] : []);
  return orOk(
    check,
    [
      ...found(
        is_live && !public_url.startsWith('https://'),
        problem(
          check,
          `The Stripe key is live, but PUBLIC_URL is ${public_url}, which is for demonstrations.`,
          'Use a test key (sk_test_…), or correct PUBLIC_URL.',
        ),
      ),
      ...found(
        isRestored,
        problem(
          check,
          'Postgres was restored: no period is closed and nothing is charged until payments are compared with Stripe.',
          'Run tollgate payments reconcile --since <time of the backup>.',
        ),
      ),
      ...found(
        foreign_events > 0,
        warning(
          check,
          `${String(foreign_events)} event(s) of another Stripe mode or account in the last 30 days were ignored.`,
          'Remove the webhook endpoint of the other mode or account at Stripe.',
        ),
      ),
      ...found(
        oldest_event_sec > MAX_EVENT_AGE_SEC,
        problem(
          check,
          `The oldest event from Stripe has waited for ${String(Math.round(oldest_event_sec))} s.`,
          "See account's log for why it can't be handled.",
        ),
      ),
      ...found(
        ageSec > MAX_RECONCILIATION_AGE_SEC,
        problem(
          check,
          `Payments were last compared with Stripe ${String(Math.round(ageSec / 3_600))} hours ago.`,
          "See account's log, or run tollgate payments reconcile.",
        ),
      ),
      ...found(
        reconciled_at === null,
        warning(
          check,
          'Payments have not been compared with Stripe yet.',
          "If this stays for more than some minutes, see account's log, or run tollgate payments reconcile.",
        ),
      ),
      ...found(
        differences > 0,
        warning(
          check,
          `${String(differences)} payment(s) differed from Stripe at the last comparison, and were corrected.`,
          'Check at Stripe that events arrive at PUBLIC_URL/payments/stripe/events.',
        ),
      ),
      ...found(
        open_issues > 0,
        warning(check, `${String(open_issues)} payment issue(s) are open.`, 'Run tollgate payments issues.'),
      ),
    ],
    'Payments and invoices agree with Stripe.',
  );
}

/** With PAYMENTS=none, Stripe hears of no cancellation. */
function checkUnattended(subscriptions: readonly string[]): readonly Finding[] {
  if (subscriptions.length === 0) return [];
  return [
    problem(
      'payments',
      `PAYMENTS is none, but Stripe may go on charging ${subscriptions.join(', ')}.`,
      'Cancel these subscriptions at Stripe, or set PAYMENTS=stripe again.',
    ),
  ];
}
