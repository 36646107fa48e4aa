import { accessTokenHash, newAccessToken } from '@tollgate/credentials/access-token';
import { Problem } from '@tollgate/http/problem';
import { isOwned } from '../applications/application.ts';
import type { ApplicationKey } from '../applications/application.ts';
import { countLive } from '../applications/live-tokens.ts';
import { lockApplication } from '../applications/store.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import type { Change } from '../../platform/audit/change.ts';
import type { Query } from '../../platform/database/query.ts';
import { enqueueClientChange } from '../client-changes/store.ts';
import type { NewClientChange } from '../client-changes/store.ts';
import type { SealingKey } from '../../platform/sealing/sealing.ts';
import { lifetimeFrom, tokenStatus } from './rules.ts';
import { sealToken, unsealToken } from './sealing.ts';
import { findToken, insertToken, setRevoked } from './store.ts';
import type { SealedTokenRow, TokenRow } from './store.ts';

/** The application is locked, which serializes changes of it and its tokens. */

const ISSUED = ['token_id', 'application_id', 'name', 'issued_at', 'expires_at'] as const;

export type TokenSettings = {
  tokenPrefix: string;
  sealingKeys: readonly SealingKey[];
  maxTokensPerApplication: number;
};

export type TokenKey = ApplicationKey & { token_id: number };

export type TokenOwner = {
  application_id: number;
  account_id: number;
  client_id: string;
  status: string;
  revocation_epoch: number;
  token_lifespan_sec: number;
};

export type Issued = { token: TokenRow; access_token: string; pending: NewClientChange };
export type TokenChange = { token: TokenRow; owner: TokenOwner; pending: NewClientChange };

/** @throws {Problem} not_found, application_revoked, token_limit_reached */
export async function issueToken(
  query: Query,
  wanted: ApplicationKey & { name: string },
  settings: TokenSettings,
  by: Actor,
): Promise<Issued> {
  const owner = await lockOwner(query, wanted);
  if (owner.status !== 'active') throw new Problem('application_revoked');
  if ((await countLive(query, owner.application_id, new Date())) >= settings.maxTokensPerApplication) {
    const detail = `The application has ${String(settings.maxTokensPerApplication)} active tokens, which is the limit.`;
    throw new Problem('token_limit_reached', { detail });
  }
  return issueFor(query, owner, wanted.name, settings, by);
}

/** The application is locked, and may have one more token. */
export async function issueFor(
  query: Query,
  owner: TokenOwner,
  name: string,
  { tokenPrefix, sealingKeys }: Pick<TokenSettings, 'tokenPrefix' | 'sealingKeys'>,
  by: Actor,
): Promise<Issued> {
  const { application_id, client_id, revocation_epoch } = owner;
  const access_token = newAccessToken(tokenPrefix, client_id);
  const token_hash = accessTokenHash(access_token);
  const token = await insertToken(query, {
    application_id,
    name,
    token_hash,
    ...sealToken(access_token, { application_id, token_hash }, sealingKeys),
    revocation_epoch,
    // Read after the lock is held, so that the later of two tokens is the newer one.
    ...lifetimeFrom(new Date(), owner.token_lifespan_sec),
  });
  await recordToken(query, owner, token, 'token_issued', by, changeOf(ISSUED, null, token));
  return { token, access_token, pending: await enqueueClientChange(query, owner, { endsTokens: false }) };
}

/** @throws {Problem} not_found, token_not_active */
export async function copyToken(
  query: Query,
  id: TokenKey,
  sealingKeys: readonly SealingKey[],
  by: Actor,
): Promise<{ token: TokenRow; access_token: string }> {
  const owner = await lockOwner(query, id);
  const token = await foundToken(query, id);
  if (tokenStatus(token, owner, new Date()) !== 'Active') throw new Problem('token_not_active');
  const access_token = unsealToken(token, token, sealingKeys);
  await recordToken(query, owner, token, 'token_copied', by);
  return { token, access_token };
}

/** Repeating a revocation only tells auth again. @throws {Problem} not_found */
export async function revokeToken(query: Query, id: TokenKey, by: Actor): Promise<TokenChange> {
  const owner = await lockOwner(query, id);
  return revokeOf(query, owner, await foundToken(query, id), by);
}

/** The application is locked. */
export async function revokeOf(
  query: Query,
  owner: TokenOwner,
  token: SealedTokenRow,
  by: Actor,
): Promise<TokenChange> {
  const { token_hash } = token;
  const pending = await enqueueClientChange(query, owner, { endsTokens: true, tokenHash: token_hash });
  if (token.revoked_at !== null) return { token, owner, pending };
  const revoked_at = new Date();
  await setRevoked(query, token.token_id, revoked_at);
  const revoked = { ...token, revoked_at };
  await recordToken(query, owner, token, 'token_revoked', by, changeOf(['revoked_at'], token, revoked));
  return { token: revoked, owner, pending };
}

async function lockOwner(query: Query, { application_id, owner_id }: ApplicationKey): Promise<TokenOwner> {
  const application = await lockApplication(query, { application_id, owner_id });
  if (!isOwned(application)) throw new Problem('not_found');
  return application;
}

async function foundToken(query: Query, { application_id, token_id }: TokenKey): Promise<SealedTokenRow> {
  const token = await findToken(query, application_id, { token_id });
  if (token === undefined) throw new Problem('not_found');
  return token;
}

export async function recordToken(
  query: Query,
  { application_id, account_id }: TokenOwner,
  { token_id, name, expires_at }: TokenRow,
  action: 'token_issued' | 'token_copied' | 'token_revoked',
  by: Actor,
  change?: Change,
): Promise<void> {
  const details = { token_id, name, expires_at: expires_at.toISOString() };
  await recordAudit(query, { ...by, application_id, account_id, action, details, change });
}
