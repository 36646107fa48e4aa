import { Problem } from '@tollgate/http/problem';
import type { Query } from '../../platform/database/query.ts';

/** Whether the manager of the account's team forbids that applications act for its members. */
export async function isForbiddenByTeam(
  query: Query,
  accountId: number,
  /** Then, until the transaction ends, the account can't join such a team, and its team can't change the rule. */
  isLocked = false,
): Promise<boolean> {
  if (isLocked) await query('SELECT FROM accounts WHERE account_id = :accountId FOR SHARE', { accountId });
  const rows = await query<{ allows_applications: boolean }>(
    `SELECT allows_applications FROM teams JOIN team_members USING (team_id)
     WHERE account_id = :accountId ${isLocked ? 'FOR SHARE OF teams' : ''}`,
    { accountId },
  );
  return rows[0]?.allows_applications === false;
}

export function forbiddenByTeam(): Problem {
  return new Problem('forbidden', {
    detail: 'Your team doesn’t allow applications to act for its members. Ask its manager.',
  });
}
