import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';

const MANAGER_ALLOWS = `NOT EXISTS (
  SELECT FROM team_members AS membership JOIN team_members AS manager USING (team_id)
  JOIN accounts AS managing ON managing.account_id = manager.account_id
  WHERE membership.account_id = accounts.account_id AND membership.role = 'member' AND manager.role = 'manager'
    AND NOT managing.allows_operator_views)`;

/**
 * Whether operators may view as the account of a row of `accounts`: its owner and the manager of their team decide, and
 * one of them is enough to forbid it.
 */
export const ALLOWS_OPERATOR_VIEWS = `(accounts.allows_operator_views AND ${MANAGER_ALLOWS})`;

export type ViewSetting = { is_allowed: boolean; is_allowed_by_manager: boolean };

export async function findViewSetting(query: Query, accountId: number): Promise<ViewSetting> {
  return singleRow(
    await query<ViewSetting>(
      `SELECT allows_operator_views AS is_allowed, ${MANAGER_ALLOWS} AS is_allowed_by_manager
     FROM accounts WHERE account_id = :accountId`,
      { accountId },
    ),
  );
}

/** False if it is so already. */
export async function setViewsAllowed(query: Query, accountId: number, isAllowed: boolean): Promise<boolean> {
  const rows = await query(
    `UPDATE accounts SET allows_operator_views = :isAllowed
     WHERE account_id = :accountId AND allows_operator_views <> :isAllowed RETURNING 1`,
    { accountId, isAllowed },
  );
  return rows.length > 0;
}
