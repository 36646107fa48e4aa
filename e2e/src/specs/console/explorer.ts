import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from '@jest/globals';
import type { Page, Route } from 'playwright-core';
import { expectAccessible, openTab, signIn } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { eventually } from '../../caller.ts';
import { operate } from '../../operate.ts';
import { LIVE_TIME_LIMIT_MS, clipboard } from './journey.ts';
import type { Journey } from './journey.ts';

const QUERY = 'query Land($code: ID!) {\n  country(code: $code) {\n    name\n  }\n}\n';
const SUBSCRIPTION = 'subscription {\n  countryOfTheMoment(intervalMs: 100, times: 3) { name }\n}\n';

/** Deeper than GRAPHQL_MAX_DEPTH allows by default. */
const TOO_DEEP = `{ continents ${'{ countries { continent '.repeat(26)}{ name }${' } }'.repeat(26)} }`;

/** Replaces the content of an editor by the clipboard; Enter opens it and Escape leaves it. */
async function write(page: Page, editor: string, text: string): Promise<void> {
  await page.evaluate((copied) => navigator.clipboard.writeText(copied), text);
  await page.getByRole('group', { name: editor }).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('ControlOrMeta+v');
  await page.keyboard.press('Escape');
}

/** Waits for the editors, which take the place of a plain field. */
async function openExplorer(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Explorer' }).waitFor();
  await page.getByRole('textbox', { name: 'Variables' }).waitFor({ state: 'attached' });
}

/** Queries, subscriptions and refusals in the explorer, and a sample that is copied and run. */
export function explorerJourneys(journey: Journey): void {
  test('a query and a subscription: their results, what they used, and a sample that runs', async () => {
    // Over processes only: the samples of five languages and the editor's chunks are the same in the images.
    if (journey.stack().kind !== 'processes') return;
    const page = await journey.signedIn();
    await page.getByRole('link', { name: 'Explorer' }).click();
    await openExplorer(page);
    await write(page, 'Query editor', QUERY);
    await write(page, 'Variables editor', '{"code": "CH"}');
    // A country and its name, before it is asked for.
    await page.getByText('Up to 2 points').waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('Switzerland').waitFor();
    await page.getByText('Points left').waitFor();
    await page.getByText('Last run 2,').waitFor();
    await page.getByText('What costs most').click();
    await page.getByText('country.name').waitFor();
    await expectAccessible(page);

    // The sample is complete once the editors' texts are in it.
    await page.getByRole('region', { name: 'curl sample' }).getByText('"code":"CH"').waitFor();
    await page.getByRole('button', { name: 'Copy curl sample' }).click();
    const sample = await eventually(
      () => clipboard(page),
      (text) => text.startsWith('TOKEN='),
      LIVE_TIME_LIMIT_MS,
    );
    const [, token = ''] = /^TOKEN='([^']+)'/.exec(sample) ?? [];
    expect(await page.content()).not.toContain(token);
    expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage])')).not.toContain(token);
    const { stdout } = await promisify(execFile)('sh', ['-c', sample]);
    expect(stdout).toContain('Switzerland');
    await page.getByRole('button', { name: 'Show token' }).click();
    await page.getByText(token).waitFor();
    await page.getByRole('button', { name: 'Hide token' }).click();

    await write(page, 'Query editor', SUBSCRIPTION);
    await page.getByText('The subscription uses').waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('Ended').waitFor({ timeout: LIVE_TIME_LIMIT_MS });
    await page.getByText('Points per minute').waitFor();
    const spent = page.locator('dt', { hasText: 'Points so far' }).locator('xpath=following-sibling::dd');
    // Each message states what it costs.
    expect(Number(await spent.innerText())).toBeGreaterThan(0);
    await page.getByText('Message 3').waitFor();
    await page.getByText('Message 1').waitFor();
    await expectAccessible(page);

    await write(page, 'Query editor', TOO_DEEP);
    await page.getByText('This would be refused:').waitFor();
    await page.getByText('(document_too_deep)').waitFor();
    await expectAccessible(page);

    await page.getByRole('button', { name: 'History' }).click();
    await page.getByRole('button', { name: /^Land/ }).click();
    await page.getByText('This would be refused:').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Schema' }).click();
    await page.getByRole('button', { name: 'Query', exact: true }).click();
    await page.getByText('Where every query starts.').waitFor();
    await page.getByText('once for each item of the lists').waitFor();
    const countries = page.getByRole('listitem').filter({ hasText: 'Countries by name' });
    expect(await countries.innerText()).toMatch(
      /^countries\(.*first: Int! = 20.*\n1 point\n+List length: first\n/s,
    );
    await expectAccessible(page);
    await countries.getByRole('button', { name: '[Country!]!' }).click();
    const languages = page.getByRole('listitem').filter({ hasText: 'Languages spoken there' });
    expect(await languages.innerText()).toMatch(/\n1 point\n+List length: 10\n/);

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Tollgate' }).waitFor();
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('countryOfTheMoment');
  });

  test('the schema panel says whether costs are known, and asks again', async () => {
    // Over processes only, as above.
    if (journey.stack().kind !== 'processes') return;
    const page = await journey.signedIn();
    const costs = '**/graphql/costs';
    let answer = (route: Route) => route.abort();
    await page.route(costs, (route) => answer(route));
    await page.getByRole('link', { name: 'Explorer' }).click();
    await openExplorer(page);
    await page.getByRole('button', { name: 'Schema' }).click();
    await page.getByText('The data endpoint cannot be reached.').waitFor();
    await page.getByRole('button', { name: 'Query', exact: true }).click();
    await page.getByText('Where every query starts.').waitFor();
    await expectAccessible(page);

    // As a gateway without a schema answers.
    answer = (route) =>
      route.fulfill({
        status: 404,
        json: { errors: [{ message: 'Not found', extensions: { code: 'not_found', request_id: 'a' } }] },
      });
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('What fields cost isn’t stated.').waitFor();
    expect(await page.getByText('1 point', { exact: true }).count()).toBe(0);
    await page.unroute(costs);
  });

  test('a refusal is explained; a blocked account gets a page that says so', async () => {
    const page = await journey.signedIn();
    const { demo } = journey.stack();
    const account = `/private/accounts/${String(demo.account_id)}`;
    await page.getByRole('link', { name: 'Explorer' }).click();
    await openExplorer(page);
    await operate(demo, 'POST', `${account}/block`);
    // With the pace, the whole page says that the account is blocked.
    await page.route('**/usage/pace', (route) => route.abort());
    try {
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByRole('heading', { name: 'account_blocked' }).waitFor();
      await page.getByText('Contact support.').waitFor();
      await expectAccessible(page);
      const [book] = await Promise.all([
        page.waitForEvent('popup'),
        page.getByRole('link', { name: 'account_blocked' }).click(),
      ]);
      await book.getByRole('heading', { name: 'account_blocked', exact: true }).waitFor();
      expect(new URL(book.url()).hash).toBe('#account_blocked');
      await book.close();
      await page.unroute('**/usage/pace');
      await page.reload();
      await page.getByRole('heading', { name: 'Your account is blocked' }).waitFor();
      await expectAccessible(page);
    } finally {
      await operate(demo, 'POST', `${account}/unblock`);
    }
  });

  test('works by keyboard alone, in the dark theme, at 320 px', async () => {
    const url = `${journey.stack().demo.console.url}/explorer`;
    const narrow = await openTab(journey.browser(), url, { colorScheme: 'dark', width: 320 });
    const { page } = narrow;
    await signIn(page, journey.stack());
    await openExplorer(page);
    await write(page, 'Query editor', '{ country(code: "CH") { name } }');
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Query editor');
    await page.keyboard.press('Enter');
    // The editor ignores the shortcut until its schema has come.
    await eventually(
      async () => {
        await page.keyboard.press('ControlOrMeta+Enter');
        // Pressed again while the query runs, it would stop it.
        const result = page.getByText('Switzerland').waitFor({ timeout: 3_000 });
        return result.then(
          () => true,
          () => false,
        );
      },
      Boolean,
      LIVE_TIME_LIMIT_MS,
    );
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Variables editor');
    await expectAccessible(page);
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate<number>(overflow)).toBeLessThanOrEqual(0);
    expect(narrow.faults).toEqual([]);
    await narrow.close();
  });
}
