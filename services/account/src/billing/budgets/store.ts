import type { Budget } from '@tollgate/contracts/entitlement';
import type { Query } from '../../platform/database/query.ts';

/** The owner's figures, and those of the manager of the owner's team. */
export type ApplicationBudget = Budget & {
  manager_points_per_period: number | null;
  manager_points_per_day: number | null;
};

const NONE: Budget = { points_per_period: null, points_per_day: null };

const NO_APPLICATION_BUDGET: ApplicationBudget = {
  ...NONE,
  manager_points_per_period: null,
  manager_points_per_day: null,
};

const APPLICATION_COLUMNS =
  'points_per_period, points_per_day, manager_points_per_period, manager_points_per_day';

/** SQL: of a row of `applications`, its budget as an object, null without one. */
export const APPLICATION_BUDGET = `(
  SELECT json_build_object('points_per_period', points_per_period, 'points_per_day', points_per_day,
    'manager_points_per_period', manager_points_per_period, 'manager_points_per_day', manager_points_per_day)
  FROM application_budgets WHERE application_budgets.application_id = applications.application_id)`;

export async function findApplicationBudget(query: Query, applicationId: number): Promise<ApplicationBudget> {
  const rows = await query<ApplicationBudget>(
    `SELECT ${APPLICATION_COLUMNS} FROM application_budgets WHERE application_id = :applicationId`,
    { applicationId },
  );
  return rows[0] ?? NO_APPLICATION_BUDGET;
}

/** Of an account's applications that have one. */
export function listApplicationBudgets(
  query: Query,
  accountId: number,
): Promise<(ApplicationBudget & { application_id: number })[]> {
  return query(
    `SELECT application_id, ${APPLICATION_COLUMNS}
     FROM application_budgets JOIN applications USING (application_id)
     WHERE account_id = :accountId ORDER BY application_id`,
    { accountId },
  );
}

/** Whose figures: the owner's, or those of the manager of the owner's team. */
export type Setter = 'owner' | 'manager';

const PREFIX: Readonly<Record<Setter, string>> = { owner: '', manager: 'manager_' };

/** The application is locked. */
export async function setApplicationBudget(
  query: Query,
  application_id: number,
  setter: Setter,
  budget: Budget,
): Promise<void> {
  const own = PREFIX[setter];
  const others = PREFIX[setter === 'owner' ? 'manager' : 'owner'];
  if (isNone(budget)) {
    // The statements below then see what the end of a membership has left.
    await query('SELECT 1 FROM application_budgets WHERE application_id = :application_id FOR UPDATE', {
      application_id,
    });
    await query(
      `DELETE FROM application_budgets
       WHERE application_id = :application_id AND num_nonnulls(${others}points_per_period, ${others}points_per_day) = 0`,
      { application_id },
    );
    await query(
      `UPDATE application_budgets
       SET ${own}points_per_period = NULL, ${own}points_per_day = NULL, updated_at = now()
       WHERE application_id = :application_id`,
      { application_id },
    );
    return;
  }
  await query(
    `INSERT INTO application_budgets (application_id, ${own}points_per_period, ${own}points_per_day)
     VALUES (:application_id, :points_per_period, :points_per_day)
     ON CONFLICT (application_id) DO UPDATE SET ${own}points_per_period = excluded.${own}points_per_period,
       ${own}points_per_day = excluded.${own}points_per_day, updated_at = now()`,
    { application_id, ...budget },
  );
}

export async function findMemberBudget(query: Query, accountId: number): Promise<Budget> {
  return (await findMemberBudgets(query, [accountId])).get(accountId) ?? NONE;
}

/** Of those that have one. */
export async function findMemberBudgets(
  query: Query,
  accountIds: readonly number[],
): Promise<ReadonlyMap<number, Budget>> {
  const rows = await query<Budget & { account_id: number }>(
    `SELECT account_id, points_per_period, points_per_day FROM member_budgets
     WHERE account_id = ANY (CAST(:accountIds AS bigint[]))`,
    { accountIds },
  );
  return new Map(rows.map(({ account_id, ...budget }) => [account_id, budget]));
}

/** The member's team is locked. */
export async function setMemberBudget(query: Query, account_id: number, budget: Budget): Promise<void> {
  if (isNone(budget)) {
    await query('DELETE FROM member_budgets WHERE account_id = :account_id', { account_id });
    return;
  }
  await query(
    `INSERT INTO member_budgets (account_id, points_per_period, points_per_day)
     VALUES (:account_id, :points_per_period, :points_per_day)
     ON CONFLICT (account_id) DO UPDATE SET points_per_period = excluded.points_per_period,
       points_per_day = excluded.points_per_day, updated_at = now()`,
    { account_id, ...budget },
  );
}

function isNone({ points_per_period, points_per_day }: Budget): boolean {
  return points_per_period === null && points_per_day === null;
}
