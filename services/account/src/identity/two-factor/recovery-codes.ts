import { createHash, randomBytes } from 'node:crypto';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';

const CODES = 10;
const CODE_BYTES = 10;

/** Crockford's alphabet: no letter looks like a digit. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** 80 random bits as `xxxx-xxxx-xxxx-xxxx`: too many to guess, so that a fast hash is enough. */
function newRecoveryCode(): string {
  let bits = BigInt(`0x${randomBytes(CODE_BYTES).toString('hex')}`);
  let code = '';
  for (let digit = 0; digit < (CODE_BYTES * 8) / 5; digit += 1) {
    code += ALPHABET[Number(bits & 31n)] ?? '';
    bits >>= 5n;
  }
  return code.replace(/(.{4})(?=.)/g, '$1-');
}

/** As people type it: any case, with or without hyphens and spaces, o for 0, i or l for 1. */
function hashOfCode(code: string): Buffer {
  const plain = code.toLowerCase().replace(/[\s-]/g, '').replaceAll('o', '0').replace(/[il]/g, '1');
  return createHash('sha256').update(plain).digest();
}

/** Former codes end. The codes are returned here and never again. */
export async function renewRecoveryCodes(query: Query, accountId: number): Promise<string[]> {
  const codes = Array.from({ length: CODES }, newRecoveryCode);
  await deleteRecoveryCodes(query, accountId);
  for (const code of codes) {
    await query('INSERT INTO recovery_codes (account_id, code_hash) VALUES (:accountId, :hash)', {
      accountId,
      hash: hashOfCode(code),
    });
  }
  return codes;
}

/** Uses up a code, and tells the owner by mail; false for a wrong one. `query` is a transaction's. */
export async function useRecoveryCode(
  query: Query,
  { accountId: account_id, email, code, by }: { accountId: number; email: string; code: string; by: Actor },
): Promise<boolean> {
  if (!(await consumeRecoveryCode(query, account_id, code))) return false;
  const entry = { ...by, application_id: null, account_id, details: {} };
  await recordAudit(query, { ...entry, action: 'recovery_code_used' });
  await enqueueMail(query, { kind: 'recovery_code_used', recipient: email, account_id });
  return true;
}

/** Of two concurrent uses of one code, the second finds it used. */
async function consumeRecoveryCode(query: Query, accountId: number, code: string): Promise<boolean> {
  const rows = await query(
    `UPDATE recovery_codes SET used_at = now()
     WHERE account_id = :accountId AND code_hash = :hash AND used_at IS NULL RETURNING 1`,
    { accountId, hash: hashOfCode(code) },
  );
  return rows.length > 0;
}

export async function countRecoveryCodes(query: Query, accountId: number): Promise<number> {
  const rows = await query<{ left: number }>(
    'SELECT count(*) AS left FROM recovery_codes WHERE account_id = :accountId AND used_at IS NULL',
    { accountId },
  );
  return singleRow(rows).left;
}

export async function deleteRecoveryCodes(query: Query, accountId: number): Promise<void> {
  await query('DELETE FROM recovery_codes WHERE account_id = :accountId', { accountId });
}
