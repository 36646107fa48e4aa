import type { LimitedApplication } from '@tollgate/contracts/entitlement';
import type { Query } from '../../platform/database/query.ts';

/** The account's applications that only run their trusted documents. */
export function findLimitedApplications(query: Query, accountId: number): Promise<LimitedApplication[]> {
  return query<LimitedApplication>(
    `SELECT application_id, revision AS documents_revision
     FROM document_trust JOIN applications USING (application_id)
     WHERE account_id = :accountId AND is_enforced ORDER BY application_id`,
    { accountId },
  );
}
