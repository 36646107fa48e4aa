import { singleRow } from '../../platform/database/single-row.ts';
import type { Query } from '../../platform/database/query.ts';
import type { Page } from '../../http/input/page.ts';
import { DELEGATED_TOKEN_LIFESPAN_MAX_SEC } from './rules.ts';

/** A connection is one person's grant to one application; its hidden application owns the access tokens. */
export type Connection = {
  /** Of the hidden application. */
  application_id: number;
  /** Of the hidden application, and so the part of its tokens. */
  client_id: string;
  /** The person's. */
  account_id: number;
  name: string;
  status: 'active' | 'revoked' | 'deleted';
  revocation_epoch: number;
  resource: string | null;
  scope: string;
  /** Until people have to consent again. */
  left_sec: number;
  /** By the team that the person is in. */
  is_forbidden: boolean;
  /** Of the application that acts. */
  acting_client_id: string;
  acting_status: 'active' | 'revoked' | 'deleted';
  acting_lifespan_sec: number;
  /** Whether an operator has blocked the account that the acting application belongs to. */
  developer_blocked: boolean;
};

const SELECT = `
  SELECT hidden.application_id, hidden.client_id, hidden.account_id, hidden.name, hidden.status,
         hidden.revocation_epoch, connections.resource, connections.scope, 
         CAST(floor(extract(epoch FROM connections.expires_at - now())) AS bigint) AS left_sec,
         EXISTS (SELECT FROM team_members JOIN teams USING (team_id)
           WHERE team_members.account_id = connections.account_id AND NOT allows_applications) AS is_forbidden,
         acting.client_id AS acting_client_id, acting.status AS acting_status,
         acting.token_lifespan_sec AS acting_lifespan_sec,
         developer.blocked_at IS NOT NULL AS developer_blocked
  FROM connections
  JOIN applications AS hidden USING (application_id)
  JOIN applications AS acting ON acting.application_id = connections.client_application_id
  LEFT JOIN accounts AS developer ON developer.account_id = acting.account_id`;

/** Serializes refreshes with the connection's end: whichever comes second sees the other. */
export async function lockConnectionOfClient(
  query: Query,
  connectionClientId: string,
): Promise<Connection | undefined> {
  const rows = await query<Connection>(
    `${SELECT} WHERE hidden.client_id = :connectionClientId FOR UPDATE OF hidden`,
    { connectionClientId },
  );
  return rows[0];
}

/** Undefined if it isn't the account's. */
export async function lockConnection(
  query: Query,
  { application_id, account_id }: { application_id: number; account_id: number },
): Promise<Connection | undefined> {
  const rows = await query<Connection>(
    `${SELECT} WHERE hidden.application_id = :application_id AND connections.account_id = :account_id
     FOR UPDATE OF hidden`,
    { application_id, account_id },
  );
  return rows[0];
}

export type NewConnection = {
  account_id: number;
  client_id: string;
  name: string;
  token_lifespan_sec: number;
  client_application_id: number;
  scope: string;
  resource: string | null;
  redirect_host: string | null;
  lifetimeSec: number;
};

export async function insertConnection(
  query: Query,
  made: NewConnection,
): Promise<{ application_id: number; revocation_epoch: number }> {
  const rows = await query<{ application_id: number; revocation_epoch: number }>(
    `WITH hidden AS (
       INSERT INTO applications (account_id, name, type, token_lifespan_sec, client_id)
       VALUES (:account_id, :name, 'connection', :token_lifespan_sec, :client_id)
       RETURNING application_id, revocation_epoch
     ), connection AS (
       INSERT INTO connections
         (application_id, client_application_id, account_id, scope, resource, redirect_host, expires_at)
       SELECT application_id, :client_application_id, :account_id, :scope, :resource, :redirect_host,
         now() + :lifetimeSec * interval '1 second' FROM hidden
     )
     SELECT application_id, revocation_epoch FROM hidden`,
    made,
  );
  return singleRow(rows);
}

/** The account's live connections to an application beyond the newest `kept`, locked. */
export async function lockSurplus(
  query: Query,
  of: { account_id: number; client_application_id: number; kept: number },
): Promise<Connection[]> {
  return query<Connection>(
    `${SELECT} WHERE hidden.application_id IN (
       SELECT application_id FROM connections JOIN applications USING (application_id)
       WHERE connections.account_id = :account_id AND client_application_id = :client_application_id
         AND status = 'active'
       ORDER BY application_id DESC OFFSET :kept)
     ORDER BY hidden.application_id FOR UPDATE OF hidden`,
    of,
  );
}

export type RefreshToken = {
  has_expired: boolean;
  /** Null if it is the family's newest. */
  nonce: string | null;
  /** Rotated within REPEATED_REFRESH_SEC, and the successor wasn't presented yet. */
  may_repeat: boolean;
};

export async function findRefreshToken(
  query: Query,
  {
    application_id,
    token_hash,
    repeatedSec,
  }: { application_id: number; token_hash: string; repeatedSec: number },
): Promise<RefreshToken | undefined> {
  const rows = await query<RefreshToken>(
    `SELECT presented.expires_at <= now() AS has_expired, presented.nonce,
            coalesce(presented.rotated_at > clock_timestamp() - :repeatedSec * interval '1 second'
              AND successor.rotated_at IS NULL, false) AS may_repeat
     FROM refresh_tokens AS presented
     LEFT JOIN refresh_tokens AS successor ON successor.token_hash = presented.successor_hash
     WHERE presented.token_hash = :token_hash AND presented.application_id = :application_id`,
    { application_id, token_hash, repeatedSec },
  );
  return rows[0];
}

export async function insertRefreshToken(
  query: Query,
  made: { application_id: number; token_hash: string; idleSec: number },
): Promise<void> {
  await query(
    `INSERT INTO refresh_tokens (token_hash, application_id, expires_at)
     SELECT :token_hash, application_id, least(expires_at, now() + :idleSec * interval '1 second')
     FROM connections WHERE application_id = :application_id`,
    made,
  );
}

export async function noteRotation(
  query: Query,
  rotated: { token_hash: string; nonce: string; successor_hash: string },
): Promise<void> {
  await query(
    `UPDATE refresh_tokens SET rotated_at = clock_timestamp(), nonce = :nonce, successor_hash = :successor_hash
     WHERE token_hash = :token_hash`,
    rotated,
  );
}

/** Keeps the newest `kept` of `keptSec`: a reuse is found among those. */
export async function removeLongRotated(
  query: Query,
  of: { application_id: number; keptSec: number; kept: number },
): Promise<void> {
  await query(
    `DELETE FROM refresh_tokens
     WHERE application_id = :application_id AND rotated_at <= greatest(
       now() - :keptSec * interval '1 second',
       (SELECT rotated_at FROM refresh_tokens
        WHERE application_id = :application_id AND rotated_at IS NOT NULL
        ORDER BY rotated_at DESC OFFSET :kept LIMIT 1))`,
    of,
  );
}

/** All access tokens below the returned epoch are dead, and no refresh token works, so none is kept. */
export async function setEnded(query: Query, applicationId: number): Promise<number> {
  await query('DELETE FROM refresh_tokens WHERE application_id = :applicationId', { applicationId });
  const rows = await query<{ revocation_epoch: number }>(
    `UPDATE applications SET status = 'revoked', revocation_epoch = revocation_epoch + 1
     WHERE application_id = :applicationId RETURNING revocation_epoch`,
    { applicationId },
  );
  return singleRow(rows).revocation_epoch;
}

export type ListedConnection = {
  connection_id: number;
  name: string;
  client_id: string;
  developer: string | null;
  is_verified: boolean;
  redirect_host: string | null;
  scope: string;
  created_at: Date;
  last_used_at: Date | null;
  expires_at: Date;
  points_usage: number;
};

/** Each token is issued with a refresh token, so that its row tells how long the access token lives at most. */
const HAS_LIVE_TOKEN = `hidden.status = 'active' AND connections.expires_at > now()
  AND EXISTS (SELECT FROM refresh_tokens WHERE refresh_tokens.application_id = hidden.application_id
    AND (rotated_at IS NULL AND refresh_tokens.expires_at > now()
      OR issued_at > now() - ${String(DELEGATED_TOKEN_LIFESPAN_MAX_SEC)} * interval '1 second'))`;

const LISTED = `hidden.application_id AS connection_id, acting.name,
  coalesce(document_url, CAST(acting.client_id AS text)) AS client_id, developer.name AS developer,
  acting.verified_at IS NOT NULL AS is_verified, connections.redirect_host, connections.scope,
  connections.created_at, uses.last_used_at, connections.expires_at`;

const LISTED_FROM = `connections
  JOIN applications AS hidden USING (application_id)
  JOIN applications AS acting ON acting.application_id = connections.client_application_id
  LEFT JOIN accounts AS developer ON developer.account_id = acting.account_id
  LEFT JOIN client_registrations ON client_registrations.application_id = acting.application_id
  LEFT JOIN application_uses AS uses ON uses.application_id = hidden.application_id`;

/** Live ones, newest first. Points are those of the hours that are kept. */
export function listConnections(query: Query, accountId: number): Promise<ListedConnection[]> {
  return query<ListedConnection>(
    `SELECT ${LISTED}, coalesce(usage.points, 0) AS points_usage
     FROM ${LISTED_FROM}
     LEFT JOIN (
       SELECT application_id, CAST(sum(points) AS bigint) AS points FROM usage_hourly
       WHERE account_id = :accountId AND hour >= now() - interval '30 days' GROUP BY application_id
     ) AS usage ON usage.application_id = hidden.application_id
     WHERE connections.account_id = :accountId AND ${HAS_LIVE_TOKEN}
     ORDER BY hidden.application_id DESC`,
    { accountId },
  );
}

export type TeamConnection = ListedConnection & { account_id: number; member_name: string };

/** Of everyone in the team. */
export function listTeamConnections(query: Query, teamId: number, page: Page): Promise<TeamConnection[]> {
  return query<TeamConnection>(
    `SELECT ${LISTED}, member.account_id, member.name AS member_name,
            (SELECT CAST(coalesce(sum(points), 0) AS bigint) FROM usage_hourly
             WHERE usage_hourly.account_id = member.account_id AND hour >= now() - interval '30 days'
               AND usage_hourly.application_id = hidden.application_id) AS points_usage
     FROM ${LISTED_FROM}
     JOIN team_members ON team_members.account_id = connections.account_id
     JOIN accounts AS member ON member.account_id = connections.account_id
     WHERE team_id = :teamId AND hidden.application_id < :before AND ${HAS_LIVE_TOKEN}
     ORDER BY hidden.application_id DESC LIMIT :limit`,
    { ...page, teamId },
  );
}

/** Whose it is; undefined if no one of the team has it. */
export async function findTeamConnection(
  query: Query,
  { application_id, team_id }: { application_id: number; team_id: number },
): Promise<{ account_id: number } | undefined> {
  const rows = await query<{ account_id: number }>(
    `SELECT account_id FROM connections JOIN team_members USING (account_id)
     WHERE application_id = :application_id AND team_id = :team_id`,
    { application_id, team_id },
  );
  return rows[0];
}
