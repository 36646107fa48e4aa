import { Problem } from '@tollgate/http/problem';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import { isUniqueViolation } from '../../platform/database/query.ts';
import type { Query } from '../../platform/database/query.ts';
import { NO_PASSWORD } from '../no-password.ts';
import { lockAccount } from './account-store.ts';
import type { Page } from '../../http/input/page.ts';

export type OperatedAccount = {
  account_id: number;
  email: string;
  name: string;
  email_verified_at: Date | null;
  blocked_at: Date | null;
  /** When the account is erased, if its owner is deleting it. */
  deletion_due_at: Date | null;
  erased_at: Date | null;
  created_at: Date;
};

const COLUMNS = `account_id, email, name, email_verified_at, blocked_at, deletion_due_at, erased_at,
  created_at`;

/** @throws {Problem} email_taken */
export async function createAccount(
  query: Query,
  { email, name }: { email: string; name: string },
  by: Actor,
): Promise<OperatedAccount> {
  const account = await insert(query, email, name);
  const { account_id } = account;
  const entry = { ...by, application_id: null, account_id };
  const change = changeOf(['account_id', 'email', 'name'], null, account);
  await recordAudit(query, { ...entry, action: 'account_created', details: { email }, change });
  return account;
}

/** Idempotent. @throws {Problem} not_found */
export async function setAccountBlocked(
  query: Query,
  accountId: number,
  blocked: boolean,
  by: Actor,
): Promise<OperatedAccount> {
  await lockAccount(query, accountId);
  const before = await findOperatedAccount(query, accountId);
  const rows = await query<OperatedAccount>(
    `UPDATE accounts SET blocked_at = CASE WHEN :blocked THEN coalesce(blocked_at, :now) END
     WHERE account_id = :accountId RETURNING ${COLUMNS}`,
    { accountId, blocked, now: await databaseNow(query) },
  );
  const [account] = rows;
  if (before === undefined || account === undefined) throw new Problem('not_found');
  const change = changeOf(['blocked_at'], before, account);
  const entry = { ...by, application_id: null, account_id: accountId, details: {}, change };
  await recordAudit(query, { ...entry, action: blocked ? 'account_blocked' : 'account_unblocked' });
  return account;
}

export async function findOperatedAccount(
  query: Query,
  accountId: number,
): Promise<OperatedAccount | undefined> {
  const rows = await query<OperatedAccount>(`SELECT ${COLUMNS} FROM accounts WHERE account_id = :accountId`, {
    accountId,
  });
  return rows[0];
}

export function listAccounts(
  query: Query,
  {
    email,
    blocked,
    deleting,
  }: { email?: string | undefined; blocked?: boolean | undefined; deleting?: boolean | undefined },
  { limit, before }: Page,
): Promise<OperatedAccount[]> {
  const wanted = [
    ...(email === undefined ? [] : ['lower(email) = lower(:email)']),
    ...(blocked === undefined ? [] : [`blocked_at IS ${blocked ? 'NOT ' : ''}NULL`]),
    ...(deleting === undefined ? [] : [`deletion_due_at IS ${deleting ? 'NOT ' : ''}NULL`]),
  ];
  return query<OperatedAccount>(
    `SELECT ${COLUMNS} FROM accounts WHERE ${['account_id < :before', ...wanted].join(' AND ')}
     ORDER BY account_id DESC LIMIT :limit`,
    { email: email ?? null, limit, before },
  );
}

/**
 * Accounts whose address begins so, in either case, in the order of addresses: that of their index, so that a beginning
 * that thousands share is found as soon as any. Where the database doesn't sort by code points, unlike that of
 * `npm start`, it reads the index from its beginning.
 */
export function findByEmailBeginning(
  query: Query,
  beginning: string,
  limit: number,
): Promise<Pick<OperatedAccount, 'account_id' | 'email'>[]> {
  return query(
    `SELECT account_id, email FROM accounts WHERE starts_with(lower(email), lower(:beginning))
     ORDER BY lower(email) LIMIT :limit`,
    { beginning, limit },
  );
}

async function insert(query: Query, email: string, name: string): Promise<OperatedAccount> {
  try {
    return singleRow(
      await query<OperatedAccount>(
        `INSERT INTO accounts (email, name, password_hash) VALUES (:email, :name, :none) RETURNING ${COLUMNS}`,
        { email, name, none: NO_PASSWORD },
      ),
    );
  } catch (error) {
    if (isUniqueViolation(error)) throw new Problem('email_taken', { cause: error });
    throw error;
  }
}
