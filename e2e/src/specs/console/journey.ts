import type { Browser, Page } from 'playwright-core';
import { expectAccessible } from '../../browser/console-page.ts';
import type { ConsoleTab } from '../../browser/console-page.ts';
import { eventually } from '../../caller.ts';
import { mailedLink } from '../../mailed-link.ts';
import type { Stack } from '../../stack/stack.ts';

/** How long a page is waited for to show what happened elsewhere; a machine that does much else takes long. */
export const LIVE_TIME_LIMIT_MS = 60_000;

export const QUERY = '{ country(code: "CH") { name } }';

/** What each journey gets: one stack and one browser for all, and for each test an empty tab. */
export type Journey = {
  stack: () => Stack;
  browser: () => Browser;
  /** The tab of the running test; script errors and breaches of the page's policy fail the test. */
  tab: () => ConsoleTab;
  /** Signs the sample's manager in; the tab shows the list of applications. */
  signedIn: () => Promise<Page>;
};

export const applicationsPage = ({ stack }: Pick<Journey, 'stack'>) =>
  `${stack().demo.console.url}/api_v2/applications`;

export const clipboard = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()');

/** Opens the menu of the row with this name, and chooses from it by keyboard. */
export async function chooseAction(page: Page, row: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${row}`, disabled: false }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: action }).focus();
  await page.keyboard.press('Enter');
}

/** Makes an application in the dialog, and stands on its page; its credentials are what the dialog showed. */
export async function makeApplication(page: Page, name: string) {
  await page.getByRole('button', { name: '+ New Application' }).first().click();
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByText('It is shown only once').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Copy client ID', exact: true }).last().click();
  const client_id = await clipboard(page);
  await page.getByRole('button', { name: 'Copy client secret' }).click();
  const client_secret = await eventually(
    () => clipboard(page),
    (text) => text !== client_id,
    LIVE_TIME_LIMIT_MS,
  );
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('heading', { name, exact: true, level: 1 }).waitFor();
  await page.locator('#content:focus').waitFor();
  return { application_id: 0, client_id, client_secret };
}

const PASSWORD = 'correct horse battery staple';

/** Makes an account by the sign-up's mail; the tab is signed in and shows the Overview. */
export async function signUp(
  journey: Journey,
  email: string,
): Promise<{ page: Page; email: string; password: string }> {
  const { page } = journey.tab();
  const { url } = journey.stack().demo.console;
  const data = { email, name: 'Ada' };
  const response = await page.request.post(`${new URL(url).origin}/api/console/sign-up`, { data });
  if (response.status() !== 202) throw new Error(`No sign-up: ${await response.text()}`);
  await page.goto(await mailedLink(journey, email, 'verify-email'));
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Finish signing up' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  return { page, email, password: PASSWORD };
}
