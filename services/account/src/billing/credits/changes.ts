import { createHash } from 'node:crypto';
import { MAX_TOTAL } from '@tollgate/contracts/usage-stream';
import { invalidFields } from '@tollgate/http/invalid-fields';
import { Problem } from '@tollgate/http/problem';
import { lockAccount } from '../../identity/accounts/account-store.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import type { Query } from '../../platform/database/query.ts';
import { hasExpired } from './credit.ts';
import type { Credit } from './credit.ts';
import type { VoidLedger } from './ledgers.ts';
import {
  clearNotes,
  findByKey,
  findCredit,
  findLiveCredits,
  insertCredit,
  insertReduction,
  issuePoints,
  lockCredit,
  lockHolder,
  markVoidRequested,
  sumPoints,
} from './store.ts';
import type { GrantKey, NewCredit } from './store.ts';

/**
 * The present instant in ms by Redis' clock, which dates usage. Until the transaction ends, no later usage of the payer
 * is counted. Call it with the account locked (docs/design/credits.md).
 */
export type LockInstant = (query: Query, payerId: number) => Promise<number>;

const GRANTED = [
  'credit_id',
  'account_id',
  'points',
  'source',
  'priority',
  'effective_at',
  'expires_at',
] as const;

const VOIDED = ['void_requested_at', 'transfer_to'] as const;

/** Without `effective_at`, usable at once. */
export type WantedCredit = Omit<NewCredit, 'effective_at' | 'usable_from'> & { effective_at: Date | null };

/** Whose key it is, and the key. */
export type IdempotencyKey = Pick<GrantKey, 'reporter' | 'idempotency_key'>;

/**
 * Grants points, once for a key. `query` is a transaction's.
 * @throws {Problem} invalid_request for the account or the times; idempotency_conflict; total_too_large
 */
export async function grantCredits(
  query: Query,
  lockInstant: LockInstant,
  wanted: WantedCredit,
  key: IdempotencyKey,
  by: Actor,
): Promise<{ credit: Credit; repeated: boolean }> {
  const keyed = { ...key, content_hash: contentHash(wanted) };
  const before = await findRepeated(query, keyed);
  if (before !== undefined) return { credit: before, repeated: true };
  const { account_id, points } = wanted;
  if (!(await lockHolder(query, account_id))) {
    throw invalidFields([{ field: 'account_id', message: 'there is no such account' }]);
  }
  await refuseTooMany(query, account_id, points);
  const nowMs = await lockInstant(query, account_id);
  const made = await insertCredit(query, { ...wanted, ...timesOf(wanted, nowMs), ...keyed });
  if (made === undefined) {
    const taken = await findRepeated(query, keyed);
    if (taken === undefined) throw new Error('a key is taken, and its grant does not exist');
    return { credit: taken, repeated: true };
  }
  await issuePoints(query, made, { at: new Date(nowMs), actor: by.actor });
  const { credit_id, source, effective_at, expires_at, purchase_id } = made;
  const details = { credit_id, points, source, effective_at, expires_at, purchase_id };
  const entry = { ...by, application_id: null, account_id, details };
  await recordAudit(query, { ...entry, action: 'credits_granted', change: changeOf(GRANTED, null, made) });
  return { credit: { ...made, points_remaining: points }, repeated: false };
}

/**
 * Ends the use of a grant now. How much was left is settled once usage before this instant is counted
 * (docs/design/credits.md). Changes nothing if there is nothing left, or if it is voided. `query` is a transaction's.
 * @throws {Problem} not_found
 */
export async function voidCredit(
  query: Query,
  lockInstant: LockInstant,
  creditId: number,
  void_to: VoidLedger,
  by: Actor,
): Promise<Credit> {
  const found = await findCredit(query, creditId);
  if (found === undefined) throw new Problem('not_found');
  const { account_id } = found;
  await lockAccount(query, account_id);
  const nowMs = await lockInstant(query, account_id);
  const credit = await lockCredit(query, creditId);
  if (credit.void_requested_at !== null || credit.points_remaining === 0 || hasExpired(credit, nowMs)) {
    return credit;
  }
  const voided = await markVoidRequested(query, creditId, { at: new Date(nowMs), void_to });
  const details = { credit_id: creditId, source: credit.source, to: void_to };
  const entry = { ...by, application_id: null, account_id, details };
  await recordAudit(query, { ...entry, action: 'credits_voided', change: changeOf(VOIDED, credit, voided) });
  return voided;
}

/**
 * Ends the use of a grant's last points now; those before them go on. As many of them are voided as turn out to be unused
 * once usage before this instant is counted. The account is locked; `query` is a transaction's.
 */
export async function reduceCredit(
  query: Query,
  lockInstant: LockInstant,
  { credit_id, account_id, source }: Pick<Credit, 'credit_id' | 'account_id' | 'source'>,
  points: number,
  by: Actor,
): Promise<void> {
  const at = new Date(await lockInstant(query, account_id));
  await insertReduction(query, { credit_id, account_id, at, points });
  const details = { credit_id, source, to: 'voided', points };
  await recordAudit(query, { ...by, action: 'credits_voided', application_id: null, account_id, details });
}

/**
 * Voids what is left of a grant that was bought, and gives it to another account with the same end. Both happen in the
 * transaction that settles the usage before this instant (docs/design/credits.md). Repeating it changes nothing. `query`
 * is a transaction's.
 * @throws {Problem} not_found; invalid_request for the account; credits_not_transferable; total_too_large
 */
export async function transferCredit(
  query: Query,
  lockInstant: LockInstant,
  creditId: number,
  toAccountId: number,
  by: Actor,
): Promise<Credit> {
  const found = await findCredit(query, creditId);
  if (found === undefined) throw new Problem('not_found');
  const { account_id, source } = found;
  const refused = (message: string) => invalidFields([{ field: 'account_id', message }]);
  if (account_id === toAccountId) throw refused('must be another account');
  // In the order of their IDs, so that two transfers can't wait for each other.
  for (const id of [account_id, toAccountId].toSorted((one, other) => one - other)) {
    if (id === account_id) await lockAccount(query, id);
    else if (!(await lockHolder(query, id))) throw refused('there is no such account');
  }
  const nowMs = await lockInstant(query, account_id);
  const credit = await lockCredit(query, creditId);
  if (credit.transfer_to === toAccountId) return credit;
  const isOver =
    credit.void_requested_at !== null || credit.points_remaining === 0 || hasExpired(credit, nowMs);
  if (source !== 'purchase' || isOver) throw new Problem('credits_not_transferable');
  await refuseTooMany(query, toAccountId, credit.points_remaining);
  const wanted = { at: new Date(nowMs), void_to: 'voided' as const, transfer_to: toAccountId };
  const transferred = await markVoidRequested(query, creditId, wanted);
  const details = { credit_id: creditId, source, to: 'voided', transfer_to: toAccountId };
  const entry = { ...by, application_id: null, account_id, details };
  const change = changeOf(VOIDED, credit, transferred);
  await recordAudit(query, { ...entry, action: 'credits_voided', change });
  return transferred;
}

/** @throws {Problem} total_too_large */
async function refuseTooMany(query: Query, accountId: number, points: number): Promise<void> {
  const { remaining, included } = await sumPoints(query, accountId);
  if (remaining + included + BigInt(points) > BigInt(MAX_TOTAL)) throw new Problem('total_too_large');
}

/**
 * Ends the use of all that an account has left, as it is erased, and clears the notes. The account is locked; `query` is
 * a transaction's.
 */
export async function forfeitCredits(
  query: Query,
  lockInstant: LockInstant,
  accountId: number,
  by: Actor,
): Promise<void> {
  await clearNotes(query, accountId);
  const live = await findLiveCredits(query, accountId);
  if (live.length === 0) return;
  const at = new Date(await lockInstant(query, accountId));
  for (const { credit_id, source } of live) {
    await markVoidRequested(query, credit_id, { at, void_to: 'forfeited' });
    const details = { credit_id, source, to: 'forfeited' };
    const entry = { ...by, application_id: null, account_id: accountId, details };
    await recordAudit(query, { ...entry, action: 'credits_voided' });
  }
}

async function findRepeated(query: Query, key: GrantKey): Promise<Credit | undefined> {
  const found = await findByKey(query, key);
  if (found === undefined) return undefined;
  const { content_hash, ...credit } = found;
  if (content_hash !== key.content_hash) throw new Problem('idempotency_conflict');
  return credit;
}

/** SHA-256 in base64url of the request's content, however it was written. */
function contentHash(wanted: WantedCredit): string {
  const { account_id, points, source, priority, effective_at, expires_at, note, purchase_id } = wanted;
  const content = [account_id, points, source, priority, effective_at, expires_at, note, purchase_id];
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url');
}

/** @throws {Problem} invalid_request */
function timesOf({ effective_at, expires_at }: WantedCredit, nowMs: number) {
  const nowSecond = new Date(nowMs - (nowMs % 1_000));
  const starts = effective_at ?? nowSecond;
  if (starts < nowSecond) {
    throw invalidFields([{ field: 'effective_at', message: 'must not be in the past' }]);
  }
  const usable_from = new Date(Math.max(nowMs, starts.getTime()));
  if (expires_at !== null && expires_at <= usable_from) {
    throw invalidFields([{ field: 'expires_at', message: 'must be after effective_at and in the future' }]);
  }
  return { effective_at: starts, usable_from };
}
