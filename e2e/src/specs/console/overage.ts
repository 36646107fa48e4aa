import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { expectAccessible } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { eventually, obtainToken, postGraphql } from '../../caller.ts';
import { operate } from '../../operate.ts';
import type { Demo } from '../../stack/stack.ts';
import { LIVE_TIME_LIMIT_MS, QUERY, makeApplication, signUp } from './journey.ts';
import type { Journey } from './journey.ts';
import { replaceTrial, signedInAccount } from './sold-plan.ts';

const INCLUDED_POINTS = 4;

/** Points beyond the included ones. */
export function overageJourneys(journey: Journey): void {
  test('further points: without a card, with one, up to a limit that calls use, changed and turned off', async () => {
    const { page } = await signUp(journey, `overage-${randomUUID()}@example.com`);
    const { demo } = journey.stack();
    await replaceTrial(demo, await signedInAccount(demo, page), await planWithOverage(demo));
    await page.getByRole('link', { name: 'Applications', exact: true }).click();
    const token = await obtainToken(demo, await makeApplication(page, 'Beyond'));
    const call = async () => (await postGraphql(demo, token, QUERY)).status;
    // What the plan includes, and at least one call more, which is refused.
    for (let points = 0; points <= INCLUDED_POINTS; points += 1) await call();
    expect(await call()).toBe(402);

    await page.goto(`${demo.console.url}/plan`);
    const card = page.getByRole('region', { name: 'Further points' });
    await card.getByText('Allow further points at €500.00 for 1,000 points without tax').waitFor();
    await card.getByRole('button', { name: 'Allow further points' }).click();
    const limit = card.getByLabel('Further points per billing period, at most');
    await limit.fill('many');
    await card.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.locator('[name="cap_points"][aria-invalid="true"]:focus').waitFor();
    await expectAccessible(page);
    await limit.fill('1,000');
    await card.getByText('At most €500.00 in each billing period, without tax.').waitFor();
    await page.keyboard.press('Enter');
    await card.getByText('You have no saved card.').waitFor();
    await expectAccessible(page);
    await card.getByRole('button', { name: 'Add a card' }).click();
    await page.getByRole('button', { name: 'Use a card that works' }).click();
    await page.getByRole('link', { name: 'Go back' }).click();

    await card.getByRole('button', { name: 'Allow further points' }).click();
    await limit.fill('1000');
    await page.keyboard.press('Enter');
    await card.getByText('calls use up to 1,000 further points in each billing period').waitFor();
    await eventually(call, (status) => status === 200, LIVE_TIME_LIMIT_MS);
    await card.getByText(/^This billing period: [1-9]\d* of 1,000 used, €\d+\.\d\d of €500\.00/).waitFor();
    await expectAccessible(page);

    await card.getByRole('button', { name: 'Change the limit' }).click();
    await limit.fill('2000');
    await card.getByText('At most €1,000.00 in each billing period, without tax.').waitFor();
    await page.keyboard.press('Enter');
    await card.getByText('calls use up to 2,000 further points in each billing period').waitFor();
    await card.getByRole('button', { name: 'Turn off' }).click();
    await card.getByText('Off', { exact: true }).waitFor();
    await eventually(call, (status) => status === 402, LIVE_TIME_LIMIT_MS);
    // What was used stays charged.
    await card.getByText(/^This billing period: [1-9]\d* used, €/).waitFor();
    await expectAccessible(page);
  });
}

/** At €500 for 1,000 points, so that a call costs something that is seen. */
async function planWithOverage(demo: Demo): Promise<number> {
  const overage = { price_per_1000: 50_000, currency: 'eur' };
  const { plan_id } = await operate<{ plan_id: number }>(demo, 'POST', '/private/plans', {
    name: `Further ${randomUUID().slice(0, 8)}`,
    description: { points_limit: INCLUDED_POINTS, overage },
  });
  return plan_id;
}
