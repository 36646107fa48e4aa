import { singleRow } from '../../platform/database/single-row.ts';
import type { Query } from '../../platform/database/query.ts';

export const FACTORS = ['totp', 'passkey', 'recovery_code'] as const;

export type Factor = (typeof FACTORS)[number];

/**
 * What can complete a sign-in after the password; empty if the password is enough. Read it under the account's lock,
 * so that a sign-in that runs beside the enabling of a factor either ends before it or needs the factor.
 */
export async function factorsOf(query: Query, accountId: number): Promise<Factor[]> {
  const rows = await query<Record<Factor, boolean>>(
    `SELECT EXISTS (SELECT FROM totp_secrets WHERE account_id = :accountId AND confirmed_at IS NOT NULL) AS totp,
            EXISTS (SELECT FROM passkeys WHERE account_id = :accountId) AS passkey,
            EXISTS (SELECT FROM recovery_codes WHERE account_id = :accountId AND used_at IS NULL) AS recovery_code`,
    { accountId },
  );
  const has = singleRow(rows);
  return has.totp || has.passkey ? FACTORS.filter((factor) => has[factor]) : [];
}
