import type { Page } from 'playwright-core';
import { eventually } from '../../caller.ts';
import { operate } from '../../operate.ts';
import type { Demo } from '../../stack/stack.ts';
import { LIVE_TIME_LIMIT_MS } from './journey.ts';
import type { Journey } from './journey.ts';

type Period = { period_id: number; plan_id: number | null; started_at: string };

/** Chooses a plan on the Plan page and pays for it on the payment page. */
export async function payPlan(page: Page, plan: string): Promise<void> {
  await page.getByRole('button', { name: `Subscribe to ${plan}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Continue to payment' }).click();
  await page.getByRole('button', { name: /^Pay \d/ }).click();
  await page.getByText('Thank you. Your plan has started.').waitFor();
}

/** In place of the trial of the account that is signed in, a plan of the catalogue that an operator sells. */
export async function sellPlan(journey: Pick<Journey, 'stack'>, page: Page, plan: string): Promise<void> {
  const { demo } = journey.stack();
  const account_id = await signedInAccount(demo, page);
  const { plans } = await operate<{ plans: { plan_id: number; name: string }[] }>(
    demo,
    'GET',
    '/private/plans?public=true',
  );
  const plan_id = plans.find(({ name }) => name === plan)?.plan_id;
  if (plan_id === undefined) throw new Error(`There is no plan ${plan}.`);
  await replaceTrial(demo, account_id, plan_id);
}

export async function signedInAccount(
  { console: { url } }: Pick<Demo, 'console'>,
  page: Page,
): Promise<number> {
  const session = await page.request.get(`${new URL(url).origin}/api/console/session`);
  return ((await session.json()) as { account_id: number }).account_id;
}

/** In place of the account's trial, a plan by the month, whose first period has begun. */
export async function replaceTrial(demo: Demo, account_id: number, plan_id: number): Promise<void> {
  const periods = async () => {
    const path = `/private/periods?account_id=${String(account_id)}`;
    return (await operate<{ periods: Period[] }>(demo, 'GET', path)).periods;
  };
  for (const { period_id } of await periods())
    await operate(demo, 'POST', `/private/periods/${String(period_id)}/end`);
  // The ended period has the whole second in which it ended.
  await eventually(
    () =>
      operate(demo, 'POST', '/private/subscriptions', {
        account_id,
        plan_id,
        billing_interval: 'month',
      }).then(
        () => null,
        (error: unknown) => error,
      ),
    (error) => error === null,
    LIVE_TIME_LIMIT_MS,
  );
  await eventually(
    periods,
    (all) => all.some((period) => period.plan_id === plan_id && Date.parse(period.started_at) <= Date.now()),
    LIVE_TIME_LIMIT_MS,
  );
}
