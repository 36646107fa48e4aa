import { Problem } from '@tollgate/http/problem';
import type { Query } from '../../platform/database/query.ts';
import type { Account } from './account.ts';

const COLUMNS = 'account_id, email, name, password_hash, email_verified_at, blocked_at, deletion_due_at';

export async function findAccountByEmail(query: Query, email: string): Promise<Account | undefined> {
  const rows = await query<Account>(`SELECT ${COLUMNS} FROM accounts WHERE lower(email) = lower(:email)`, {
    email,
  });
  return rows[0];
}

export async function findAccount(query: Query, accountId: number): Promise<Account | undefined> {
  const rows = await query<Account>(`SELECT ${COLUMNS} FROM accounts WHERE account_id = :accountId`, {
    accountId,
  });
  return rows[0];
}

/** @throws {Problem} not_found */
export async function requireAccount(query: Query, accountId: number): Promise<void> {
  if ((await findAccount(query, accountId)) === undefined) throw new Problem('not_found');
}

/** Where mails to the owner go; undefined while the address isn't verified. */
export async function findVerifiedEmail(query: Query, accountId: number): Promise<string | undefined> {
  const rows = await query<{ email: string }>(
    'SELECT email FROM accounts WHERE account_id = :accountId AND email_verified_at IS NOT NULL',
    { accountId },
  );
  return rows[0]?.email;
}

/** It stays erased. False if there is no such account. */
export async function isErased(query: Query, accountId: number): Promise<boolean> {
  const rows = await query('SELECT 1 FROM accounts WHERE account_id = :accountId AND erased_at IS NOT NULL', {
    accountId,
  });
  return rows.length > 0;
}

/** To the second, as Stripe's times are. */
export async function wasErasedBefore(query: Query, accountId: number, at: Date): Promise<boolean> {
  const rows = await query(
    "SELECT 1 FROM accounts WHERE account_id = :accountId AND date_trunc('second', erased_at) <= :at",
    { accountId, at },
  );
  return rows.length > 0;
}

/** Locked until the transaction ends, to serialize sign-ins and changes of one account. */
export async function lockAccount(query: Query, accountId: number): Promise<Account | undefined> {
  const rows = await query<Account>(
    `SELECT ${COLUMNS} FROM accounts WHERE account_id = :accountId FOR NO KEY UPDATE`,
    { accountId },
  );
  return rows[0];
}

/** Creates a verified account; undefined if the address has one. */
export async function insertAccount(
  query: Query,
  made: Pick<Account, 'email' | 'name' | 'password_hash'>,
): Promise<number | undefined> {
  const rows = await query<{ account_id: number }>(
    `INSERT INTO accounts (email, name, password_hash, email_verified_at)
     VALUES (:email, :name, :password_hash, now())
     ON CONFLICT (lower(email)) DO NOTHING RETURNING account_id`,
    made,
  );
  return rows[0]?.account_id;
}

export async function setPasswordHash(query: Query, accountId: number, passwordHash: string): Promise<void> {
  await query('UPDATE accounts SET password_hash = :passwordHash WHERE account_id = :accountId', {
    accountId,
    passwordHash,
  });
}

export async function setName(query: Query, accountId: number, name: string): Promise<void> {
  await query('UPDATE accounts SET name = :name WHERE account_id = :accountId', { accountId, name });
}

export async function setEmailVerified(query: Query, accountId: number): Promise<void> {
  await query('UPDATE accounts SET email_verified_at = now() WHERE account_id = :accountId', { accountId });
}

/** @throws by the unique index, if another account has the address */
export async function setEmail(query: Query, accountId: number, email: string): Promise<void> {
  await query('UPDATE accounts SET email = :email, email_verified_at = now() WHERE account_id = :accountId', {
    accountId,
    email,
  });
}
