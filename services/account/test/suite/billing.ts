import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { periodAt, secondAfter } from '../../src/billing/periods/calendar.ts';
import type { Subscription } from '../../src/billing/subscriptions/store.ts';
import { operatePath } from './operator.ts';

const DAY_MS = 86_400_000;

type Account = Pick<ServiceProcess, 'privateUrl'>;

/** Sends a request that must succeed, and returns the response's body. */
export async function done<Body>(
  account: Account,
  method: string,
  path: string,
  body?: unknown,
): Promise<Body> {
  const answer = await operatePath(account, method, path, body);
  if (answer.status >= 300) {
    throw new Error(`${method} ${path}: ${String(answer.status)} ${JSON.stringify(answer.body)}`);
  }
  return answer.body as Body;
}

export async function makePlan(account: Account, changes: Record<string, unknown> = {}): Promise<number> {
  const wanted = { name: randomUUID(), description: { points_limit: 1_000 }, ...changes };
  return (await done<{ plan_id: number }>(account, 'POST', '/private/plans', wanted)).plan_id;
}

export async function makeAccount(account: Account): Promise<number> {
  const wanted = { email: `${randomUUID()}@example.com`, name: 'Someone' };
  return (await done<{ account_id: number }>(account, 'POST', '/private/accounts', wanted)).account_id;
}

export type MadeSubscription = { subscription_id: number; account_id: number; path: string; anchor: string };

/** A monthly subscription, of a new account unless one is named. */
export async function subscribe(
  account: Account,
  plan_id: number,
  changes: Record<string, unknown> = {},
): Promise<MadeSubscription> {
  const account_id = changes['account_id'] ?? (await makeAccount(account));
  const wanted = { account_id, plan_id, billing_interval: 'month', ...changes };
  const made = await done<Omit<MadeSubscription, 'path'>>(account, 'POST', '/private/subscriptions', wanted);
  return { ...made, path: `/private/subscriptions/${String(made.subscription_id)}` };
}

export type ShownPeriod = {
  period_id: number;
  plan_id: number;
  plan_name: string;
  subscription_id: number | null;
  started_at: string;
  ended_at: string;
  grace_sec: number;
  team_slots_limit: number | null;
  blocked_at: string | null;
  description: Record<string, unknown>;
  status: string | null;
};

/** By start. */
export async function periodsOf(account: Account, accountId: number): Promise<ShownPeriod[]> {
  const path = `/private/periods?account_id=${String(accountId)}&limit=200`;
  const { periods } = await done<{ periods: ShownPeriod[] }>(account, 'GET', path);
  return periods.toSorted((one, other) => one.started_at.localeCompare(other.started_at));
}

/** Moves subscriptions in their first period into the past, as if they had been bought `days` earlier. */
export async function age(database: Knex, subscriptionIds: readonly number[], days: number): Promise<void> {
  await database.transaction(async (transaction) => {
    const bought = await transaction('subscriptions')
      .whereIn('subscription_id', subscriptionIds)
      // The same order of locks as everywhere: the subscription first.
      .forUpdate()
      .select<Pick<Subscription, 'subscription_id' | 'anchor' | 'billing_interval'>[]>();
    for (const { subscription_id, anchor: before, billing_interval } of bought) {
      const anchor = new Date(before.getTime() - days * DAY_MS);
      const { ended_at } = periodAt(anchor, billing_interval, anchor);
      const renews_at = secondAfter({ ended_at });
      await transaction('billing_periods')
        .where({ subscription_id })
        .update({ started_at: anchor, ended_at });
      await transaction('subscriptions').where({ subscription_id }).update({ anchor, renews_at });
    }
  });
}
