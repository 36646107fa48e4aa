import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import { hashOfToken, newSecretToken } from '../secret-token.ts';

/** A sign-in after its password and before its second step. It is no session: it opens nothing but that step. */
export type PendingSignIn = { sign_in_token: string; expires_at: Date };

const LIFETIME_SEC = 600;

/** Beyond this, an account's oldest ones end, so that a program that never completes them can't fill the table. */
const MAX_PER_ACCOUNT = 50;

export async function beginPendingSignIn(query: Query, accountId: number): Promise<PendingSignIn> {
  const sign_in_token = newSecretToken();
  const rows = await query<{ expires_at: Date }>(
    `INSERT INTO pending_sign_ins (token_hash, account_id, expires_at)
     VALUES (:tokenHash, :accountId, now() + ${String(LIFETIME_SEC)} * interval '1 second') RETURNING expires_at`,
    { tokenHash: hashOfToken(sign_in_token), accountId },
  );
  await query(
    `DELETE FROM pending_sign_ins WHERE token_hash IN (
       SELECT token_hash FROM pending_sign_ins WHERE account_id = :accountId
       ORDER BY created_at DESC OFFSET ${String(MAX_PER_ACCOUNT)})`,
    { accountId },
  );
  return { sign_in_token, ...singleRow(rows) };
}

/** The account whose password was right. */
export async function findPendingSignIn(query: Query, token: string): Promise<number | undefined> {
  const rows = await query<{ account_id: number }>(
    'SELECT account_id FROM pending_sign_ins WHERE token_hash = :tokenHash AND expires_at > now()',
    { tokenHash: hashOfToken(token) },
  );
  return rows[0]?.account_id;
}

/** Of two concurrent uses the second finds none. */
export async function consumePendingSignIn(query: Query, token: string): Promise<boolean> {
  const rows = await query(
    'DELETE FROM pending_sign_ins WHERE token_hash = :tokenHash AND expires_at > now() RETURNING 1',
    { tokenHash: hashOfToken(token) },
  );
  return rows.length > 0;
}

export async function endPendingSignIns(query: Query, accountId: number): Promise<void> {
  await query('DELETE FROM pending_sign_ins WHERE account_id = :accountId', { accountId });
}
