import { expect } from '@jest/globals';
import { expectAccessible, openTab } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { eventually, obtainToken, postGraphql } from '../../caller.ts';
import { LIVE_TIME_LIMIT_MS, QUERY, chooseAction, makeApplication } from './journey.ts';
import type { Journey } from './journey.ts';

/** What applications and members may spend. */
export function budgetJourneys(journey: Journey): void {
  test('a budget of an application is set, says what is wrong, and is removed', async () => {
    const page = await journey.signedIn();
    await makeApplication(page, 'Budgeted');
    const budget = page.getByRole('region', { name: 'Budget' });
    await budget.getByText('0 points, no limit').first().waitFor();
    const daily = budget.getByLabel('Points per day (UTC)');
    await daily.fill('many');
    await budget.getByRole('button', { name: 'Save budget' }).click();
    await page.locator('[name="points_per_day"][aria-invalid="true"]:focus').waitFor();
    await expectAccessible(page);
    await daily.fill('5000');
    await budget.getByLabel('Points per billing period').fill('100000');
    await page.keyboard.press('Enter');
    await budget.getByText('Saved.').waitFor();
    await budget.getByText('0 of 5,000 points (0%)').waitFor();
    await expectAccessible(page);
    await page.reload();
    await budget.getByText('0 of 100,000 points (0%)').waitFor();
    await daily.fill('');
    await budget.getByLabel('Points per billing period').fill('');
    await budget.getByRole('button', { name: 'Save budget' }).click();
    await budget.getByText('Saved.').waitFor();
    await budget.getByText('0 points, no limit').first().waitFor();
  });

  test("a manager sets a member's budget by keyboard: the member sees it, and is refused beyond it", async () => {
    const page = await journey.signedIn();
    const { demo } = journey.stack();
    const token = await obtainToken(demo, demo.member);
    expect((await postGraphql(demo, token, QUERY)).status).toBe(200);
    await page.goto(`${demo.console.url}/team`);
    const row = page.getByRole('row').filter({ hasText: demo.member.email });
    const name = await row.getByRole('rowheader').innerText();
    await chooseAction(page, name, 'Set budget');
    const dialog = page.getByRole('dialog', { name: `Budget of ${name}` });
    await dialog.getByLabel('Points per day (UTC)').fill('0');
    await expectAccessible(page);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    await row.getByText('of 0 today').waitFor();
    await expectAccessible(page);

    const statuses = async () => (await postGraphql(demo, token, QUERY)).status;
    await eventually(statuses, (status) => status === 402, LIVE_TIME_LIMIT_MS);
    const refused = await postGraphql(demo, token, QUERY);
    expect(await refused.json()).toMatchObject({
      errors: [{ extensions: { code: 'budget_exceeded', budget: 'member', window: 'day', limit: 0 } }],
    });

    const member = await openTab(journey.browser(), `${demo.console.url}/team`, {
      colorScheme: 'dark',
      width: 390,
    });
    await member.page.getByLabel('Email').fill(demo.member.email);
    await member.page.getByLabel('Password', { exact: true }).fill(demo.member.password);
    await member.page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await member.page.getByRole('heading', { name: 'Your budget' }).waitFor();
    await member.page.getByText('of 0 points (100%)').waitFor();
    await expectAccessible(member.page);
    expect(member.faults).toEqual([]);
    await member.close();

    await chooseAction(page, name, 'Set budget');
    await dialog.getByLabel('Points per day (UTC)').fill('');
    await dialog.getByRole('button', { name: 'Save budget' }).click();
    await row.getByText('of 0 today').waitFor({ state: 'hidden' });
    await eventually(statuses, (status) => status === 200, LIVE_TIME_LIMIT_MS);
  });

  test("a manager limits one of a member's applications; its owner sees that the lower limit holds", async () => {
    const page = await journey.signedIn();
    const { demo } = journey.stack();
    await page.goto(`${demo.console.url}/team`);
    const row = page.getByRole('row').filter({ hasText: demo.member.email });
    const name = await row.getByRole('rowheader').innerText();
    const limitApplication = async (figure: string) => {
      await chooseAction(page, name, 'Set budget');
      const dialog = page.getByRole('dialog', { name: `Budget of ${name}` });
      await dialog.getByLabel('Applies to').selectOption(String(demo.member.application_id));
      await dialog.getByLabel('Points per billing period').fill(figure);
      await dialog.getByRole('button', { name: 'Save budget' }).click();
      await dialog.waitFor({ state: 'hidden' });
    };
    await limitApplication('750000');
    const address = `${demo.console.url}/api_v2/applications/${String(demo.member.application_id)}`;
    const member = await openTab(journey.browser(), address);
    await member.page.getByLabel('Email').fill(demo.member.email);
    await member.page.getByLabel('Password', { exact: true }).fill(demo.member.password);
    await member.page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await member.page.getByText('limits this application to 750,000 points per billing period').waitFor();
    await member.page.getByText(/ of 750,000 points \(/).waitFor();
    await expectAccessible(member.page);
    expect(member.faults).toEqual([]);
    await member.close();
    await limitApplication('');
  });
}
