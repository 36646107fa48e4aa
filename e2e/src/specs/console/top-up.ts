import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { expectAccessible } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { eventually } from '../../caller.ts';
import { LIVE_TIME_LIMIT_MS, signUp } from './journey.ts';
import type { Journey } from './journey.ts';

/** A pack that is bought by itself. */
export function topUpJourneys(journey: Journey): void {
  test('automatic top-up: without a card, with one, bought at once, changed and turned off', async () => {
    const { page } = await signUp(journey, `top-up-${randomUUID()}@example.com`);
    const { url } = journey.stack().demo.console;
    await page.goto(`${new URL(url).origin}/user/plan`);
    const card = page.getByRole('region', { name: 'Automatic top-up' });
    await card.getByText('Off', { exact: true }).waitFor();
    const setUp = card.getByRole('button', { name: 'Set up automatic top-up' });
    await setUp.waitFor();
    // Nothing hangs out of it; both heights are rounded.
    expect(await card.evaluate((of) => of.scrollHeight - of.clientHeight)).toBeLessThanOrEqual(1);
    await setUp.click();
    const threshold = card.getByLabel('Buy when fewer points are left than');
    await threshold.fill('many');
    await card.getByRole('button', { name: 'Turn on' }).click();
    await page.locator('[name="threshold_points"][aria-invalid="true"]:focus').waitFor();
    await expectAccessible(page);
    // More than the trial has, so that a pack is bought at once.
    await threshold.fill('15,000');
    await card.getByLabel('Purchases per month, at most').fill('1');
    await card.getByRole('button', { name: 'Turn on' }).click();
    await card.getByText('You have no saved card.').waitFor();
    await expectAccessible(page);
    await card.getByRole('button', { name: 'Add a card' }).click();
    await page.getByRole('button', { name: 'Use a card that works' }).click();
    await page.getByRole('link', { name: 'Go back' }).click();

    await card.getByRole('button', { name: 'Set up automatic top-up' }).click();
    await threshold.fill('15000');
    await card.getByLabel('Purchases per month, at most').fill('1');
    await page.keyboard.press('Enter');
    await card.getByText('On', { exact: true }).waitFor();
    await card.getByText('is bought when fewer than 15,000 points are left').waitFor();
    await page.reload();
    await card.getByRole('heading', { name: 'Latest top-ups' }).waitFor();
    await card.getByText('Paid', { exact: true }).waitFor();
    await expectAccessible(page);

    const change = async (maxTimes: string) => {
      await card.getByRole('button', { name: 'Change automatic top-up' }).click();
      await threshold.fill('25000');
      await card.getByLabel('Purchases per month, at most').fill(maxTimes);
      await page.keyboard.press('Enter');
      await threshold.waitFor({ state: 'hidden' });
    };
    const comes = (text: string) =>
      eventually(
        async () => {
          await page.reload();
          await card.getByRole('heading', { name: 'Latest top-ups' }).waitFor();
          return card.getByText(text).count();
        },
        (count) => count === 1,
        LIVE_TIME_LIMIT_MS,
      );
    await change('1');
    await comes('The limit of this month is reached.');
    await page.getByRole('button', { name: 'Payment details' }).click();
    await page.getByRole('button', { name: 'Use a card that is declined' }).click();
    await page.getByRole('link', { name: 'Go back' }).click();
    await change('3');
    await comes('Your card was declined. The next attempt is');
    await card.getByText('Declined', { exact: true }).waitFor();
    await expectAccessible(page);

    await card.getByRole('button', { name: 'Turn off' }).click();
    await card.getByText('Off', { exact: true }).waitFor();
    await expectAccessible(page);
  });
}
