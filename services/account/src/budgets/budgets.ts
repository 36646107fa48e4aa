import type { Budget } from '@tollgate/contracts/entitlement';
import { Problem } from '@tollgate/http/problem';
import { isOwned } from '../access/applications/application.ts';
import type { ApplicationKey } from '../access/applications/application.ts';
import { findApplication } from '../access/applications/store.ts';
import { findSpent } from '../billing/budgets/spent.ts';
import type { SpentNow } from '../billing/budgets/spent.ts';
import { findApplicationBudget, findMemberBudget } from '../billing/budgets/store.ts';
import type { ApplicationBudget } from '../billing/budgets/store.ts';
import { HIDDEN_TYPES } from '../platform/database/hidden-types.ts';
import type { Query } from '../platform/database/query.ts';

type WithSpent<Figures> = Figures & { spent: SpentNow };

/** @throws {Problem} not_found */
export async function applicationBudget(
  query: Query,
  key: ApplicationKey,
): Promise<WithSpent<ApplicationBudget & { application_id: number }>> {
  const application = await findApplication(query, key);
  if (!isOwned(application)) throw new Problem('not_found');
  const { application_id, account_id } = application;
  const budget = await findApplicationBudget(query, application_id);
  return { application_id, ...budget, spent: await findSpent(query, { account_id, application_id }) };
}

export async function memberBudget(query: Query, account_id: number): Promise<WithSpent<Budget>> {
  return {
    ...(await findMemberBudget(query, account_id)),
    spent: await findSpent(query, { account_id }),
  };
}

/** A member's applications, newest first, with what the owner and the manager allow them. */
export function findManagedApplications(
  query: Query,
  accountId: number,
): Promise<(ApplicationBudget & { application_id: number; name: string })[]> {
  return query(
    `SELECT application_id, name, points_per_period, points_per_day,
            manager_points_per_period, manager_points_per_day
     FROM applications LEFT JOIN application_budgets USING (application_id)
     WHERE account_id = :accountId AND status <> 'deleted' AND type NOT IN ${HIDDEN_TYPES}
     ORDER BY application_id DESC`,
    { accountId },
  );
}

type ListedBudget = ApplicationBudget & { account_id: number; application_id: number | null; name: string };

/** Those of these accounts as members and of their applications: by account, its own first. */
export function listBudgets(query: Query, accountIds: readonly number[]): Promise<ListedBudget[]> {
  return query<ListedBudget>(
    `SELECT account_id, CAST(NULL AS bigint) AS application_id, name, points_per_period, points_per_day,
            CAST(NULL AS bigint) AS manager_points_per_period, CAST(NULL AS bigint) AS manager_points_per_day
     FROM member_budgets JOIN accounts USING (account_id) WHERE account_id = ANY (CAST(:accountIds AS bigint[]))
     UNION ALL
     SELECT account_id, application_id, name, points_per_period, points_per_day,
            manager_points_per_period, manager_points_per_day
     FROM application_budgets JOIN applications USING (application_id)
     WHERE account_id = ANY (CAST(:accountIds AS bigint[]))
     ORDER BY account_id, application_id NULLS FIRST`,
    { accountIds },
  );
}
