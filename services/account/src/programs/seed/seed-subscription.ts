import type { Actor } from '../../platform/audit/audit-log.ts';
import { lastEndFrom } from '../../billing/periods/period-store.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import type { Query } from '../../platform/database/query.ts';
import { createSubscription } from '../../billing/subscriptions/changes.ts';
import { lockLiveSubscription } from '../../billing/subscriptions/store.ts';

/** The actor in the audit log. */
export const SEED: Actor = { actor: 'seed', address: 'none', request_id: 'none' };

/** Monthly, unless the account has a subscription. An existing period runs out first. */
export async function seedSubscription(query: Query, account_id: number, plan_id: number): Promise<void> {
  const live = await lockLiveSubscription(query, account_id);
  const periodEnd = await lastEndFrom(query, account_id, await databaseNow(query));
  if (live !== undefined || periodEnd !== undefined) return;
  const wanted = { account_id, plan_id, billing_interval: 'month' as const, team_slots_limit: null };
  await createSubscription(query, wanted, SEED);
}
