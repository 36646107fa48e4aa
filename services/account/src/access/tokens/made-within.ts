import { revokeLocked } from '../applications/changes.ts';
import { lockActiveApplications } from '../applications/store.ts';
import type { NewClientChange } from '../client-changes/store.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import { revokeOf } from './changes.ts';
import { issuedWithin } from './store.ts';

/**
 * Revokes the applications of an account that were created within a time, hidden ones included, and the manual tokens
 * that older applications got in it. `until` null: up to now. The account is locked, so that no application is added.
 */
export async function revokeMadeWithin(
  query: Query,
  accountId: number,
  { from, until }: { from: Date; until: Date | null },
  by: Actor,
): Promise<NewClientChange[]> {
  const pending: NewClientChange[] = [];
  for (const application of await lockActiveApplications(query, accountId)) {
    const { application_id, created_at } = application;
    if (created_at >= from && (until === null || created_at <= until)) {
      pending.push((await revokeLocked(query, application, by)).pending);
      continue;
    }
    const owner = { ...application, account_id: accountId };
    for (const token of await issuedWithin(query, application_id, { from, until, now: new Date() })) {
      pending.push((await revokeOf(query, owner, token, by)).pending);
    }
  }
  return pending;
}
