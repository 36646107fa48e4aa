import type { Query } from '../../../platform/database/query.ts';
import { singleRow } from '../../../platform/database/single-row.ts';

export type ListedPasskey = {
  passkey_id: number;
  name: string;
  created_at: Date;
  last_used_at: Date | null;
};

export type Passkey = {
  passkey_id: number;
  account_id: number;
  credential_id: string;
  public_key: Buffer;
  sign_count: number;
  transports: string[];
};

const LISTED = 'passkey_id, name, created_at, last_used_at';

export function listPasskeys(query: Query, accountId: number): Promise<ListedPasskey[]> {
  return query<ListedPasskey>(
    `SELECT ${LISTED} FROM passkeys WHERE account_id = :accountId ORDER BY passkey_id`,
    { accountId },
  );
}

/** What a browser needs to find the passkey. */
export function passkeyDescriptors(
  query: Query,
  accountId: number,
): Promise<{ credential_id: string; transports: string[] }[]> {
  return query('SELECT credential_id, transports FROM passkeys WHERE account_id = :accountId', { accountId });
}

export async function findPasskey(query: Query, credentialId: string): Promise<Passkey | undefined> {
  const rows = await query<Passkey>(
    `SELECT passkey_id, account_id, credential_id, public_key, sign_count, transports
     FROM passkeys WHERE credential_id = :credentialId`,
    { credentialId },
  );
  return rows[0];
}

/** @throws by the unique index, if the passkey is registered already */
export async function insertPasskey(
  query: Query,
  made: Omit<Passkey, 'passkey_id'> & { name: string },
): Promise<ListedPasskey> {
  return singleRow(
    await query<ListedPasskey>(
      `INSERT INTO passkeys (account_id, credential_id, public_key, sign_count, transports, name)
       VALUES (:account_id, :credential_id, :public_key, :sign_count, CAST(:transports AS text[]), :name)
       RETURNING ${LISTED}`,
      made,
    ),
  );
}

/** False if a concurrent use has counted further: the passkey may have been copied (WebAuthn, section 6.1.1). */
export async function notePasskeyUse(
  query: Query,
  { passkey_id, sign_count }: Pick<Passkey, 'passkey_id' | 'sign_count'>,
): Promise<boolean> {
  const rows = await query(
    `UPDATE passkeys SET sign_count = :sign_count, last_used_at = now()
     WHERE passkey_id = :passkey_id AND (sign_count < :sign_count OR (sign_count = 0 AND :sign_count = 0))
     RETURNING 1`,
    { passkey_id, sign_count },
  );
  return rows.length > 0;
}

export async function renamePasskey(
  query: Query,
  accountId: number,
  passkeyId: number,
  name: string,
): Promise<ListedPasskey | undefined> {
  const rows = await query<ListedPasskey>(
    `UPDATE passkeys SET name = :name WHERE passkey_id = :passkeyId AND account_id = :accountId RETURNING ${LISTED}`,
    { accountId, passkeyId, name },
  );
  return rows[0];
}

export async function deletePasskey(
  query: Query,
  accountId: number,
  passkeyId: number,
): Promise<{ name: string } | undefined> {
  const rows = await query<{ name: string }>(
    'DELETE FROM passkeys WHERE passkey_id = :passkeyId AND account_id = :accountId RETURNING name',
    { accountId, passkeyId },
  );
  return rows[0];
}

/** Returns how many there were. */
export async function deletePasskeys(query: Query, accountId: number): Promise<number> {
  const rows = await query('DELETE FROM passkeys WHERE account_id = :accountId RETURNING 1', { accountId });
  return rows.length;
}
