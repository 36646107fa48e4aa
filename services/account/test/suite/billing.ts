import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { Knex } from 'knex';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { periodAt, secondAfter } from '../../src/billing/periods/calendar.ts';
import type { Subscription } from '../../src/billing/subscriptions/store.ts';
import { newOwner } from './console.ts';
import type { Owner } from './console.ts';
import { operatePath, operatorCredentials } from './operator.ts';
import { startPeople } from './people.ts';
import type { PeopleUnderTest } from './people.ts';

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

/** A plan in the catalogue, for months and years. */
export async function makePublicPlan(
  account: Account,
  description: Record<string, unknown>,
  entry: Record<string, unknown> = {},
): Promise<number> {
  const planId = await makePlan(account, { name: `Public ${randomUUID()}`, description });
  const prices = { price_month: '€1 per month', price_year: '€10 per year' };
  await done(account, 'POST', `/private/plans/${String(planId)}/publish`, { ...prices, ...entry });
  return planId;
}

export type Shown = {
  status: string;
  payer: { account_id: number };
  billing_period: { period_id: number; plan_id: number; started_at: string; ended_at: string } | null;
  subscription: Record<string, unknown> | null;
  team_slots: Record<string, unknown> | null;
};

/** GET /api/console/subscription. */
export async function shownTo({ browser }: Pick<Owner, 'browser'>): Promise<Shown> {
  const { status, body } = await browser.request('GET', '/subscription');
  expect(status).toBe(200);
  return body as Shown;
}

type Preview = {
  period_id: number | null;
  now: Times | null;
  is_charged: boolean;
  period_end: Times | null;
};
type Times = { started_at: string; ended_at: string };

export async function previewFor(
  { browser }: Pick<Owner, 'browser'>,
  plan_id: number,
  interval = 'month',
): Promise<Preview> {
  const path = `/subscription/preview?plan_id=${String(plan_id)}&billing_interval=${interval}`;
  const { status, body } = await browser.request('GET', path);
  expect(status).toBe(200);
  return body as Preview;
}

/** Subscribes to, or changes to, what the preview of the moment shows. */
export async function order(
  owner: Pick<Owner, 'browser'>,
  plan_id: number,
  { effective, interval = 'month' }: { effective?: 'now' | 'period_end'; interval?: string } = {},
) {
  const { period_id } = await previewFor(owner, plan_id, interval);
  const wanted = { plan_id, billing_interval: interval, period_id };
  return effective === undefined
    ? owner.browser.request('POST', '/subscription', wanted)
    : owner.browser.request('POST', '/subscription/change-plan', { ...wanted, effective });
}

/** account with everything self-service, and two public plans with additional team slots. */
export async function startShop(): Promise<{ suite: PeopleUnderTest; small: number; large: number }> {
  const suite = await startPeople({
    OPERATOR_CREDENTIALS: operatorCredentials,
    SELF_SERVICE: 'subscribe, change, cancel, slots',
    CONTACT_SALES_URL: 'mailto:sales@example.com',
  });
  const slots = { team_slot_price: '€5 per month', team_slots_max: 10 };
  const { account } = suite;
  return {
    suite,
    small: await makePublicPlan(account, { points_limit: 1_000, team_slots_limit: 3 }, slots),
    large: await makePublicPlan(account, { points_limit: 9_000, team_slots_limit: 8 }, slots),
  };
}

export async function subscriber(suite: PeopleUnderTest, plan: number): Promise<Owner> {
  const owner = await newOwner(suite);
  const { status, text } = await order(owner, plan);
  if (status !== 201) throw new Error(text);
  return owner;
}

/** Who subscribed some days ago. */
export async function agedSubscriber(suite: PeopleUnderTest, plan: number, days: number): Promise<Owner> {
  const owner = await subscriber(suite, plan);
  const { account_id } = owner;
  const ids = await suite.database('subscriptions').where({ account_id }).pluck<number[]>('subscription_id');
  await age(suite.database, ids, days);
  return owner;
}

export const setSlots = ({ browser }: Pick<Owner, 'browser'>, team_slots_limit: number) =>
  browser.request('PUT', '/subscription/team-slots', { team_slots_limit });
