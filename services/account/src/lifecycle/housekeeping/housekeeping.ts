import type { Logger } from '@tollgate/log';
import { startRounds } from '@tollgate/server/background-loop';
import type { BackgroundLoop } from '@tollgate/server/background-loop';
import { sweepRegistrations } from '../../access/registrations/sweep.ts';
import type { Query } from '../../platform/database/query.ts';

export type HousekeepingOptions = {
  query: Query;
  intervalSec: number;
  sessionIdleTimeoutSec: number;
  retentionMonths: number;
  deliveryRetentionSec: number;
  refusedCallsRetentionDays: number;
  logger: Pick<Logger, 'warn'>;
};

/** Rows per statement, which limits how long locks are held. */
const BATCH = 1_000;

/** The start of the first month of hourly usage that is kept. */
const USAGE_IS_OVER = `(date_trunc('month', now() AT TIME ZONE 'UTC')
  - CAST(:retentionMonths AS integer) * interval '1 month') AT TIME ZONE 'UTC'`;

const REFUSED_CALLS_ARE_KEPT = "CAST(:refusedCallsRetentionDays AS integer) * interval '1 day'";

const EXPIRED: Readonly<Record<string, string>> = {
  sessions:
    "expires_at <= now() OR last_seen_at <= now() - CAST(:idleTimeoutSec AS integer) * interval '1 second'",
  email_tokens: 'expires_at <= now()',
  pending_sign_ins: 'expires_at <= now()',
  passkey_challenges: 'expires_at <= now()',
  // One that is idle is refused before; its end is at most a day away.
  operator_sessions: 'expires_at <= now()',
  // Its trigger records the end.
  operator_views: 'expires_at <= now()',
  pending_acts: 'expires_at <= now()',
  operator_challenges: 'expires_at <= now()',
  operator_links: 'expires_at <= now()',
  operator_oidc_sign_ins: 'expires_at <= now()',
  operator_logout_tokens: 'expires_at <= now()',
  team_sso_sign_ins: 'expires_at <= now()',
  // No process has a sink any more; then nothing is kept for it.
  audit_stream: "seen_at <= now() - interval '1 day'",
  audit_stream_outbox: 'NOT EXISTS (SELECT FROM audit_stream)',
  totp_secrets: "confirmed_at IS NULL AND created_at <= now() - interval '1 day'",
  // The manager sees for a while that it was not answered.
  team_invitations: "expires_at <= now() - interval '14 days'",
  scim_tokens: 'expires_at <= now()',
  // The person has been invited by then, or the directory still asks.
  scim_refusals: "refused_at <= now() - interval '30 days'",
  attempt_counts: 'window_ends_at <= now()',
  application_secrets: 'expires_at <= now()',
  // Long enough for a question to support.
  sent_mails: "ended_at <= now() - interval '30 days'",
  // Temporary tokens are listed nowhere; manual ones are kept as long as usage.
  authorization_requests: 'expires_at <= now()',
  // A used one that comes again ends what it became; a day is more than enough to try.
  authorization_codes: "expires_at <= now() - interval '1 day'",
  refresh_tokens: "expires_at <= now() - interval '1 day'",
  access_tokens: `expires_at <= now() - interval '1 day' AND (expires_at < ${USAGE_IS_OVER} OR application_id IN (
    SELECT application_id FROM applications WHERE type = 'temporary'))`,
  // A day late, as clocks differ and auth and Redis decide when a token ends.
  revoked_tokens: "expires_at <= now() - interval '1 day'",
  usage_operations: `day < CAST(${USAGE_IS_OVER} AT TIME ZONE 'UTC' AS date)`,
  usage_unassigned: `recorded_at < ${USAGE_IS_OVER}`,
  usage_gaps: `seen_at < ${USAGE_IS_OVER}`,
  // A day late: a report from before the end of the month may still need its keys.
  usage_reports: `occurred_at < ${USAGE_IS_OVER} - interval '1 day'`,
  // Later than the longest billing period, in which each may come once.
  budget_alerts: "created_at <= now() - interval '400 days'",
  webhook_secrets: 'expires_at <= now()',
  webhook_deliveries:
    "status <> 'pending' AND created_at <= now() - CAST(:deliveryRetentionSec AS integer) * interval '1 second'",
  // Nothing takes them while payments are off; every account is looked at each hour anyway.
  top_up_checks: "created_at <= now() - interval '1 hour'",
  // The bodies hold customers' addresses. One that comes again later is read at the provider again, and changes nothing.
  payment_events: "handled_at <= now() - interval '30 days'",
  refused_calls: `recorded_at <= now() - ${REFUSED_CALLS_ARE_KEPT}`,
  refused_call_counts: `hour <= now() - ${REFUSED_CALLS_ARE_KEPT}`,
  refused_call_gateways: "seen_at <= now() - interval '14 days'",
  refused_call_days: `day < CAST((now() - ${REFUSED_CALLS_ARE_KEPT}) AT TIME ZONE 'UTC' AS date)`,
  // A day late: usage of a document that is known already comes without it. Last, as it looks at all of them.
  operation_documents: `added_at <= now() - interval '1 day' AND NOT EXISTS (
    SELECT FROM usage_operations WHERE usage_operations.hash = operation_documents.hash)`,
};

/** Removes expired rows at intervals. Every replica may run it: each skips rows that another is removing. */
export function startHousekeeping(options: HousekeepingOptions): Pick<BackgroundLoop, 'close'> {
  const { query, intervalSec, logger, sessionIdleTimeoutSec: idleTimeoutSec } = options;
  const { retentionMonths, deliveryRetentionSec, refusedCallsRetentionDays } = options;

  async function removeExpired(table: string, condition: string, signal: AbortSignal): Promise<void> {
    for (let removed = BATCH; removed === BATCH && !signal.aborted;) {
      const rows = await query(
        `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${String(BATCH)} FOR UPDATE SKIP LOCKED))
         RETURNING 1`,
        { idleTimeoutSec, retentionMonths, deliveryRetentionSec, refusedCallsRetentionDays },
      );
      removed = rows.length;
    }
  }

  return startRounds(intervalSec * 1_000, async (signal) => {
    try {
      for (const [table, condition] of Object.entries(EXPIRED)) {
        await removeExpired(table, condition, signal);
      }
      await sweepRegistrations(query);
    } catch (error) {
      logger.warn({ err: error }, 'expired rows could not be removed; retrying at the next interval');
    }
  });
}
