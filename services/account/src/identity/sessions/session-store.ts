import { singleRow } from '../../platform/database/single-row.ts';
import type { Query } from '../../platform/database/query.ts';
import type { Account } from '../accounts/account.ts';
import type { MemberRole } from '../accounts/member-roles.ts';
import { hashOfToken } from '../secret-token.ts';
import { REQUIRES_SSO } from './required-sso.ts';

/** Sessions are stored by the hash of their token. */

export type SessionLifetimes = {
  idleTimeoutSec: number;
  lifetimeSec: number;
};

export type SessionOrigin = { address: string; userAgent: string };

type Session = { session_id: number; created_at: Date; expires_at: Date };

/** Who pays for a member of a team, and what the member may do there. */
export type MemberOf = { member_role: MemberRole; manager_id: number };

export type LiveSession = Session & {
  account: Account;
  /** Whether its user has proved to be the owner within CONFIRMED_FOR_SEC. */
  is_confirmed: boolean;
  /** Null for an account that isn't a member of someone else's team. */
  member_of: MemberOf | null;
  /** What single sign-on has signed in; null for a session that began otherwise. */
  sso_identity_id: number | null;
  /** Whether the team wants single sign-on, and this isn't one of it: then it opens nothing but that. */
  lacks_sso: boolean;
};

export type ListedSession = Session & { last_seen_at: Date; address: string; user_agent: string };

/** Limits writes: one request a minute updates `last_seen_at`, the others only read. */
export const LAST_SEEN_STEP_SEC = 60;

/** Beyond this, an account's oldest sessions end. */
const MAX_PER_ACCOUNT = 50;

/** How long a session that was just signed in or confirmed may change what protects the account. */
const CONFIRMED_FOR_SEC = 900;

const USER_AGENT_MAX_CHARACTERS = 200;

/** Needs the binding `idleTimeoutSec`. */
export const IS_LIVE = `sessions.expires_at > now()
  AND sessions.last_seen_at > now() - :idleTimeoutSec * interval '1 second'`;

/** Whose account it is: a column of the statement around it. */
export const memberOf = (accountId: string) => `(
  SELECT json_build_object('member_role', membership.member_role, 'manager_id', manager.account_id)
  FROM team_members AS membership JOIN team_members AS manager USING (team_id)
  WHERE membership.account_id = ${accountId}
    AND membership.role = 'member' AND manager.role = 'manager') AS member_of`;

type SessionProof = {
  ssoIdentityId?: number | null | undefined;
  /** Whether its user has just shown as much as a sign-in needs. */
  isConfirmed?: boolean;
};

/**
 * Begins a session. `query` is a transaction's. A team's identity provider says who someone is, and doesn't speak for
 * what protects the account without it.
 */
export async function beginSession(
  query: Query,
  accountId: number,
  token: string,
  { address, userAgent }: SessionOrigin,
  { lifetimeSec }: SessionLifetimes,
  { ssoIdentityId = null, isConfirmed = ssoIdentityId === null }: SessionProof = {},
): Promise<Omit<LiveSession, 'account'>> {
  type Begun = Session & Pick<LiveSession, 'member_of' | 'lacks_sso'>;
  const rows = await query<Begun>(
    `INSERT INTO sessions (account_id, token_hash, expires_at, address, user_agent, sso_identity_id, confirmed_at)
     VALUES (:accountId, :tokenHash, now() + :lifetimeSec * interval '1 second', :address, :userAgent, :ssoIdentityId,
       CASE WHEN :isConfirmed THEN now() ELSE '-infinity' END)
     RETURNING session_id, created_at, expires_at, ${memberOf('sessions.account_id')},
       sso_identity_id IS NULL AND (SELECT ${REQUIRES_SSO} FROM accounts WHERE account_id = :accountId) AS lacks_sso`,
    {
      accountId,
      ssoIdentityId,
      isConfirmed,
      tokenHash: hashOfToken(token),
      lifetimeSec,
      address,
      userAgent: storedUserAgent(userAgent),
    },
  );
  await query(
    `DELETE FROM sessions WHERE session_id IN (
       SELECT session_id FROM sessions WHERE account_id = :accountId
       ORDER BY session_id DESC OFFSET ${String(MAX_PER_ACCOUNT)})`,
    { accountId },
  );
  return { ...singleRow(rows), is_confirmed: isConfirmed, sso_identity_id: ssoIdentityId };
}

/** As it is kept and shown. */
export function storedUserAgent(userAgent: string): string {
  return userAgent.replace(/\p{Cc}/gu, ' ').slice(0, USER_AGENT_MAX_CHARACTERS);
}

export async function findSession(
  query: Query,
  token: string,
  { idleTimeoutSec }: SessionLifetimes,
): Promise<LiveSession | undefined> {
  const rows = await query<Omit<LiveSession, 'account'> & Account & { is_stale: boolean }>(
    `SELECT session_id, sessions.created_at, expires_at,
            last_seen_at < now() - ${String(LAST_SEEN_STEP_SEC)} * interval '1 second' AS is_stale,
            confirmed_at > now() - ${String(CONFIRMED_FOR_SEC)} * interval '1 second' AS is_confirmed,
            accounts.account_id, email, name, password_hash, email_verified_at, blocked_at,
            deletion_due_at, ${memberOf('sessions.account_id')}, sso_identity_id,
            sso_identity_id IS NULL AND ${REQUIRES_SSO} AS lacks_sso
     FROM sessions JOIN accounts USING (account_id)
     WHERE token_hash = :tokenHash AND ${IS_LIVE}`,
    { tokenHash: hashOfToken(token), idleTimeoutSec },
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const { is_stale, session_id, created_at, expires_at, is_confirmed, member_of, ...others } = row;
  const { sso_identity_id, lacks_sso, ...account } = others;
  const session = { session_id, created_at, expires_at, is_confirmed, member_of, sso_identity_id, lacks_sso };
  if (is_stale) {
    await query('UPDATE sessions SET last_seen_at = now() WHERE session_id = :session_id', { session_id });
  }
  return { ...session, account };
}

/** Its user has proved again to be the owner. */
export async function confirmSession(query: Query, sessionId: number): Promise<void> {
  await query('UPDATE sessions SET confirmed_at = now() WHERE session_id = :sessionId', { sessionId });
}

export function listSessions(
  query: Query,
  accountId: number,
  { idleTimeoutSec }: SessionLifetimes,
): Promise<ListedSession[]> {
  return query<ListedSession>(
    `SELECT session_id, created_at, last_seen_at, expires_at, address, user_agent FROM sessions
     WHERE account_id = :accountId AND ${IS_LIVE} ORDER BY session_id DESC`,
    { accountId, idleTimeoutSec },
  );
}

type EndedSession = Pick<ListedSession, 'session_id' | 'created_at' | 'user_agent'>;

/** Undefined if the account has no such session. */
export async function deleteSession(
  query: Query,
  accountId: number,
  sessionId: number,
): Promise<EndedSession | undefined> {
  const rows = await query<EndedSession>(
    `DELETE FROM sessions WHERE session_id = :sessionId AND account_id = :accountId
     RETURNING session_id, created_at, user_agent`,
    { sessionId, accountId },
  );
  return rows[0];
}

export async function endSessionOfToken(query: Query, token: string): Promise<void> {
  await query('DELETE FROM sessions WHERE token_hash = :tokenHash', { tokenHash: hashOfToken(token) });
}

/** All of the account but one, or all. */
export async function deleteSessions(query: Query, accountId: number, except: number | null): Promise<void> {
  await query(
    `DELETE FROM sessions
     WHERE account_id = :accountId AND (CAST(:except AS bigint) IS NULL OR session_id <> :except)`,
    { accountId, except },
  );
}
