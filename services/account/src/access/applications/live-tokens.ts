import { singleRow } from '../../platform/database/single-row.ts';
import type { Query } from '../../platform/database/query.ts';

/** A manual token lives under its application's state: the same rule as tokenStatus (tokens/rules.ts). */
export const LIVE = `applications.status = 'active' AND revoked_at IS NULL
  AND access_tokens.expires_at > :now
  AND access_tokens.revocation_epoch >= applications.revocation_epoch`;

/** Exact while the application is locked. */
export async function countLive(query: Query, applicationId: number, now: Date): Promise<number> {
  const rows = await query<{ live: number }>(
    `SELECT count(*) AS live FROM access_tokens JOIN applications USING (application_id)
     WHERE application_id = :applicationId AND ${LIVE}`,
    { applicationId, now },
  );
  return singleRow(rows).live;
}
