import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { eventually, obtainToken, postGraphql, readUsage } from '../../caller.ts';
import { LIVE_TIME_LIMIT_MS, QUERY, makeApplication, signUp } from './journey.ts';
import type { Journey } from './journey.ts';
import { payPlan, sellPlan } from './sold-plan.ts';
import { useUp } from './used-up.ts';

/** A customer starts without an operator: the trial of the sign-up, then a plan. */
export function planJourneys(journey: Journey): void {
  test('sign up from the mail: the trial is active, and a call with a new application passes', async () => {
    const page = await signedUp(journey);
    const { demo } = journey.stack();
    await page.getByText('Trial', { exact: true }).first().waitFor();
    await openApplications(page);
    const token = await obtainToken(demo, await makeApplication(page, 'First call'));
    const response = await postGraphql(demo, token, QUERY);
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    const meter = page.getByRole('meter', { name: 'Points used' });
    await eventually(
      async () => Number(await meter.getAttribute('aria-valuenow')),
      (used) => used > 0,
      LIVE_TIME_LIMIT_MS,
    );
    await openPlan(page);
    await page.getByText('Your trial doesn’t renew.').waitFor();
    await page.getByRole('button', { name: 'Subscribe to Starter' }).click();
    const dialog = page.getByRole('dialog', { name: 'Subscribe to Starter' });
    await dialog.getByText(/you lose the remaining [\d,.]+ points and 14 days/).waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Continue to payment' }).click();
    await page.getByRole('button', { name: /^Pay \d/ }).click();
    await page.getByText('Thank you. Your plan has started.').waitFor();
    await page.getByRole('heading', { name: 'Starter', level: 2 }).waitFor();
    await expectAccessible(page);
    // It begins with the second after the purchase.
    const usage = await eventually(
      () => readUsage(demo, token),
      ({ billing_period }) => billing_period.plan_name === 'Starter',
      LIVE_TIME_LIMIT_MS,
    );
    expect(usage).toMatchObject({ status: 'active', billing_period: { usage: { points_usage: 0 } } });

    // In one step: the plan is cancelled, and the free one follows it.
    await page.getByRole('button', { name: 'Change to Pay as you go' }).click();
    const change = page.getByRole('dialog', { name: 'Change to Pay as you go' });
    await change.getByText(/starts on .+ with 0 points\. Starter is cancelled then/).waitFor();
    expect(await change.getByText('You pay today’s price').count()).toBe(0);
    await expectAccessible(page);
    await change.getByRole('button', { name: 'Change plan' }).click();
    await page.getByText(/^Starter is cancelled and ends on .+ Pay as you go starts then\./).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Resume plan' }).click();
    await page.getByText(/^Starter renews every month/).waitFor();
  });

  test('pay as you go: free, without a payment page; calls are refused without points, and pass with a pack', async () => {
    const page = await signedUp(journey);
    const { demo } = journey.stack();
    await openPlan(page);
    await page.getByRole('button', { name: 'Subscribe to Pay as you go' }).click();
    const dialog = page.getByRole('dialog', { name: 'Subscribe to Pay as you go' });
    await dialog.getByText('It is free.').waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Subscribe', exact: true }).click();
    await page.getByRole('heading', { name: 'Pay as you go', level: 2 }).waitFor();
    await expectAccessible(page);
    await openApplications(page);
    const token = await obtainToken(demo, await makeApplication(page, 'Prepaid'));
    await eventually(
      async () => (await postGraphql(demo, token, QUERY)).status,
      (status) => status === 402,
      LIVE_TIME_LIMIT_MS,
    );
    await openPlan(page);
    await page.getByRole('button', { name: 'Buy 10,000 points' }).click();
    await page.getByRole('button', { name: /^Pay \d/ }).click();
    await page.getByText('Thank you. 10,000 points are yours,').waitFor();
    await eventually(
      async () => (await postGraphql(demo, token, QUERY)).status,
      (status) => status === 200,
      LIVE_TIME_LIMIT_MS,
    );
    // Stripe tells of the invoice of the pack after its payment.
    await page.goto(`${demo.console.url}/plan`);
    await page
      .getByRole('button', { name: /^View / })
      .first()
      .waitFor();
  });

  test('change the plan now and at the end of the period, cancel and resume', async () => {
    const page = await signedUp(journey);
    await sellPlan(journey, page, 'Starter');
    await openPlan(page);
    await page.getByText(/^Starter renews every month/).waitFor();
    await page.getByRole('button', { name: 'Change to Standard' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change to Standard' });
    await dialog.getByText(/The current billing period continues with 1,000,000 points/).waitFor();
    await dialog.getByRole('radio', { name: /^Now/ }).check();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Change plan' }).click();
    await page.getByRole('heading', { name: 'Standard', level: 2 }).waitFor();
    await page.getByText(/^Standard renews every month/).waitFor();

    await page.getByLabel('Number of slots').fill('6');
    await page.getByRole('button', { name: 'Change slots' }).click();
    await page.getByText('Your team has 6 slots now.').waitFor();
    await page.getByRole('button', { name: 'Change to Starter' }).click();
    const smaller = page.getByRole('dialog', { name: 'Change to Starter' });
    await smaller
      .getByText('You have 6 team slots. Starter has 2 at most. Release team slots first.')
      .waitFor();
    await expectAccessible(page);
    await smaller.getByRole('button', { name: 'Cancel' }).click();
    await page.getByLabel('Number of slots').fill('5');
    await page.getByRole('button', { name: 'Change slots' }).click();
    await page.getByText('Your team has 5 slots now.').waitFor();
    await page.getByRole('button', { name: 'Change to Starter' }).click();
    await smaller.getByText('Only a plan with higher limits can start before the period ends.').waitFor();
    expect(await smaller.getByRole('radio').count()).toBe(1);
    await smaller.getByRole('button', { name: 'Change plan' }).click();
    await page.getByText(/^Standard changes to Starter on/).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Keep Standard' }).click();
    await page.getByText(/^Standard renews every month/).waitFor();

    await page.getByRole('button', { name: 'Cancel plan' }).click();
    const cancelling = page.getByRole('dialog', { name: 'Cancel Standard?' });
    await cancelling.getByText('You can undo this until then.').waitFor();
    await expectAccessible(page);
    await cancelling.getByRole('button', { name: 'Cancel plan' }).click();
    await page.getByText(/^Standard is cancelled and ends on/).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Resume plan' }).click();
    await page.getByText(/^Standard renews every month/).waitFor();
  });

  test('a paid plan is upgraded within its period: the page says what it costs, and a declined card changes nothing', async () => {
    const page = await signedUp(journey);
    await openPlan(page);
    await payPlan(page, 'Starter');
    await page.getByText(/^Starter renews every month/).waitFor();
    await page.getByRole('button', { name: 'Payment details' }).click();
    await page.getByRole('button', { name: 'Use a card that is declined' }).click();
    await page.getByRole('link', { name: 'Go back' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change to Standard' });
    await confirmUpgrade(page);
    await dialog.getByText('The payment needs you.').waitFor();
    await expectAccessible(page);
    await page.getByText(/^Starter renews every month/).waitFor();
    await dialog.getByRole('link', { name: 'Pay the invoice' }).click();
    await page.getByRole('button', { name: /^Pay \d/ }).click();
    await page.getByText('This invoice is paid.').waitFor();
    await page.goto(`${journey.stack().demo.console.url}/plan`);
    await page.getByRole('heading', { name: 'Standard', level: 2 }).waitFor();

    await page.getByRole('button', { name: 'Payment details' }).click();
    await page.getByRole('button', { name: 'Use a card that works' }).click();
    await page.getByRole('link', { name: 'Go back' }).click();
    await confirmUpgrade(page, 'Business');
    await page.getByRole('heading', { name: 'Business', level: 2 }).waitFor();
    await page.getByText(/^Business renews every month/).waitFor();
    await expectAccessible(page);
  });

  test('team slots by keyboard alone: a number out of range is refused at its field', async () => {
    const page = await signedUp(journey);
    await sellPlan(journey, page, 'Starter');
    await openPlan(page);
    await page.getByLabel('Number of slots').focus();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('6');
    await page.keyboard.press('Enter');
    await page.getByText('must be at most 5').waitFor();
    expect(await page.locator(':focus').getAttribute('name')).toBe('team_slots_limit');
    await expectAccessible(page);
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('4');
    await page.keyboard.press('Enter');
    await page.getByText('Your team has 4 slots now.').waitFor();
  });

  test('two tabs: what was confirmed in one is not overwritten by the other', async () => {
    const page = await signedUp(journey);
    const other = await journey.tab().context.newPage();
    await openPlan(page);
    await other.goto(page.url());
    await payPlan(page, 'Starter');
    await page.getByText(/^Starter renews every month/).waitFor();
    await choose(other, 'Subscribe to Business', 'Continue to payment');
    await other.getByRole('alert').getByText('The account already has a subscription').waitFor();
    await other.getByText(/^Starter renews every month/).waitFor();
    await other.close();
  });
}

/** The plan's points are used up: what refuses the calls, what the pages say, and the way out. */
export function limitJourneys(journey: Journey): void {
  test('points used up: calls are refused, each page says so, and a larger plan by keyboard lets them pass', async () => {
    const page = await signedUp(journey);
    const { demo } = journey.stack();
    await openApplications(page);
    const token = await obtainToken(demo, await makeApplication(page, 'Hungry'));
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await page.getByText('Calls are accepted.', { exact: true }).waitFor();
    expect(await useUp(demo, token)).toMatchObject({
      code: 'points_limit_exceeded',
      limit: 10_000,
      help_url: '/user/plan',
    });

    await page.getByText('Limit reached', { exact: true }).waitFor();
    await page.getByText(/^The points of this period are used up, and calls are refused\./).waitFor();
    const meter = page.getByRole('meter', { name: 'Points used' });
    expect(await meter.getAttribute('aria-valuenow')).toBe('10000');
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Refused calls' }).click();
    const call = page.getByRole('listitem').filter({ hasText: 'Hungry' }).first();
    await call.locator('summary').click();
    await call
      .getByText('Your limit is 10,000 points per billing period. The plan Starter allows 100,000.')
      .waitFor();
    await call.getByRole('link', { name: 'Go to Plan' }).waitFor();
    await expectAccessible(page);

    // By keyboard alone.
    await call.getByRole('link', { name: 'Go to Plan' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Subscribe to Starter' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Continue to payment' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /^Pay \d/ }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Starter', level: 2 }).waitFor();
    await eventually(
      async () => (await postGraphql(demo, token, QUERY)).status,
      (status) => status === 200,
      LIVE_TIME_LIMIT_MS,
    );
    await page.getByRole('link', { name: 'Overview', exact: true }).focus();
    await page.keyboard.press('Enter');
    // The calls that were refused may still be more than 1% of all.
    await page.getByText(/^(?:Calls are accepted\.|More than 1% of your calls)/).waitFor();
  });

  test('back on a page that the browser kept while the payment page was open: a pack can be bought', async () => {
    const page = await signedUp(journey);
    await openPlan(page);
    // Such a page is as it was left: stay on it instead of leaving it.
    const stay = JSON.stringify({ checkout_url: `${page.url()}#payment` });
    await page.route('**/api/console/purchases', (route) =>
      route.fulfill({ status: 201, contentType: 'application/json', body: stay }),
    );
    const buy = async () => {
      const bought = page.waitForRequest(
        (request) => request.method() === 'POST' && request.url().endsWith('/api/console/purchases'),
      );
      await page.getByRole('button', { name: 'Buy 10,000 points' }).click();
      await bought;
    };
    await buy();
    await page.waitForURL(/#payment$/);
    const other = (disabled: boolean) => page.getByRole('button', { name: 'Buy 100,000 points', disabled });
    await other(true).waitFor();
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
    await other(false).waitFor();
    await buy();
  });

  test('a purchase that expires while the page asks for it: the list of purchases says so, too', async () => {
    const page = await signedUp(journey);
    await openPlan(page);
    await page.getByRole('button', { name: 'Buy 10,000 points' }).click();
    await page.getByText('Sample payment page.').waitFor();
    const { url } = journey.stack().demo.console;
    const response = await page.request.get(new URL('/api/console/purchases', url).href);
    const { purchases } = (await response.json()) as { purchases: { purchase_id: number }[] };
    let isExpired = false;
    // The provider lets a payment page expire after half an hour at the earliest.
    await page.route(/\/api\/console\/purchases[/?]/, async (route) => {
      const response = await route.fetch();
      const text = await response.text();
      await route.fulfill({
        response,
        body: isExpired ? text.replaceAll('"state":"open"', '"state":"expired"') : text,
      });
    });
    await page.goto(`${url}/plan?purchase=${String(purchases[0]?.purchase_id)}`);
    await page.getByText('isn’t paid yet.').waitFor();
    await page.getByRole('cell', { name: 'Not paid Pay' }).waitFor();
    isExpired = true;
    await page.getByText(/^The payment page was closed/).waitFor();
    await page.getByRole('cell', { name: /^Expired/ }).waitFor();
    await expectAccessible(page);
  });
}

/** Reads what it costs, and agrees. */
async function confirmUpgrade(page: Page, plan = 'Standard'): Promise<void> {
  await page.getByRole('button', { name: `Change to ${plan}` }).click();
  const dialog = page.getByRole('dialog', { name: `Change to ${plan}` });
  await dialog.getByText(/You pay €[\d,.]+ now/).waitFor();
  await dialog.getByRole('radio', { name: /^Now/ }).check();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Change plan' }).click();
}

/** A new account, signed in, on the Overview, whose trial can be replaced. */
async function signedUp(journey: Journey): Promise<Page> {
  const { page } = await signUp(journey, `plan-${randomUUID()}@example.com`);
  const { url } = journey.stack().demo.console;
  // A period is replaced two seconds after its start at the earliest (docs/design/billing.md).
  await eventually(
    async () => {
      const response = await page.request.get(`${new URL(url).origin}/api/console/subscription`);
      return (await response.json()) as { billing_period: { started_at: string } | null };
    },
    ({ billing_period }) =>
      billing_period !== null && Date.now() > Date.parse(billing_period.started_at) + 2_000,
    LIVE_TIME_LIMIT_MS,
  );
  return page;
}

async function openPlan(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Plan', exact: true }).click();
  await page.getByRole('heading', { name: 'Plan', exact: true, level: 1 }).waitFor();
}

async function openApplications(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Applications', exact: true }).click();
  await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
}

async function choose(page: Page, button: string, confirm: string): Promise<void> {
  await page.getByRole('button', { name: button }).click();
  await page.getByRole('dialog').getByRole('button', { name: confirm, exact: true }).click();
}
