import { resultOf } from '../api/client.ts';
import type { Api, Body, Query, Schemas } from '../api/client.ts';
import type { DemoAccount, DemoPlan } from './demonstration.ts';
import { DEMO_MEMBERS, DEMO_PLANS, DEMO_PRODUCT } from './demonstration.ts';
import { firstUsage, monthsBefore, pastPeriods, pastUsage } from './history.ts';
import type { PastPeriod, ReportedEvent } from './history.ts';
import { create, ensureAccount, ensureApplications, findOrCreate, itemsOf, placeOf } from './stack.ts';
import type { Account, Stack } from './stack.ts';

/** The accounts of a demonstration, each with its past. What is there already stays as it is. */

export type PlanIds = ReadonlyMap<string, number>;

/** The present period has used so much of its plan from its first second on. */
const FIRST_SHARE = 0.06;

/** A period by hand began so long before its account was made, and ends so long after. */
const BY_HAND_DAYS = { before: 12, after: 18 };

const DAY_MS = 86_400_000;

/** The demonstration's plans, by name. */
export async function ensurePlans(stack: Stack): Promise<PlanIds> {
  const { api } = stack;
  const { product_id } = await findOrCreate(
    async () => (await productsOf(stack)).find(({ name }) => name === DEMO_PRODUCT),
    () => resultOf(api.POST('/private/products', { body: { name: DEMO_PRODUCT } })),
  );
  const ids = new Map<string, number>();
  for (const plan of DEMO_PLANS) {
    const description: Body<'createPlan'>['description'] = plan.description;
    const { plan_id } = await findOrCreate(
      async () => (await plansOf(stack)).find(({ name }) => name === plan.name),
      () =>
        create(stack, 'plans', api.POST('/private/plans', { body: { ...plan, product_id, description } })),
    );
    ids.set(plan.name, plan_id);
  }
  return ids;
}

function productsOf({ api }: Stack): Promise<Schemas['Product'][]> {
  return itemsOf(
    api,
    {
      page: (asked: Api, query: Query<'listProducts'>) =>
        resultOf(asked.GET('/private/products', { params: { query } })),
      itemsOf: ({ products }) => products,
    },
    {},
  );
}

function plansOf({ api }: Stack): Promise<Schemas['Plan'][]> {
  return itemsOf(
    api,
    {
      page: (asked: Api, query: Query<'listPlans'>) =>
        resultOf(asked.GET('/private/plans', { params: { query } })),
      itemsOf: ({ plans }) => plans,
    },
    {},
  );
}

/** Makes an account with all that belongs to it, and gives its usage, to be reported. */
export async function ensureDemoAccount(
  stack: Stack,
  demo: DemoAccount,
  plans: PlanIds,
): Promise<{ account: Account; events: ReportedEvent[] }> {
  const account = await ensureAccount(stack, demo.email, demo.name);
  const { account_id } = account;
  const applicationIds = await ensureApplications(stack, account_id, demo.applications);
  const base = wholeSecond(account.created_at);
  const plan_id = plans.get(demo.plan.name) ?? 0;
  const periods = periodsOf(demo, base);
  await ensurePeriods(stack, account_id, plan_id, periods);
  const subscription = await ensureSubscription(stack, account_id, plan_id, demo);
  if (demo.scenario === 'blocked' && account.blocked_at === null) {
    await resultOf(
      stack.api.POST('/private/accounts/{account_id}/block', { params: { path: { account_id } } }),
    );
  }
  const pointsPerMonth = demo.plan.description.points_limit * demo.share;
  const events = [
    ...pastUsage({ ...spanOf(periods, base), account_id, applicationIds, pointsPerMonth, seed: demo.seed }),
    ...beginning(subscription?.anchor, account_id, applicationIds[0], demo),
  ];
  return { account, events };
}

/** From the first period's start to the last one's end, or to when the account was made. */
function spanOf(periods: readonly PastPeriod[], base: Date): { from: Date; to: Date } {
  const starts = periods.map(({ started_at }) => Date.parse(started_at));
  const ends = periods.map(({ ended_at }) => Date.parse(ended_at) + 1_000);
  return {
    from: new Date(Math.min(base.getTime(), ...starts)),
    to: new Date(Math.min(base.getTime(), Math.max(0, ...ends))),
  };
}

function periodsOf({ scenario, months }: DemoAccount, base: Date): PastPeriod[] {
  if (scenario === 'by hand') {
    const at = (days: number) => textOf(new Date(base.getTime() + days * DAY_MS));
    return [{ started_at: at(-BY_HAND_DAYS.before), ended_at: at(BY_HAND_DAYS.after) }];
  }
  // Long over: also its grace window is.
  if (scenario === 'ended') return pastPeriods(monthsBefore(base, 1), months);
  return pastPeriods(base, months);
}

async function ensurePeriods(
  stack: Stack,
  account_id: number,
  plan_id: number,
  periods: readonly PastPeriod[],
): Promise<void> {
  const present = await itemsOf(
    stack.api,
    {
      page: (api: Api, query: Query<'listPeriods'>) =>
        resultOf(api.GET('/private/periods', { params: { query } })),
      itemsOf: ({ periods: page }) => page,
    },
    { account_id },
  );
  const starts = new Set(present.map(({ started_at }) => Date.parse(started_at)));
  for (const period of periods.filter(({ started_at }) => !starts.has(Date.parse(started_at)))) {
    const body = { account_id, plan_id, ...period };
    await create(stack, 'periods', stack.api.POST('/private/periods', { body }));
  }
}

type Subscription = Schemas['Subscription'];

/** The account's first subscription, whatever has become of it since. */
async function ensureSubscription(
  stack: Stack,
  account_id: number,
  plan_id: number,
  { scenario }: DemoAccount,
): Promise<Subscription | undefined> {
  const present = await itemsOf(
    stack.api,
    {
      page: (api: Api, query: Query<'listSubscriptions'>) =>
        resultOf(api.GET('/private/subscriptions', { params: { query } })),
      itemsOf: ({ subscriptions }) => subscriptions,
    },
    { account_id },
  );
  if (present.length > 0 || ['by hand', 'ended', 'new'].includes(scenario)) return present.at(-1);
  const billing_interval = scenario === 'yearly' ? 'year' : 'month';
  const body = { account_id, plan_id, billing_interval } as const;
  const made = await create(stack, 'subscriptions', stack.api.POST('/private/subscriptions', { body }));
  if (scenario === 'cancelling') {
    const params = { path: { subscription_id: made.subscription_id } };
    const cancellation = { effective: 'period_end' } as const;
    await resultOf(
      stack.api.POST('/private/subscriptions/{subscription_id}/cancel', { params, body: cancellation }),
    );
  }
  return made;
}

/** The present period of a subscription isn't empty either. */
function beginning(
  anchor: string | undefined,
  account_id: number,
  application_id: number | undefined,
  { plan, seed }: { plan: DemoPlan; seed: number },
): ReportedEvent[] {
  if (anchor === undefined || application_id === undefined) return [];
  const points = plan.description.points_limit * FIRST_SHARE;
  return [firstUsage({ at: new Date(anchor), account_id, application_id, points, seed })];
}

/** The team of the demonstration's person, with members whose calls are billed to it. */
export async function ensureDemoTeam(
  stack: Stack,
  manager: Account,
  { plan }: DemoAccount,
): Promise<ReportedEvent[]> {
  const { team } = await placeOf(stack, manager.account_id);
  const body = { account_id: manager.account_id, name: 'Demo team' };
  const { team_id } = team ?? (await create(stack, 'teams', stack.api.POST('/private/teams', { body })));
  const { members } = await resultOf(
    stack.api.GET('/private/teams/{team_id}', { params: { path: { team_id } } }),
  );
  const events: ReportedEvent[] = [];
  for (const { email, name, application, share, seed } of DEMO_MEMBERS) {
    const { account_id } = await ensureAccount(stack, email, name);
    const [application_id = 0] = await ensureApplications(stack, account_id, [application]);
    const joined =
      members.find((member) => member.account_id === account_id) ?? (await join(stack, team_id, account_id));
    // Earlier usage would be billed to the member, not to the team.
    const at = new Date(joined?.joined_at ?? Number.NaN);
    if (Number.isNaN(at.getTime())) continue;
    const points = plan.description.points_limit * share;
    events.push(firstUsage({ at: new Date(at.getTime() + 1_000), account_id, application_id, points, seed }));
  }
  return events;
}

type Member = Schemas['OperatedTeam']['members'][number];

/** The account's place in the team; undefined where it is in another. */
async function join(stack: Stack, team_id: number, account_id: number): Promise<Member | undefined> {
  if ((await placeOf(stack, account_id)).team !== null) return undefined;
  const { members } = await resultOf(
    stack.api.POST('/private/teams/{team_id}/members', {
      params: { path: { team_id } },
      body: { account_id },
    }),
  );
  return members.find((member) => member.account_id === account_id);
}

/** An application for tokens by hand, with one. */
export async function ensureManualToken(stack: Stack, account_id: number): Promise<void> {
  const [application_id = 0] = await ensureApplications(stack, account_id, ['By hand'], 'manual');
  const path = '/private/applications/{application_id}/tokens';
  const params = { path: { application_id } };
  const { tokens } = await resultOf(stack.api.GET(path, { params }));
  if (tokens.length > 0) return;
  await create(stack, 'tokens', stack.api.POST(path, { params, body: { name: 'Laptop' } }));
}

const wholeSecond = (text: string) => new Date(Math.floor(Date.parse(text) / 1_000) * 1_000);

const textOf = (at: Date) => at.toISOString().replace('.000Z', 'Z');
