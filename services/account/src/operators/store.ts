import type { OperatorRole } from '@tollgate/contracts/operator-roles';
import type { Query } from '../platform/database/query.ts';
import { singleRow } from '../platform/database/single-row.ts';
import { hashOfToken, newSecretToken } from '../identity/secret-token.ts';

/** Someone who signs in to the operators' console. */
export type OperatorPerson = {
  operator_id: number;
  name: string;
  email: string | null;
  /** Null for those whose role an identity provider decides. */
  local_role: OperatorRole | null;
  created_at: Date;
};

export type LocalOperator = OperatorPerson & { local_role: OperatorRole };

export type ListedOperator = OperatorPerson & {
  issuer: string | null;
  has_passkey: boolean;
  last_seen_at: Date | null;
};

const HAS_PASSKEY =
  'EXISTS (SELECT FROM operator_passkeys WHERE operator_passkeys.operator_id = operators.operator_id)';

const LISTED = `operator_id, name, email, local_role, created_at, ${HAS_PASSKEY} AS has_passkey,
  (SELECT min(issuer) FROM operator_identities WHERE operator_identities.operator_id = operators.operator_id) AS issuer,
  (SELECT max(last_seen_at) FROM operator_sessions WHERE operator_sessions.operator_id = operators.operator_id)
    AS last_seen_at`;

export function listOperators(
  query: Query,
  { before, limit }: { before: number; limit: number },
): Promise<ListedOperator[]> {
  return query<ListedOperator>(
    `SELECT ${LISTED} FROM operators WHERE operator_id < :before ORDER BY operator_id DESC LIMIT :limit`,
    { before, limit },
  );
}

/** @throws by the unique index, if a local operator has the address */
export async function insertLocalOperator(
  query: Query,
  wanted: { name: string; email: string; role: OperatorRole },
): Promise<ListedOperator> {
  return singleRow(
    await query<ListedOperator>(
      `INSERT INTO operators (name, email, local_role) VALUES (:name, :email, :role) RETURNING ${LISTED}`,
      wanted,
    ),
  );
}

/**
 * What adds to an operator's passkeys, links or sessions takes this lock first. A removal waits for it or is waited for;
 * neither holds what the other needs. Undefined: there is no such local operator, or no longer.
 */
export async function lockLocalOperator(
  query: Query,
  operatorId: number,
): Promise<LocalOperator | undefined> {
  const rows = await query<LocalOperator>(
    `SELECT operator_id, name, email, local_role, created_at FROM operators
     WHERE operator_id = :operatorId AND local_role IS NOT NULL FOR NO KEY UPDATE`,
    { operatorId },
  );
  return rows[0];
}

/**
 * Those who can sign in, which needs a passkey. Locks all local operators, so that two removals can't each take the other
 * for the one that stays.
 */
export async function lockLocalAdmins(query: Query): Promise<number[]> {
  await query('SELECT 1 FROM operators WHERE local_role IS NOT NULL ORDER BY operator_id FOR UPDATE');
  // A statement of its own: it sees what was committed while the locks were waited for.
  const rows = await query<{ operator_id: number }>(
    `SELECT operator_id FROM operators WHERE local_role = 'admin' AND ${HAS_PASSKEY}`,
  );
  return rows.map(({ operator_id }) => operator_id);
}

/** With passkeys, links and sessions. */
export async function deleteOperator(query: Query, operatorId: number): Promise<OperatorPerson | undefined> {
  const rows = await query<OperatorPerson>(
    `DELETE FROM operators WHERE operator_id = :operatorId
     RETURNING operator_id, name, email, local_role, created_at`,
    { operatorId },
  );
  return rows[0];
}

/** Who can act as admins now: local ones, and who is signed in as one. */
const IS_ADMIN = `(local_role = 'admin' OR operator_id IN (
  SELECT operator_id FROM operator_sessions WHERE role = 'admin' AND expires_at > now()))`;

export async function adminAddresses(query: Query): Promise<string[]> {
  const rows = await query<{ email: string }>(
    `SELECT DISTINCT email FROM operators WHERE email IS NOT NULL AND ${IS_ADMIN}`,
  );
  return rows.map(({ email }) => email);
}

export async function isAdmin(query: Query, operatorId: number): Promise<boolean> {
  const rows = await query(`SELECT 1 FROM operators WHERE operator_id = :operatorId AND ${IS_ADMIN}`, {
    operatorId,
  });
  return rows.length > 0;
}

export type LinkPurpose = 'enrolment' | 'sign_in';

const LINK_LIFETIMES_SEC: Readonly<Record<LinkPurpose, number>> = { enrolment: 900, sign_in: 600 };

/** Replaces earlier links of the purpose. */
export async function newLink(
  query: Query,
  operatorId: number,
  purpose: LinkPurpose,
): Promise<{ token: string; expires_at: Date }> {
  const token = newSecretToken();
  await query('DELETE FROM operator_links WHERE operator_id = :operatorId AND purpose = :purpose', {
    operatorId,
    purpose,
  });
  const rows = await query<{ expires_at: Date }>(
    `INSERT INTO operator_links (token_hash, purpose, operator_id, expires_at)
     VALUES (:tokenHash, :purpose, :operatorId, now() + :lifetimeSec * interval '1 second') RETURNING expires_at`,
    { tokenHash: hashOfToken(token), purpose, operatorId, lifetimeSec: LINK_LIFETIMES_SEC[purpose] },
  );
  return { token, ...singleRow(rows) };
}

/** Whose link it is; undefined if it is unknown, used or expired. */
export async function findLink(
  query: Query,
  token: string,
  purpose: LinkPurpose,
): Promise<OperatorPerson | undefined> {
  const rows = await query<OperatorPerson>(
    `SELECT operator_id, name, email, local_role, operators.created_at
     FROM operator_links JOIN operators USING (operator_id)
     WHERE token_hash = :tokenHash AND purpose = :purpose AND expires_at > now()`,
    { tokenHash: hashOfToken(token), purpose },
  );
  return rows[0];
}

/** Of two uses at once, one is true. `query` is the transaction's of what the link is good for. */
export async function takeLink(query: Query, token: string, purpose: LinkPurpose): Promise<boolean> {
  const rows = await query(
    `DELETE FROM operator_links
     WHERE token_hash = :tokenHash AND purpose = :purpose AND expires_at > now() RETURNING 1`,
    { tokenHash: hashOfToken(token), purpose },
  );
  return rows.length > 0;
}

export type OperatorPasskey = { credential_id: string; public_key: Buffer; sign_count: number };

/** @throws by the primary key, if the passkey is registered already */
export async function insertOperatorPasskey(
  query: Query,
  operatorId: number,
  { credential_id, public_key, sign_count }: OperatorPasskey,
): Promise<void> {
  await query(
    `INSERT INTO operator_passkeys (credential_id, operator_id, public_key, sign_count)
     VALUES (:credential_id, :operatorId, :public_key, :sign_count)`,
    { operatorId, credential_id, public_key, sign_count },
  );
}

export async function hasOperatorPasskey(query: Query, operatorId: number): Promise<boolean> {
  const rows = await query('SELECT 1 FROM operator_passkeys WHERE operator_id = :operatorId LIMIT 1', {
    operatorId,
  });
  return rows.length > 0;
}

export async function findOperatorPasskey(
  query: Query,
  credentialId: string,
): Promise<(OperatorPasskey & OperatorPerson) | undefined> {
  const rows = await query<OperatorPasskey & OperatorPerson>(
    `SELECT credential_id, public_key, sign_count, operator_id, name, email, local_role, operators.created_at
     FROM operator_passkeys JOIN operators USING (operator_id) WHERE credential_id = :credentialId`,
    { credentialId },
  );
  return rows[0];
}

/** False if a concurrent use has counted further: the passkey may have been copied (WebAuthn, section 6.1.1). */
export async function noteOperatorPasskeyUse(
  query: Query,
  { credential_id, sign_count }: Pick<OperatorPasskey, 'credential_id' | 'sign_count'>,
): Promise<boolean> {
  const rows = await query(
    `UPDATE operator_passkeys SET sign_count = :sign_count, last_used_at = now()
     WHERE credential_id = :credential_id
       AND (sign_count < :sign_count OR (sign_count = 0 AND :sign_count = 0)) RETURNING 1`,
    { credential_id, sign_count },
  );
  return rows.length > 0;
}

export async function hasLocalOperators(query: Query): Promise<boolean> {
  const rows = await query('SELECT 1 FROM operators WHERE local_role IS NOT NULL LIMIT 1');
  return rows.length > 0;
}
