import { singleRow } from '../../platform/database/single-row.ts';
import type { Query } from '../../platform/database/query.ts';
import { hashOfToken, newSecretToken } from '../../identity/secret-token.ts';
import { INVITATION_LIFETIME_SEC } from '../rules.ts';
import type { MemberRole } from '../../identity/accounts/member-roles.ts';

/** Accepted, declined and withdrawn invitations are deleted; expired ones are listed for a while. */

export type Invitation = {
  invitation_id: number;
  team_id: number;
  email: string;
  invited_by: number;
  member_role: MemberRole;
  created_at: Date;
  expires_at: Date;
};

export type SentInvitation = Invitation & { status: 'pending' | 'expired' };

export type ReceivedInvitation = Pick<Invitation, 'invitation_id' | 'email' | 'created_at' | 'expires_at'> & {
  team_name: string;
  invited_by_name: string;
  invited_by_email: string;
};

/** By the account that has its verified email address, or by the mail's token. */
export type InvitationKey = { invitation_id: number; account_id: number } | { token: string };

const COLUMNS = `team_invitations.invitation_id, team_invitations.team_id, team_invitations.email, invited_by,
  team_invitations.member_role, team_invitations.created_at, team_invitations.expires_at`;

const RECEIVED_COLUMNS = `invitation_id, team_invitations.email, team_invitations.created_at,
  team_invitations.expires_at, teams.name AS team_name, accounts.name AS invited_by_name,
  accounts.email AS invited_by_email`;

const RECEIVED_FROM = `team_invitations JOIN teams USING (team_id)
  JOIN accounts ON accounts.account_id = team_invitations.invited_by`;

const PENDING = 'team_invitations.expires_at > now()';

/** Only a verified email address counts. */
const IS_ADDRESSED_TO = `EXISTS (SELECT 1 FROM accounts AS addressee
  WHERE addressee.account_id = :account_id AND addressee.email_verified_at IS NOT NULL
    AND lower(addressee.email) = lower(team_invitations.email))`;

const IS_OF_TOKEN = `EXISTS (SELECT 1 FROM team_invitation_tokens AS link
  WHERE link.invitation_id = team_invitations.invitation_id AND link.token_hash = :token_hash)`;

export async function insertInvitation(
  query: Query,
  made: Pick<Invitation, 'team_id' | 'email' | 'invited_by' | 'member_role'>,
): Promise<Invitation> {
  const rows = await query<Invitation>(
    `INSERT INTO team_invitations (team_id, email, invited_by, member_role, expires_at)
     VALUES (:team_id, :email, :invited_by, :member_role, now() + :lifetimeSec * interval '1 second')
     RETURNING ${COLUMNS}`,
    { ...made, lifetimeSec: INVITATION_LIFETIME_SEC },
  );
  return singleRow(rows);
}

/** An expired invitation would block a new one to the same address. */
export async function deleteExpired(query: Query, teamId: number, email: string): Promise<void> {
  await query(
    `DELETE FROM team_invitations
     WHERE team_id = :teamId AND lower(email) = lower(:email) AND NOT (${PENDING})`,
    { teamId, email },
  );
}

/** Oldest first. */
export function listInvitations(query: Query, teamId: number): Promise<SentInvitation[]> {
  return query<SentInvitation>(
    `SELECT ${COLUMNS}, CASE WHEN ${PENDING} THEN 'pending' ELSE 'expired' END AS status
     FROM team_invitations WHERE team_id = :teamId ORDER BY invitation_id`,
    { teamId },
  );
}

export async function findAddress(
  query: Query,
  teamId: number,
  email: string,
): Promise<{ is_invited: boolean; is_member: boolean }> {
  const rows = await query<{ is_invited: boolean; is_member: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM team_invitations
              WHERE team_id = :teamId AND lower(email) = lower(:email)) AS is_invited,
            EXISTS (SELECT 1 FROM team_members JOIN accounts USING (account_id)
              WHERE team_id = :teamId AND lower(email) = lower(:email)) AS is_member`,
    { teamId, email },
  );
  return singleRow(rows);
}

/** Newest first. */
export function invitationsTo(query: Query, accountId: number): Promise<ReceivedInvitation[]> {
  return query<ReceivedInvitation>(
    `SELECT ${RECEIVED_COLUMNS} FROM ${RECEIVED_FROM}
     WHERE ${PENDING} AND ${IS_ADDRESSED_TO} ORDER BY invitation_id DESC`,
    { account_id: accountId },
  );
}

export async function invitationOfToken(
  query: Query,
  token: string,
): Promise<ReceivedInvitation | undefined> {
  const rows = await query<ReceivedInvitation>(
    `SELECT ${RECEIVED_COLUMNS} FROM ${RECEIVED_FROM} WHERE ${PENDING} AND ${IS_OF_TOKEN}`,
    { token_hash: hashOfToken(token) },
  );
  return rows[0];
}

export async function findInvitation(query: Query, key: InvitationKey): Promise<Invitation | undefined> {
  const [condition, bindings] =
    'token' in key
      ? [IS_OF_TOKEN, { token_hash: hashOfToken(key.token) }]
      : [`team_invitations.invitation_id = :invitation_id AND ${IS_ADDRESSED_TO}`, key];
  const rows = await query<Invitation>(
    `SELECT ${COLUMNS} FROM team_invitations WHERE ${PENDING} AND ${condition}`,
    bindings,
  );
  return rows[0];
}

/** A pending one, to be accepted or declined. Undefined if it is gone: of two concurrent uses, one succeeds. */
export async function deleteInvitation(
  query: Query,
  teamId: number,
  invitationId: number,
): Promise<Invitation | undefined> {
  const rows = await query<Invitation>(
    `DELETE FROM team_invitations
     WHERE team_id = :teamId AND invitation_id = :invitationId AND ${PENDING} RETURNING ${COLUMNS}`,
    { teamId, invitationId },
  );
  return rows[0];
}

/** A pending one to the address, which its owner answers by joining otherwise. The team is locked. */
export async function takeInvitationTo(
  query: Query,
  teamId: number,
  email: string,
): Promise<Invitation | undefined> {
  const rows = await query<Invitation>(
    `DELETE FROM team_invitations
     WHERE team_id = :teamId AND lower(email) = lower(:email) AND ${PENDING} RETURNING ${COLUMNS}`,
    { teamId, email },
  );
  return rows[0];
}

/** Also an expired one. Undefined if it is gone. */
export async function withdrawInvitation(
  query: Query,
  teamId: number,
  invitationId: number,
): Promise<Invitation | undefined> {
  const rows = await query<Invitation>(
    `DELETE FROM team_invitations WHERE team_id = :teamId AND invitation_id = :invitationId
     RETURNING ${COLUMNS}`,
    { teamId, invitationId },
  );
  return rows[0];
}

/** A token for another mail; undefined if the invitation can't be accepted any more. */
export async function issueInvitationToken(query: Query, invitationId: number): Promise<string | undefined> {
  const token = newSecretToken();
  const rows = await query(
    `INSERT INTO team_invitation_tokens (token_hash, invitation_id)
     SELECT :token_hash, invitation_id FROM team_invitations
     WHERE invitation_id = :invitationId AND ${PENDING} RETURNING 1`,
    { token_hash: hashOfToken(token), invitationId },
  );
  return rows.length > 0 ? token : undefined;
}
