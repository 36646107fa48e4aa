import { singleRow } from '../../platform/database/single-row.ts';
import { HIDDEN_TYPES } from '../../platform/database/hidden-types.ts';
import type { Query } from '../../platform/database/query.ts';
import type { Page } from '../../http/input/page.ts';
import { LIVE } from '../applications/live-tokens.ts';
import { noteApplicationUses } from '../applications/uses.ts';
import type { SealedTable } from '../../platform/sealing/reseal.ts';
import type { TokenStatus } from './rules.ts';
import { tokenOwner } from './sealing.ts';
import type { SealedFor, SealedToken } from './sealing.ts';

/** Without the token itself. */
export type TokenRow = {
  token_id: number;
  application_id: number;
  name: string;
  revocation_epoch: number;
  issued_at: Date;
  expires_at: Date;
  revoked_at: Date | null;
  last_used_at: Date | null;
};

export type SealedTokenRow = TokenRow & SealedToken & { token_hash: string };

/** With what the token's status is derived from. */
export type ListedRow = TokenRow & {
  application_name: string;
  application_status: string;
  application_epoch: number;
};

/** Null means all. `search` is a part of the token's name, in either case. */
export type TokenFilter = Page & {
  status: TokenStatus | null;
  search: string | null;
  application_id: number | null;
};

/** `now` decides the statuses. */
type Wanted = TokenFilter & { now: Date };

const COLUMNS = `token_id, access_tokens.application_id, access_tokens.name, access_tokens.revocation_epoch,
  issued_at, expires_at, revoked_at, last_used_at`;

/** For the program `reseal`. */
export const SEALED_TOKENS: SealedTable<SealedFor> = {
  table: 'access_tokens',
  id: 'token_id',
  sealed: 'sealed_token',
  ownerColumns: ['application_id', 'token_hash'],
  ownerOf: tokenOwner,
};

export async function insertToken(
  query: Query,
  made: Omit<SealedTokenRow, 'token_id' | 'revoked_at' | 'last_used_at'>,
): Promise<TokenRow> {
  const rows = await query<TokenRow>(
    `INSERT INTO access_tokens (application_id, name, token_hash, sealing_key_id, sealed_nonce, sealed_token,
       revocation_epoch, issued_at, expires_at)
     VALUES (:application_id, :name, :token_hash, :sealing_key_id, :sealed_nonce, :sealed_token,
       :revocation_epoch, :issued_at, :expires_at)
     RETURNING ${COLUMNS}`,
    made,
  );
  return singleRow(rows);
}

export async function findToken(
  query: Query,
  applicationId: number,
  by: { token_id: number } | { token_hash: string },
): Promise<SealedTokenRow | undefined> {
  const column = 'token_id' in by ? 'token_id' : 'token_hash';
  const rows = await query<SealedTokenRow>(
    `SELECT ${COLUMNS}, token_hash, sealing_key_id, sealed_nonce, sealed_token FROM access_tokens
     WHERE application_id = :applicationId AND ${column} = :wanted`,
    { applicationId, wanted: 'token_id' in by ? by.token_id : by.token_hash },
  );
  return rows[0];
}

/** Live ones that were issued within a time; `until` null: up to now. */
export function issuedWithin(
  query: Query,
  applicationId: number,
  { from, until, now }: { from: Date; until: Date | null; now: Date },
): Promise<SealedTokenRow[]> {
  return query<SealedTokenRow>(
    `SELECT ${COLUMNS}, token_hash, sealing_key_id, sealed_nonce, sealed_token
     FROM access_tokens JOIN applications USING (application_id)
     WHERE access_tokens.application_id = :applicationId AND ${LIVE}
       -- Issued by the second.
       AND issued_at >= date_trunc('second', CAST(:from AS timestamptz)) AND (CAST(:until AS timestamptz) IS NULL OR issued_at <= :until)
     ORDER BY token_id`,
    { applicationId, from, until, now },
  );
}

export async function setRevoked(query: Query, tokenId: number, now: Date): Promise<void> {
  await query('UPDATE access_tokens SET revoked_at = :now WHERE token_id = :tokenId', { tokenId, now });
}

/** Newest first. */
export function listOfApplication(query: Query, applicationId: number, wanted: Wanted): Promise<ListedRow[]> {
  return list(query, 'applications.application_id = :id', applicationId, wanted);
}

/** Without deleted applications and temporary tokens. Newest first. */
export function listOfAccount(query: Query, accountId: number, wanted: Wanted): Promise<ListedRow[]> {
  return list(query, `applications.account_id = :id`, accountId, wanted);
}

/** The same rule as tokenStatus. */
const STATUS = `CASE
  WHEN applications.status <> 'active' OR revoked_at IS NOT NULL
    OR access_tokens.revocation_epoch < applications.revocation_epoch THEN 'Revoked'
  WHEN access_tokens.expires_at > :now THEN 'Active'
  ELSE 'Expired' END`;

function list(query: Query, whose: string, id: number, wanted: Wanted): Promise<ListedRow[]> {
  return query<ListedRow>(
    `SELECT ${COLUMNS}, applications.name AS application_name, applications.status AS application_status,
            applications.revocation_epoch AS application_epoch
     FROM access_tokens JOIN applications ON applications.application_id = access_tokens.application_id
     WHERE ${whose} AND applications.status <> 'deleted' AND applications.type NOT IN ${HIDDEN_TYPES}
       AND token_id < :before AND (CAST(:status AS text) IS NULL OR ${STATUS} = :status)
       AND (CAST(:application_id AS bigint) IS NULL OR access_tokens.application_id = :application_id)
       AND (CAST(:search AS text) IS NULL OR strpos(lower(access_tokens.name), lower(:search)) > 0)
     ORDER BY token_id DESC LIMIT :limit`,
    { ...wanted, id },
  );
}

/** A late report never moves the time back. */
export async function noteUses(
  query: Query,
  uses: readonly { token_hash: string; used_at: number }[],
): Promise<void> {
  const used = await query<{ application_id: number; last_used_at: Date }>(
    `UPDATE access_tokens SET last_used_at = greatest(last_used_at, to_timestamp(uses.used_at))
     FROM unnest(CAST(:hashes AS text[]), CAST(:times AS bigint[])) AS uses (token_hash, used_at)
     WHERE access_tokens.token_hash = uses.token_hash
     RETURNING application_id, last_used_at`,
    { hashes: uses.map(({ token_hash }) => token_hash), times: uses.map(({ used_at }) => used_at) },
  );
  await noteApplicationUses(
    query,
    used.map(({ application_id, last_used_at }) => ({ application_id, at_ms: last_used_at.getTime() })),
  );
}

/** Ordered by application id. */
export function clientsWithLiveTokens(
  query: Query,
  { after, limit }: { after: number; limit: number },
  now: Date,
): Promise<{ application_id: number; client_id: string }[]> {
  return query(
    `SELECT application_id, client_id FROM applications
     WHERE application_id > :after AND EXISTS (
       SELECT 1 FROM access_tokens
       WHERE access_tokens.application_id = applications.application_id AND ${LIVE})
     ORDER BY application_id LIMIT :limit`,
    { after, limit, now },
  );
}
