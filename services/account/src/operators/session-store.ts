import type { OperatorRole } from '@tollgate/contracts/operator-roles';
import { hashOfToken } from '../identity/secret-token.ts';
import { LAST_SEEN_STEP_SEC, storedUserAgent } from '../identity/sessions/session-store.ts';
import type { SessionLifetimes, SessionOrigin } from '../identity/sessions/session-store.ts';
import type { Query } from '../platform/database/query.ts';
import { singleRow } from '../platform/database/single-row.ts';

/** Operators' sessions, by the hash of their token, apart from customers' (docs/adr/0123-operators.md). */

export type OperatorSession = {
  session_id: number;
  operator_id: number;
  name: string;
  email: string | null;
  role: OperatorRole;
  /** The identity provider; null for passkeys. */
  issuer: string | null;
  created_at: Date;
  expires_at: Date;
};

/** What the identity provider's session is recognized by, and ended with. */
export type ProviderSession = {
  issuer: string;
  subject: string;
  provider_session: string | null;
  id_token: string | null;
};

export type ListedOperatorSession = Pick<OperatorSession, 'session_id' | 'created_at' | 'expires_at'> & {
  last_seen_at: Date;
  address: string;
  user_agent: string;
};

/** Beyond this, an operator's oldest sessions end. */
const MAX_PER_OPERATOR = 10;

/** Needs the binding `idleTimeoutSec`. */
const IS_LIVE = `operator_sessions.expires_at > now()
  AND operator_sessions.last_seen_at > now() - :idleTimeoutSec * interval '1 second'`;

const NO_PROVIDER = { issuer: null, subject: null, provider_session: null, id_token: null };

/** `query` is a transaction's. */
export async function beginOperatorSession(
  query: Query,
  begun: { operator_id: number; role: OperatorRole; token: string; provider: ProviderSession | null },
  { address, userAgent }: SessionOrigin,
  { lifetimeSec }: SessionLifetimes,
): Promise<Pick<OperatorSession, 'session_id' | 'created_at' | 'expires_at'>> {
  const { operator_id, role, token, provider } = begun;
  const { issuer, subject, provider_session, id_token } = provider ?? NO_PROVIDER;
  const rows = await query<Pick<OperatorSession, 'session_id' | 'created_at' | 'expires_at'>>(
    `INSERT INTO operator_sessions (token_hash, operator_id, role, expires_at, address, user_agent,
       issuer, subject, provider_session, id_token)
     VALUES (:tokenHash, :operator_id, :role, now() + :lifetimeSec * interval '1 second', :address, :userAgent,
       :issuer, :subject, :provider_session, :id_token)
     RETURNING session_id, created_at, expires_at`,
    {
      tokenHash: hashOfToken(token),
      operator_id,
      role,
      lifetimeSec,
      address,
      userAgent: storedUserAgent(userAgent),
      issuer,
      subject,
      provider_session,
      id_token,
    },
  );
  await query(
    `DELETE FROM operator_sessions WHERE session_id IN (
       SELECT session_id FROM operator_sessions WHERE operator_id = :operator_id
       ORDER BY session_id DESC OFFSET ${String(MAX_PER_OPERATOR)})`,
    { operator_id },
  );
  return singleRow(rows);
}

/** Read at each request, so that every replica honours an ended session at once. */
export async function findOperatorSession(
  query: Query,
  token: string,
  { idleTimeoutSec }: SessionLifetimes,
): Promise<OperatorSession | undefined> {
  const rows = await query<OperatorSession & { is_stale: boolean }>(
    `SELECT session_id, operator_id, name, email, role, issuer, operator_sessions.created_at, expires_at,
            last_seen_at < now() - ${String(LAST_SEEN_STEP_SEC)} * interval '1 second' AS is_stale
     FROM operator_sessions JOIN operators USING (operator_id)
     WHERE token_hash = :tokenHash AND ${IS_LIVE}`,
    { tokenHash: hashOfToken(token), idleTimeoutSec },
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const { is_stale, ...session } = row;
  if (is_stale) {
    await query('UPDATE operator_sessions SET last_seen_at = now() WHERE session_id = :session_id', {
      session_id: session.session_id,
    });
  }
  return session;
}

export function listOperatorSessions(
  query: Query,
  operatorId: number,
  { idleTimeoutSec }: SessionLifetimes,
): Promise<ListedOperatorSession[]> {
  return query<ListedOperatorSession>(
    `SELECT session_id, created_at, last_seen_at, expires_at, address, user_agent FROM operator_sessions
     WHERE operator_id = :operatorId AND ${IS_LIVE} ORDER BY session_id DESC`,
    { operatorId, idleTimeoutSec },
  );
}

/** Undefined: the operator didn't have it. */
export async function deleteOperatorSession(
  query: Query,
  operatorId: number,
  sessionId: number,
): Promise<{ issuer: string | null; id_token: string | null } | undefined> {
  const rows = await query<{ issuer: string | null; id_token: string | null }>(
    `DELETE FROM operator_sessions WHERE session_id = :sessionId AND operator_id = :operatorId
     RETURNING issuer, id_token`,
    { sessionId, operatorId },
  );
  return rows[0];
}

/** The session that a browser had before it signed in again. */
export async function endSessionBefore(query: Query, token: string | undefined): Promise<void> {
  if (token === undefined) return;
  await query('DELETE FROM operator_sessions WHERE token_hash = :tokenHash', {
    tokenHash: hashOfToken(token),
  });
}
