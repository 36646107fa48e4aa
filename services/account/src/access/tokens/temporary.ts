import { randomUUID } from 'node:crypto';
import { Problem } from '@tollgate/http/problem';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import type { Query } from '../../platform/database/query.ts';
import type { NewClientChange } from '../client-changes/store.ts';
import { issueFor, recordToken, revokeOf } from './changes.ts';
import type { TokenOwner, TokenSettings } from './changes.ts';
import { TEMPORARY_TOKEN_LIFESPAN_SEC } from './rules.ts';
import { unsealToken } from './sealing.ts';
import { LIVE } from '../applications/live-tokens.ts';
import type { SealedTokenRow } from './store.ts';

/** The token belongs to a hidden application without a client secret, one per account. */

export type TemporaryToken = { access_token: string; expires_at: Date };

const NAME = 'Temporary token';

const TOKEN_COLUMNS = `token_id, access_tokens.application_id, access_tokens.name, token_hash, sealing_key_id,
  sealed_nonce, sealed_token, access_tokens.revocation_epoch, issued_at, expires_at, revoked_at, last_used_at`;

const OWNER_COLUMNS = 'application_id, account_id, client_id, status, revocation_epoch, token_lifespan_sec';

/** @throws {Problem} not_found, account_blocked */
export async function requireAccount(query: Query, accountId: number): Promise<void> {
  const rows = await query<{ blocked_at: Date | null }>(
    'SELECT blocked_at FROM accounts WHERE account_id = :accountId',
    { accountId },
  );
  const [account] = rows;
  if (account === undefined) throw new Problem('not_found');
  if (account.blocked_at !== null) throw new Problem('account_blocked');
}

/** Undefined if none is live. */
export async function temporaryTokenEnd(query: Query, accountId: number): Promise<Date | undefined> {
  return (await findLive(query, accountId))?.expires_at;
}

/** Concurrent requests get the same token. */
export async function makeTemporaryToken(
  query: Query,
  accountId: number,
  settings: TokenSettings,
  by: Actor,
): Promise<TemporaryToken & { pending: NewClientChange | null }> {
  const owner = await lockTemporaryApplication(query, accountId);
  const live = await findLive(query, accountId);
  if (live !== undefined) {
    await recordToken(query, owner, live, 'token_copied', by);
    const access_token = unsealToken(live, live, settings.sealingKeys);
    return { access_token, expires_at: live.expires_at, pending: null };
  }
  const { token, access_token, pending } = await issueFor(query, owner, NAME, settings, by);
  return { access_token, expires_at: token.expires_at, pending };
}

/** Null if none is live. */
export async function revokeTemporaryToken(
  query: Query,
  accountId: number,
  by: Actor,
): Promise<NewClientChange | null> {
  return revokeLive(query, await lockTemporaryApplication(query, accountId), by);
}

/**
 * With the sessions that could have handed it out (docs/design/identity.md). Null if there is none. The account is
 * locked, which a request that makes a token waits for.
 */
export async function endTemporaryToken(
  query: Query,
  accountId: number,
  by: Actor,
): Promise<NewClientChange | null> {
  const [owner] = await query<TokenOwner>(
    `SELECT ${OWNER_COLUMNS} FROM applications WHERE account_id = :accountId AND type = 'temporary' FOR UPDATE`,
    { accountId },
  );
  return owner === undefined ? null : revokeLive(query, owner, by);
}

/** With the unique index, concurrent requests wait for the one that inserts. Old tokens stay dead. */
async function lockTemporaryApplication(query: Query, account_id: number): Promise<TokenOwner> {
  const rows = await query<TokenOwner>(
    `INSERT INTO applications (account_id, name, type, token_lifespan_sec, client_id)
     VALUES (:account_id, :name, 'temporary', :token_lifespan_sec, :client_id)
     ON CONFLICT (account_id) WHERE type = 'temporary'
       DO UPDATE SET status = 'active', token_lifespan_sec = excluded.token_lifespan_sec
     RETURNING ${OWNER_COLUMNS}`,
    {
      account_id,
      name: NAME,
      token_lifespan_sec: TEMPORARY_TOKEN_LIFESPAN_SEC,
      client_id: randomUUID(),
    },
  );
  return singleRow(rows);
}

async function revokeLive(query: Query, owner: TokenOwner, by: Actor): Promise<NewClientChange | null> {
  const live = await findLive(query, owner.account_id);
  return live === undefined ? null : (await revokeOf(query, owner, live, by)).pending;
}

async function findLive(query: Query, accountId: number): Promise<SealedTokenRow | undefined> {
  const rows = await query<SealedTokenRow>(
    `SELECT ${TOKEN_COLUMNS} FROM access_tokens
     JOIN applications ON applications.application_id = access_tokens.application_id
     WHERE applications.account_id = :accountId AND applications.type = 'temporary' AND ${LIVE}
     ORDER BY token_id DESC LIMIT 1`,
    { accountId, now: new Date() },
  );
  return rows[0];
}
