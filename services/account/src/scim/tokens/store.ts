import { accessTokenHash, newAccessToken, parseAccessToken } from '@tollgate/credentials/access-token';
import { randomUUID } from 'node:crypto';
import { singleRow } from '../../platform/database/single-row.ts';
import type { Query } from '../../platform/database/query.ts';

/** A directory's token, of an access token's shape under a prefix of its own. Stored as SHA-256. */

const PREFIX = 'tgscim';

export type ScimToken = {
  scim_token_id: number;
  created_at: Date;
  expires_at: Date;
  /** To the minute. */
  last_used_at: Date | null;
  last_error_at: Date | null;
  last_error: string | null;
};

const COLUMNS = 'scim_token_id, created_at, expires_at, last_used_at, last_error_at, last_error';

const MAX_ERROR_CHARACTERS = 500;

export async function insertScimToken(
  query: Query,
  { team_id, lifespanDays }: { team_id: number; lifespanDays: number },
): Promise<{ made: ScimToken; token: string }> {
  const token = newAccessToken(PREFIX, randomUUID());
  const rows = await query<ScimToken>(
    `INSERT INTO scim_tokens (team_id, token_hash, expires_at)
     VALUES (:team_id, :token_hash, now() + :lifespanDays * interval '1 day') RETURNING ${COLUMNS}`,
    { team_id, token_hash: accessTokenHash(token), lifespanDays },
  );
  return { made: singleRow(rows), token };
}

export function listScimTokens(query: Query, teamId: number): Promise<ScimToken[]> {
  return query<ScimToken>(
    `SELECT ${COLUMNS} FROM scim_tokens WHERE team_id = :teamId AND expires_at > now() ORDER BY scim_token_id DESC`,
    { teamId },
  );
}

export async function deleteScimToken(
  query: Query,
  key: { team_id: number; scim_token_id: number },
): Promise<boolean> {
  const rows = await query(
    'DELETE FROM scim_tokens WHERE team_id = :team_id AND scim_token_id = :scim_token_id RETURNING 1',
    key,
  );
  return rows.length > 0;
}

export async function deleteScimTokens(query: Query, teamId: number): Promise<void> {
  await query('DELETE FROM scim_tokens WHERE team_id = :teamId', { teamId });
}

/** Whose a live token is. What can't be a token costs no query. */
export async function findTeamOfToken(
  query: Query,
  token: string,
): Promise<{ scim_token_id: number; team_id: number } | undefined> {
  if (parseAccessToken(token, PREFIX) === null) return undefined;
  const rows = await query<{ scim_token_id: number; team_id: number; is_stale: boolean }>(
    `SELECT scim_token_id, team_id, coalesce(last_used_at < now() - interval '1 minute', true) AS is_stale
     FROM scim_tokens WHERE token_hash = :token_hash AND expires_at > now()`,
    { token_hash: accessTokenHash(token) },
  );
  const [found] = rows;
  if (found === undefined) return undefined;
  const { is_stale, ...key } = found;
  if (is_stale) {
    await query('UPDATE scim_tokens SET last_used_at = now() WHERE scim_token_id = :scim_token_id', key);
  }
  return key;
}

export async function noteError(query: Query, scimTokenId: number, text: string): Promise<void> {
  await query(
    `UPDATE scim_tokens SET last_error_at = now(), last_error = left(:text, ${String(MAX_ERROR_CHARACTERS)})
     WHERE scim_token_id = :scimTokenId`,
    { scimTokenId, text },
  );
}

/** The days before a token's end at which the manager is mailed. */
const WARNINGS_DAYS = [30, 7, 1];

/** The next token whose warning is due. Every replica may ask: one takes it. */
export async function takeDueWarning(
  query: Query,
): Promise<{ scim_token_id: number; team_id: number; days: number } | undefined> {
  const rows = await query<{ scim_token_id: number; team_id: number; days: number }>(
    `WITH due AS (
       SELECT scim_token_id, (
         SELECT min(days) FROM unnest(CAST(:warnings AS integer[])) AS days
         WHERE expires_at <= now() + days * interval '1 day') AS days
       FROM scim_tokens
       WHERE expires_at > now() AND expires_at <= now() + interval '30 days'
         -- A token with a shorter life is warned of from the step that it begins in.
         AND expires_at - created_at > interval '1 day'
     ), taken AS (
       SELECT scim_tokens.scim_token_id, due.days FROM scim_tokens JOIN due USING (scim_token_id)
       WHERE warned_days IS NULL OR warned_days > due.days
       ORDER BY scim_token_id LIMIT 1 FOR UPDATE OF scim_tokens SKIP LOCKED
     )
     UPDATE scim_tokens SET warned_days = taken.days FROM taken
     WHERE scim_tokens.scim_token_id = taken.scim_token_id
     RETURNING scim_tokens.scim_token_id, team_id, taken.days`,
    { warnings: WARNINGS_DAYS },
  );
  return rows[0];
}
