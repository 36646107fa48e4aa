import { Problem } from '@tollgate/http/problem';
import { grantCredits } from '../billing/credits/changes.ts';
import type { LockInstant, WantedCredit } from '../billing/credits/changes.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import type { Actor } from '../platform/audit/audit-log.ts';
import type { Query } from '../platform/database/query.ts';

/** No credential of a person is behind what a closing grants. */
const CLOSING_ACTOR: Actor = { actor: 'closing', address: 'none', request_id: 'none' };

/** Whose idempotency keys those grants have. */
const CLOSING_REPORTER = 'closing';

/**
 * Grants what a closing gives. An account that would have more points than a number can state gets nothing, which trying
 * again wouldn't change: the audit log says so, and the account's other steps go on.
 */
export async function grantAtClosing(
  query: Query,
  lockInstant: LockInstant,
  wanted: WantedCredit,
  idempotency_key: string,
): Promise<void> {
  try {
    await grantCredits(
      query,
      lockInstant,
      wanted,
      { reporter: CLOSING_REPORTER, idempotency_key },
      CLOSING_ACTOR,
    );
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'total_too_large') throw error;
    const { account_id, points, source } = wanted;
    const about = { action: 'credits_not_granted', application_id: null, account_id } as const;
    await recordAudit(query, {
      ...CLOSING_ACTOR,
      ...about,
      details: { points, source, key: idempotency_key },
    });
  }
}
