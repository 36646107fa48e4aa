import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { eventually, obtainToken, postGraphql } from '../../caller.ts';
import { operate } from '../../operate.ts';
import type { Demo } from '../../stack/stack.ts';
import { LIVE_TIME_LIMIT_MS, QUERY, makeApplication, signUp } from './journey.ts';
import type { Journey } from './journey.ts';
import { payPlan } from './sold-plan.ts';
import { buyPack } from './used-up.ts';

/** After the payment, until the border. */
const FIRST_PERIOD_SEC = 20;

/** The border, the hour for which Stripe leaves the invoice a draft, and PAYMENT_GRACE_SEC of the stack. */
const TIME_LIMIT_MS = 90_000;

/** From the trial to a pack, a plan, a renewal that isn't paid, and one that is. */
export function unpaidRenewalJourneys(journey: Journey): void {
  test(
    'from the trial on: 402, a pack, a plan; its renewal fails: grace with a mail, then calls are refused and say where to pay, and pass once it is paid',
    async () => {
      const email = `renewal-${randomUUID()}@example.com`;
      const { page } = await signUp(journey, email);
      const { demo, mails } = journey.stack();
      await page.getByRole('link', { name: 'Applications', exact: true }).click();
      const token = await obtainToken(demo, await makeApplication(page, 'Renewed'));
      await buyPack(page, demo, token);
      const clock = clockOf(journey);
      // A year ends for it soon after the payment.
      const anchor = new Date(Date.now() + FIRST_PERIOD_SEC * 1_000);
      anchor.setUTCFullYear(anchor.getUTCFullYear() - 1);
      const plan = await sellByYear(demo);
      await clock.set(anchor);
      try {
        await openPlan(page, demo.console.url);
        await page.getByLabel('Billing').selectOption('year');
        await payPlan(page, plan.name);
        await page.getByText(`${plan.name} renews every year`).waitFor();
        await useDecliningCard(page);
        const border = await borderOf(page);
        await eventually(
          () => Promise.resolve(Date.now()),
          (now) => now > border.getTime(),
          TIME_LIMIT_MS,
        );
        await clock.set(new Date(border.getTime() + 1_000));
        await clock.set(new Date(border.getTime() + 3_700_000));

        await openPlan(page, demo.console.url);
        await page.getByText('Your payment is overdue. API calls work until').waitFor();
        await page.getByText('Grace period', { exact: true }).first().waitFor();
        await expectAccessible(page);
        expect((await postGraphql(demo, token, QUERY)).status).toBe(200);
        await eventually(
          async () => (await mails()).filter((mail) => mail.includes(email)).join(''),
          (sent) => sent.includes('Your payment failed'),
          LIVE_TIME_LIMIT_MS,
        );

        const refused = await eventually(
          () => postGraphql(demo, token, QUERY),
          ({ status }) => status === 403,
          TIME_LIMIT_MS,
        );
        expect(await refused.json()).toMatchObject({
          errors: [{ message: `A payment is due. Pay at ${demo.console.url}/plan` }],
        });
        await openPlan(page, demo.console.url);
        await page.getByText('API calls are refused until the open invoice is paid.').waitFor();
        await expectAccessible(page);

        await page.getByRole('button', { name: /^Pay / }).click();
        await page.getByRole('button', { name: /^Pay \d/ }).click();
        await page.getByText('This invoice is paid.').waitFor();
        await eventually(
          async () => (await postGraphql(demo, token, QUERY)).status,
          (status) => status === 200,
          LIVE_TIME_LIMIT_MS,
        );
        await openPlan(page, demo.console.url);
        await page.getByText('Active', { exact: true }).first().waitFor();
        expect(await page.getByText('Your payment is overdue.').count()).toBe(0);

        // From the year to months, at its end.
        await page.getByLabel('Billing').selectOption('month');
        await page.getByRole('button', { name: 'Change to Starter' }).click();
        const dialog = page.getByRole('dialog');
        await dialog.getByText('At the end of the billing period').waitFor();
        await dialog.getByText('You pay today’s price from then on.').waitFor();
        await expectAccessible(page);
        await dialog.getByRole('button', { name: 'Change plan' }).click();
        await page.getByText('Next plan', { exact: true }).waitFor();
      } finally {
        await clock.set(new Date());
        await operate(demo, 'POST', `/private/plans/${String(plan.plan_id)}/archive`);
      }
    },
    2 * TIME_LIMIT_MS,
  );
}

/** A plan in the catalogue, by the year only: months have different lengths. */
async function sellByYear(demo: Demo): Promise<{ plan_id: number; name: string }> {
  const name = `Yearly ${randomUUID().slice(0, 8)}`;
  const wanted = { name, description: { points_limit: 100_000 } };
  const { plan_id } = await operate<{ plan_id: number }>(demo, 'POST', '/private/plans', wanted);
  const path = `/private/plans/${String(plan_id)}`;
  await operate(demo, 'POST', `${path}/publish`, { public_position: 99, price_year: '€290 per year' });
  await operate(demo, 'PUT', `${path}/prices/year`, { currency: 'eur', unit_amount: 29_000 });
  return { plan_id, name };
}

async function openPlan(page: Page, consoleUrl: string): Promise<void> {
  await page.goto(`${consoleUrl}/plan`);
  await page.getByRole('heading', { name: 'Plan', exact: true, level: 1 }).waitFor();
}

async function useDecliningCard(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Payment details' }).click();
  await page.getByRole('button', { name: 'Use a card that is declined' }).click();
  await page.getByRole('link', { name: 'Go back' }).click();
  await page.getByRole('heading', { name: 'Plan', exact: true, level: 1 }).waitFor();
}

/** When the next period begins. */
async function borderOf(page: Page): Promise<Date> {
  const response = await page.request.get(`${new URL(page.url()).origin}/api/console/subscription`);
  const { subscription } = (await response.json()) as { subscription: { next_period_at: string } };
  return new Date(subscription.next_period_at);
}

/** Stripe's clock, as the sample payment server has it. */
function clockOf({ stack }: Journey): { set: (to: Date) => Promise<void> } {
  const { payments } = stack();
  if (payments === undefined) throw new Error('the sample payment server is out of reach');
  const advance = async (seconds: number) => {
    const response = await fetch(`${payments.url}/sample/clock`, {
      method: 'POST',
      headers: { authorization: `Bearer ${payments.secretKey}` },
      body: new URLSearchParams({ seconds: String(seconds) }),
    });
    expect(response.status).toBe(200);
    return ((await response.json()) as { now: number }).now;
  };
  return {
    set: async (to) => {
      await advance(Math.floor(to.getTime() / 1_000) - (await advance(0)));
    },
  };
}
