import type { Query } from '../../platform/database/query.ts';

/** The account gets the sign-up plan, once: the primary key decides. `query` is the sign-up's transaction. */
export async function recordSignUp(query: Query, accountId: number): Promise<void> {
  await query('INSERT INTO sign_up_plans (account_id) VALUES (:accountId) ON CONFLICT DO NOTHING', {
    accountId,
  });
}

/** Whether an account waits for its plan. */
export const SIGN_UPS_PENDING = `EXISTS (
  SELECT FROM sign_up_plans WHERE settled_at IS NULL AND next_attempt_at <= clock_timestamp())`;

/** Locks an account that waits for its plan and that no other replica has taken; any, unless one is named. */
export async function takePending(query: Query, accountId: number | null): Promise<number | undefined> {
  const rows = await query<{ account_id: number }>(
    `SELECT account_id FROM sign_up_plans
     WHERE settled_at IS NULL AND next_attempt_at <= clock_timestamp()
       AND account_id = coalesce(:accountId, account_id)
     ORDER BY next_attempt_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
    { accountId },
  );
  return rows[0]?.account_id;
}

export async function storeSettled(query: Query, accountId: number, periodId: number | null): Promise<void> {
  await query(
    'UPDATE sign_up_plans SET settled_at = now(), period_id = :periodId WHERE account_id = :accountId',
    { accountId, periodId },
  );
}

export async function putOff(query: Query, accountId: number, sec: number): Promise<void> {
  await query(
    `UPDATE sign_up_plans SET next_attempt_at = clock_timestamp() + CAST(:sec AS integer) * interval '1 second'
     WHERE account_id = :accountId AND settled_at IS NULL`,
    { accountId, sec },
  );
}

type OfferedPlan = { plan_id: number; name: string; description: Readonly<Record<string, unknown>> };

/** By id if `plan` is one, else by name. Archived plans can't be started. */
export async function findOfferedPlan(query: Query, plan: string): Promise<OfferedPlan | undefined> {
  const isId = /^[1-9]\d{0,14}$/.test(plan);
  const rows = await query<OfferedPlan>(
    `SELECT plan_id, name, description FROM plans
     WHERE ${isId ? 'plan_id = CAST(:plan AS bigint)' : 'name = :plan'} AND archived_at IS NULL`,
    { plan },
  );
  return rows[0];
}

/** Whether the account has had a period, or a team pays for it. */
export async function needsNoPlan(query: Query, accountId: number): Promise<boolean> {
  const rows = await query(
    `SELECT 1 FROM billing_periods WHERE account_id = :accountId
     UNION ALL SELECT 1 FROM subscriptions WHERE account_id = :accountId
     UNION ALL SELECT 1 FROM team_members WHERE account_id = :accountId AND role = 'member' LIMIT 1`,
    { accountId },
  );
  return rows.length > 0;
}

export async function isInvited(query: Query, accountId: number): Promise<boolean> {
  const rows = await query(
    `SELECT 1 FROM team_invitations JOIN accounts ON lower(accounts.email) = lower(team_invitations.email)
     WHERE accounts.account_id = :accountId AND expires_at > now() LIMIT 1`,
    { accountId },
  );
  return rows.length > 0;
}
