import type { Account } from '../../identity/accounts/account.ts';
import { ALLOWS_OPERATOR_VIEWS } from '../../identity/operator-views/store.ts';
import { hashOfToken } from '../../identity/secret-token.ts';
import { memberOf } from '../../identity/sessions/session-store.ts';
import type { MemberOf } from '../../identity/sessions/session-store.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';

/** How long a view lasts. It isn't renewed by use. */
const LIFETIME_SEC = 900;

const ACCOUNT = `accounts.account_id, accounts.email, accounts.name, password_hash, email_verified_at, blocked_at,
  deletion_due_at`;

/** Accounts that are being deleted, were erased, or have an operator's address. */
const IS_FOR_ADMINS = `(deletion_due_at IS NOT NULL OR erased_at IS NOT NULL OR EXISTS (
  SELECT FROM operators AS operating WHERE lower(operating.email) = lower(accounts.email)))`;

export type Viewable = Account & { is_allowed: boolean; is_for_admins: boolean };

export async function findViewable(query: Query, accountId: number): Promise<Viewable | undefined> {
  const rows = await query<Viewable>(
    `SELECT ${ACCOUNT}, ${ALLOWS_OPERATOR_VIEWS} AS is_allowed, ${IS_FOR_ADMINS} AS is_for_admins
     FROM accounts WHERE account_id = :accountId`,
    { accountId },
  );
  return rows[0];
}

export type BegunView = { view_id: number; began_at: Date; expires_at: Date };

/** Ends the one before: an operator has one view of a customer at a time. `inside` is a transaction's. */
export async function beginView(
  inside: Query,
  begun: { operator_id: number; session_id: number; account_id: number; token: string; is_override: boolean },
  { address, request_id, person }: Actor,
): Promise<BegunView> {
  const { operator_id, session_id, account_id, token, is_override } = begun;
  // Of two at once, the second ends what the first has begun.
  await inside('SELECT pg_advisory_xact_lock(hashtextextended(:view, 0))', {
    view: `operator view ${String(operator_id)} ${String(account_id)}`,
  });
  await inside('DELETE FROM operator_views WHERE operator_id = :operator_id AND account_id = :account_id', {
    operator_id,
    account_id,
  });
  return singleRow(
    await inside<BegunView>(
      `INSERT INTO operator_views (token_hash, operator_id, session_id, account_id, is_override, person, address,
         request_id, expires_at)
       VALUES (:tokenHash, :operator_id, :session_id, :account_id, :is_override, :person, :address, :request_id,
         now() + ${String(LIFETIME_SEC)} * interval '1 second')
       RETURNING view_id, began_at, expires_at`,
      {
        tokenHash: hashOfToken(token),
        operator_id,
        session_id,
        account_id,
        is_override,
        person: JSON.stringify(person),
        address,
        request_id,
      },
    ),
  );
}

export type View = BegunView & { account: Account; member_of: MemberOf | null; is_for_admins: boolean };

/** Read at each request, so that a view ends everywhere at once. It belongs to the session that began it. */
export async function findView(
  query: Query,
  { token, session_id }: { token: string; session_id: number },
): Promise<View | undefined> {
  const rows = await query<Omit<View, 'account'> & Account>(
    `SELECT view_id, began_at, expires_at, ${ACCOUNT}, ${IS_FOR_ADMINS} AS is_for_admins,
       ${memberOf('accounts.account_id')}
     FROM operator_views JOIN accounts USING (account_id)
     WHERE token_hash = :tokenHash AND session_id = :session_id AND expires_at > now()
       AND (is_override OR ${ALLOWS_OPERATOR_VIEWS})`,
    { tokenHash: hashOfToken(token), session_id },
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const { view_id, began_at, expires_at, member_of, is_for_admins, ...account } = row;
  return { view_id, began_at, expires_at, member_of, is_for_admins, account };
}

export async function endView(query: Query, viewId: number): Promise<void> {
  await query('DELETE FROM operator_views WHERE view_id = :viewId', { viewId });
}
