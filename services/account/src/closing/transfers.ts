import type { LockInstant } from '../billing/credits/changes.ts';
import { lockHolder } from '../billing/credits/store.ts';
import type { Query } from '../platform/database/query.ts';
import { grantAtClosing } from './grant.ts';
import { hasEnded } from './settle.ts';
import { lockAccountIfFree } from './store.ts';
import type { Grant } from './store.ts';

/**
 * Locks the accounts that get something at a cut, with the positions of their streams, before anything that counting may
 * wait for. False if another transaction has locked one.
 */
export async function lockReceivers(
  query: Query,
  lockInstant: LockInstant,
  grants: readonly Grant[],
  at: Date,
): Promise<boolean> {
  for (const { transfer_to } of grants.filter((grant) => hasEnded(grant, at))) {
    if (transfer_to === null) continue;
    if (!(await lockAccountIfFree(query, transfer_to))) return false;
    await lockInstant(query, transfer_to);
  }
  return true;
}

/**
 * Grants what was left of a transferred grant to the other account, until the same time. Nothing if it expires before,
 * or if that account is erased.
 */
export async function giveOn(
  query: Query,
  lockInstant: LockInstant,
  grant: Grant,
  points: number,
): Promise<void> {
  const { credit_id, transfer_to: account_id, expires_at, priority, purchase_id } = grant;
  if (account_id === null || points === 0 || !(await lockHolder(query, account_id))) return;
  if (expires_at !== null && expires_at <= new Date(await lockInstant(query, account_id))) return;
  await grantAtClosing(
    query,
    lockInstant,
    {
      account_id,
      points,
      source: 'purchase',
      priority,
      effective_at: null,
      expires_at,
      note: null,
      purchase_id,
    },
    `transfer:${String(credit_id)}`,
  );
}
