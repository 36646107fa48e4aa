import type { AlertLimit } from '../../../notifications/alerts/rules.ts';
import { singleRow } from '../../../platform/database/single-row.ts';
import type { Query } from '../../../platform/database/query.ts';
import { isoSeconds } from '../../../http/iso-seconds.ts';

export type Payer = { name: string; email: string };

export type CrossedThreshold = { limit: AlertLimit; share_percent: number; crossed_at: string };

/** Who pays for a member of a team; members see the manager in the team's list, too. */
export async function findPayer(query: Query, payerId: number): Promise<Payer> {
  return singleRow(
    await query<Payer>('SELECT name, email FROM accounts WHERE account_id = :payerId', { payerId }),
  );
}

/** The alert thresholds that a period's usage has crossed, latest first. */
export async function findCrossedThresholds(query: Query, periodId: number): Promise<CrossedThreshold[]> {
  const rows = await query<{ limit_name: AlertLimit; share: number; created_at: Date }>(
    `SELECT limit_name, share, created_at FROM usage_alerts WHERE period_id = :periodId
     ORDER BY created_at DESC, alert_id DESC`,
    { periodId },
  );
  return rows.map(({ limit_name, share, created_at }) => ({
    limit: limit_name,
    share_percent: share,
    crossed_at: isoSeconds(created_at),
  }));
}

/** Members and pending invitations of the team that an account manages; 1 without a team. */
export async function findSlotsUsed(query: Query, managerId: number): Promise<number> {
  const rows = await query<{ used: number }>(
    `SELECT greatest(1,
       (SELECT count(*) FROM team_members WHERE team_id = manager.team_id)
       + (SELECT count(*) FROM team_invitations WHERE team_id = manager.team_id AND expires_at > now())) AS used
     FROM (SELECT 1) AS one
     LEFT JOIN team_members AS manager ON manager.account_id = :managerId AND manager.role = 'manager'`,
    { managerId },
  );
  return singleRow(rows).used;
}
