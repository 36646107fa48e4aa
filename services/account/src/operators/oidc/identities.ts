import { createHash } from 'node:crypto';
import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import type { OperatorPerson } from '../store.ts';
import type { LogoutToken } from './logout-token.ts';
import type { Identity } from './provider.ts';

/**
 * Who someone is, say issuer and subject: the operator that they have been before, with the name and the address of
 * now, or a new one. `inside` is a transaction's; it holds the operator's row, so that a removal waits, or is waited for.
 */
export async function operatorOf(
  inside: Query,
  { issuer, subject, name, email }: Pick<Identity, 'issuer' | 'subject' | 'name' | 'email'>,
): Promise<OperatorPerson> {
  // Of two first sign-ins at once, the second finds what the first has made.
  await inside('SELECT pg_advisory_xact_lock(hashtextextended(:identity, 0))', {
    identity: `operator identity ${issuer} ${subject}`,
  });
  const known = await inside<OperatorPerson>(
    `UPDATE operators SET name = :name, email = :email
     WHERE operator_id = (SELECT operator_id FROM operator_identities
       WHERE issuer = :issuer AND subject = :subject) AND local_role IS NULL
     RETURNING operator_id, name, email, local_role, created_at`,
    { issuer, subject, name, email },
  );
  const [found] = known;
  if (found !== undefined) return found;
  const made = singleRow(
    await inside<OperatorPerson>(
      `INSERT INTO operators (name, email) VALUES (:name, :email)
       RETURNING operator_id, name, email, local_role, created_at`,
      { name, email },
    ),
  );
  await inside(
    `INSERT INTO operator_identities (issuer, subject, operator_id) VALUES (:issuer, :subject, :operator_id)`,
    { issuer, subject, operator_id: made.operator_id },
  );
  return made;
}

/** False if it was accepted before. */
export async function takeLogoutToken(
  inside: Query,
  issuer: string,
  { jti, expires_at }: Pick<LogoutToken, 'jti' | 'expires_at'>,
): Promise<boolean> {
  const rows = await inside(
    `INSERT INTO operator_logout_tokens (token_hash, expires_at) VALUES (:tokenHash, :expires_at)
     ON CONFLICT DO NOTHING RETURNING 1`,
    { tokenHash: createHash('sha256').update(`${issuer} ${jti}`).digest(), expires_at },
  );
  return rows.length > 0;
}

/**
 * Sessions that the provider has ended, and whose they were. One whose ID token named no session of the provider ends
 * with any session of its subject there: it may be that one.
 */
export async function endSessionsOf(
  inside: Query,
  issuer: string,
  { sub, sid }: Pick<LogoutToken, 'sub' | 'sid'>,
): Promise<{ session_id: number; operator_id: number; name: string }[]> {
  return inside(
    `DELETE FROM operator_sessions USING operators
     WHERE operators.operator_id = operator_sessions.operator_id AND issuer = :issuer
       AND (CAST(:sub AS text) IS NULL OR subject = :sub)
       AND (CAST(:sid AS text) IS NULL OR provider_session = :sid
         OR (provider_session IS NULL AND subject = CAST(:sub AS text)))
     RETURNING session_id, operators.operator_id, name`,
    { issuer, sub: sub ?? null, sid: sid ?? null },
  );
}
