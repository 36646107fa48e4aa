import type { Query } from '../../../platform/database/query.ts';
import type { SealedTable } from '../../../platform/sealing/reseal.ts';
import { seal, unseal } from '../../../platform/sealing/sealing.ts';
import type { Sealed, SealingKey } from '../../../platform/sealing/sealing.ts';
import { stepOfCode } from './totp.ts';

type Owner = { account_id: number };

const ownerOf = ({ account_id }: Owner) => `TOTP secret of account ${String(account_id)}`;

/** For the program `reseal`. */
export const SEALED_TOTP_SECRETS: SealedTable<Owner> = {
  table: 'totp_secrets',
  id: 'totp_id',
  sealed: 'sealed_secret',
  ownerColumns: ['account_id'],
  ownerOf,
};

/** A code must confirm a secret within this time. */
const TOTP_SETUP_SEC = 3_600;

/** Replaces a secret that was never confirmed. False if the account has a confirmed one. */
export async function storeTotpSecret(
  query: Query,
  account_id: number,
  secret: string,
  keys: readonly SealingKey[],
): Promise<boolean> {
  const rows = await query(
    `INSERT INTO totp_secrets AS stored (account_id, sealing_key_id, sealed_nonce, sealed_secret)
     VALUES (:account_id, :sealing_key_id, :sealed_nonce, :sealed)
     ON CONFLICT (account_id) DO UPDATE SET sealing_key_id = excluded.sealing_key_id,
       sealed_nonce = excluded.sealed_nonce, sealed_secret = excluded.sealed_secret, created_at = now(), last_step = 0
     WHERE stored.confirmed_at IS NULL RETURNING 1`,
    { account_id, ...seal(secret, ownerOf({ account_id }), keys) },
  );
  return rows.length > 0;
}

type CodeUse = { accountId: number; code: string; nowMs: number; keys: readonly SealingKey[] };

/**
 * Accepts a code once: later only codes of later steps are (RFC 6238, section 5.2). Of two concurrent uses of one code,
 * the second finds its step taken. @throws {Problem} internal_error if the secret can't be opened
 */
export async function acceptTotpCode(query: Query, use: CodeUse): Promise<boolean> {
  return accept(query, use, { where: 'confirmed_at IS NOT NULL', set: 'last_step = :step' });
}

/** The first code, which enables the factor. That code can't sign in later. */
export async function confirmTotpSecret(query: Query, use: CodeUse): Promise<boolean> {
  return accept(query, use, {
    where: `confirmed_at IS NULL AND created_at > now() - ${String(TOTP_SETUP_SEC)} * interval '1 second'`,
    set: 'last_step = :step, confirmed_at = now()',
  });
}

async function accept(
  query: Query,
  { accountId: account_id, code, nowMs, keys }: CodeUse,
  { where, set }: { where: string; set: string },
): Promise<boolean> {
  const [stored] = await query<Sealed>(
    `SELECT sealing_key_id, sealed_nonce, sealed_secret AS sealed FROM totp_secrets
     WHERE account_id = :account_id AND ${where}`,
    { account_id },
  );
  if (stored === undefined) return false;
  const step = stepOfCode(unseal(stored, ownerOf({ account_id }), keys), code, nowMs);
  if (step === undefined) return false;
  const rows = await query(
    `UPDATE totp_secrets SET ${set}
     WHERE account_id = :account_id AND ${where} AND last_step < :step RETURNING 1`,
    { account_id, step },
  );
  return rows.length > 0;
}

/** Since when the factor is enabled; undefined if it isn't. */
export async function totpEnabledAt(query: Query, accountId: number): Promise<Date | undefined> {
  const rows = await query<{ confirmed_at: Date }>(
    'SELECT confirmed_at FROM totp_secrets WHERE account_id = :accountId AND confirmed_at IS NOT NULL',
    { accountId },
  );
  return rows[0]?.confirmed_at;
}

/** Whether there was a confirmed one. */
export async function deleteTotpSecret(query: Query, accountId: number): Promise<boolean> {
  const rows = await query<{ confirmed_at: Date | null }>(
    'DELETE FROM totp_secrets WHERE account_id = :accountId RETURNING confirmed_at',
    { accountId },
  );
  return rows.some(({ confirmed_at }) => confirmed_at !== null);
}
