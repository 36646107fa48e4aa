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
  type Named = { name: string; plan_id: number; product_id: number };
  const all = (path: string, items: string) => itemsOf<Named>(stack, path, items);
  const products = '/private/products';
  const { product_id } = await findOrCreate(
    async () => (await all(products, 'products')).find(({ name }) => name === DEMO_PRODUCT),
    async () => (await stack.api.send('POST', products, { name: DEMO_PRODUCT })).body as unknown as Named,
  );
  const ids = new Map<string, number>();
  for (const plan of DEMO_PLANS) {
    const { plan_id } = await findOrCreate(
      async () => (await all('/private/plans', 'plans')).find(({ name }) => name === plan.name),
      () => create<Named>(stack, 'plans', '/private/plans', { ...plan, product_id }),
    );
    ids.set(plan.name, plan_id);
  }
  return ids;
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
    await stack.api.send('POST', `/private/accounts/${String(account_id)}/block`, {});
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
  const path = '/private/periods';
  const present = await itemsOf<PastPeriod>(stack, path, 'periods', { account_id });
  const starts = new Set(present.map(({ started_at }) => Date.parse(started_at)));
  for (const period of periods.filter(({ started_at }) => !starts.has(Date.parse(started_at)))) {
    await create(stack, 'periods', path, { account_id, plan_id, ...period });
  }
}

type Subscription = { subscription_id: number; anchor: string };

/** The account's first subscription, whatever has become of it since. */
async function ensureSubscription(
  stack: Stack,
  account_id: number,
  plan_id: number,
  { scenario }: DemoAccount,
): Promise<Subscription | undefined> {
  const path = '/private/subscriptions';
  const present = await itemsOf<Subscription>(stack, path, 'subscriptions', { account_id });
  if (present.length > 0 || ['by hand', 'ended', 'new'].includes(scenario)) return present.at(-1);
  const billing_interval = scenario === 'yearly' ? 'year' : 'month';
  const wanted = { account_id, plan_id, billing_interval };
  const made = await create<Subscription>(stack, 'subscriptions', path, wanted);
  if (scenario === 'cancelling') {
    const cancellation = { effective: 'period_end' };
    await stack.api.send('POST', `${path}/${String(made.subscription_id)}/cancel`, cancellation);
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
  const wanted = { account_id: manager.account_id, name: 'Demo team' };
  const { team_id } = team ?? (await create<{ team_id: number }>(stack, 'teams', '/private/teams', wanted));
  const { members } = (await stack.api.get(`/private/teams/${String(team_id)}`)).body as {
    members: Member[];
  };
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

type Member = { account_id: number; joined_at: string };

/** The account's place in the team; undefined where it is in another. */
async function join(stack: Stack, teamId: number, account_id: number): Promise<Member | undefined> {
  if ((await placeOf(stack, account_id)).team !== null) return undefined;
  const { body } = await stack.api.send('POST', `/private/teams/${String(teamId)}/members`, { account_id });
  return (body as { members: Member[] }).members.find((member) => member.account_id === account_id);
}

/** An application for tokens by hand, with one. */
export async function ensureManualToken(stack: Stack, account_id: number): Promise<void> {
  const [application_id = 0] = await ensureApplications(stack, account_id, ['By hand'], 'manual');
  const path = `/private/applications/${String(application_id)}/tokens`;
  const present = await itemsOf(stack, path, 'tokens');
  if (present.length === 0) await create(stack, 'tokens', path, { name: 'Laptop' });
}

const wholeSecond = (text: string) => new Date(Math.floor(Date.parse(text) / 1_000) * 1_000);

const textOf = (at: Date) => at.toISOString().replace('.000Z', 'Z');
