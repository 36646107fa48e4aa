import { expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { addAuthenticator } from '../../browser/authenticator.ts';
import { expectAccessible, openTab, untilLoaded } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { eventually, obtainToken, postGraphql } from '../../caller.ts';
import { operate } from '../../operate.ts';
import type { DemoApplication } from '../../stack/stack.ts';
import { layoutOf } from './every-page.ts';
import { LIVE_TIME_LIMIT_MS, QUERY } from './journey.ts';
import type { Journey } from './journey.ts';
import { operatorTab } from './operator-tab.ts';

/** The goal of a newcomer who helps a customer. */
const CLICKS_MAX = 6;

/** What a customer types is text wherever it is shown. */
const HOSTILE = '<img src=x onerror="document.title=1">';

/** The operators' console, with a passkey of the browser's own authenticator. */
export function operatorJourneys(journey: Journey): void {
  async function newOperator(name: string) {
    const body = { name, email: `${crypto.randomUUID()}@example.com`, role: 'support' };
    const { operator, enrolment } = await operate<{
      operator: { operator_id: number };
      enrolment: { url: string };
    }>(journey.stack().demo, 'POST', '/private/operators', body);
    return { path: `/private/operators/${String(operator.operator_id)}`, url: enrolment.url };
  }

  async function enrol(page: Page, { url }: { url: string }): Promise<void> {
    await addAuthenticator(page);
    // Into an open tab, which doesn't load its page again.
    await page.goto(url);
    await page.getByRole('button', { name: 'Create a passkey' }).click();
    await page.getByRole('heading', { name: 'Customers' }).waitFor();
    expect(page.url()).not.toContain('enrol');
  }

  const signInButton = (page: Page) => page.getByRole('button', { name: 'Sign in with a passkey' });

  test('enrolment, sign-out, sign-in and removal', async () => {
    const grace = await newOperator('Grace Hopper');
    // Without any operator, the page says how to make the first one.
    await newOperator('Another Operator');
    const { page, faults, close } = await openTab(journey.browser(), new URL('.', grace.url).href);
    try {
      await signInButton(page).waitFor();
      await expectAccessible(page);
      await enrol(page, grace);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await signInButton(page).click();
      await page.getByText('Grace Hopper').waitFor();

      // As when it has been idle for too long.
      const cookies = await page.context().cookies();
      await page.context().clearCookies();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await signInButton(page).waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);

      await page.context().addCookies(cookies);
      await page.reload();
      await page.getByRole('heading', { name: 'Customers' }).waitFor();
      await operate(journey.stack().demo, 'DELETE', grace.path);
      await page.getByRole('link', { name: 'Audit log' }).click();
      await signInButton(page).click();
      await page.getByRole('alert').waitFor();
      await expectAccessible(page);
      expect(faults).toEqual([]);
    } finally {
      await close();
    }
  });

  test('the audit log is filtered and saved, and Health says what needs action', async () => {
    const ada = await newOperator('Ada Lovelace');
    const { page, faults, close } = await openTab(journey.browser(), new URL('.', ada.url).href);
    try {
      await enrol(page, ada);
      await page.getByRole('link', { name: 'Audit log' }).click();
      const changes = page.getByRole('region', { name: 'Changes' });
      // The one by which she is an operator, with the reason that all of this suite's changes have.
      await changes.getByText('journey').first().waitFor();
      await changes.getByText('Created: name, email, local_role, operator_id').first().click();
      await changes.getByText('Ada Lovelace').first().waitFor();
      const filters = page.getByRole('region', { name: 'Filters' });
      await filters.getByLabel('From').fill('yesterday');
      await filters.getByRole('button', { name: 'Filter' }).click();
      await page.locator('[name="from"][aria-invalid="true"]:focus').waitFor();
      await expectAccessible(page);
      await filters.getByLabel('From').fill('2020-01-01');
      await filters.getByLabel('By').fill('account:999999999');
      await page.keyboard.press('Enter');
      await changes.getByText('No change has all of this.').waitFor();
      expect(new URL(page.url()).searchParams.get('actor')).toBe('account:999999999');
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download CSV' }).click();
      expect((await saved).suggestedFilename()).toBe('audit-log-empty.csv');
      await page.getByRole('link', { name: 'Health' }).click();
      await page.getByRole('region', { name: 'Findings' }).getByText('usage streams').waitFor();
      await expectAccessible(page);
      expect(faults).toEqual([]);
    } finally {
      await close();
    }
  });

  test('the book is for signed-in operators: read, searched, and with the reference of their API', async () => {
    const reader = await newOperator('Radia Perlman');
    const book = new URL('docs', reader.url).href;
    const { page, faults, close } = await openTab(journey.browser(), book);
    try {
      await signInButton(page).waitFor();
      await enrol(page, reader);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.goto(`${book}/api/credits`);
        await page.getByRole('heading', { name: 'Grant points to an account' }).waitFor();
        await expectAccessible(page);
      }
      // A setting, a command, an alert: each has an address of its own.
      for (const [name, address] of [
        ['SHUTDOWN_DELAY_MS', 'configuration#shutdown_delay_ms'],
        ['plans create', 'command#plans-create'],
        ['TollgateClosingOverdue', 'runbook#tollgateclosingoverdue'],
      ] as const) {
        await page.getByRole('button', { name: 'Search' }).click();
        await page.getByRole('dialog', { name: 'Search' }).getByRole('textbox').fill(name);
        await page.getByRole('link', { name, exact: true }).first().click();
        await page.waitForURL(`${book}/${address}`);
        await expectAccessible(page);
      }
      expect(faults).toEqual([]);
    } finally {
      await close();
    }
  });

  test('an application that acts for other people is verified, with a reason', async () => {
    const { demo } = journey.stack();
    const name = `Chart maker ${crypto.randomUUID()}`;
    await operate(demo, 'POST', '/private/applications', {
      account_id: demo.account_id,
      name,
      type: 'authorization',
      token_lifespan_sec: 3_600,
      redirect_uris: ['https://app.example/callback'],
      public_client: true,
    });
    const { page, faults, close } = await operatorTab(journey, 'support');
    try {
      await page.getByRole('link', { name: 'Applications' }).click();
      const row = page.getByRole('row').filter({ hasText: name });
      await row.getByText('Not verified').waitFor();
      await expectAccessible(page);
      await row.getByRole('button', { name: `Verify ${name}` }).click();
      const dialog = page.getByRole('dialog', { name: `Verify ${name}?` });
      await dialog.getByRole('button', { name: 'Verify' }).click();
      await page.locator('[name="X-Reason"][aria-invalid="true"]:focus').waitFor();
      await expectAccessible(page);
      await dialog.getByLabel('Reason').fill('Known since 2019');
      await dialog.getByRole('button', { name: 'Verify' }).click();
      await row.getByText('Verified', { exact: true }).waitFor();
      await page.setViewportSize({ width: 390, height: 900 });
      await page.emulateMedia({ colorScheme: 'dark' });
      await expectAccessible(page);
      await row.getByRole('button', { name: `End verification ${name}` }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'End verification' }).click();
      await row.getByText('Not verified').waitFor();
      expect(faults).toEqual([]);
    } finally {
      await close();
    }
  });

  test('a tab whose browser signs in another operator shows nothing of the first', async () => {
    const [first, second] = [await newOperator('First Operator'), await newOperator('Second Operator')];
    const { page, context, close } = await openTab(journey.browser(), new URL('.', first.url).href);
    try {
      await enrol(page, first);
      await page.getByRole('link', { name: 'Your sessions' }).click();
      await page.getByText('This one').waitFor();
      const other = await context.newPage();
      await other.goto(new URL('.', second.url).href);
      await other.getByText('First Operator').waitFor();
      await enrol(other, second);
      await page.getByText('Second Operator').waitFor();
      await page.getByText('This one').waitFor();
      expect(await page.getByRole('row').count()).toBe(2);
    } finally {
      await close();
    }
  });

  test('by the identity provider: its pages, no role, a role, and signing out of both', async () => {
    const { identityProvider } = journey.stack();
    if (identityProvider === undefined) throw new Error('the identity provider is out of reach');
    const { issuer, groups } = identityProvider;
    const { url } = await newOperator('Operator with a passkey');
    const { page, faults, close } = await openTab(journey.browser(), new URL('.', url).href);
    const byProvider = page.getByRole('button', { name: `Sign in with ${new URL(issuer).host}` });
    const atProvider = async (name: string) => {
      await page.getByPlaceholder('Enter any login').fill(name);
      await page.getByPlaceholder('and password').fill('any');
      await page.getByRole('button', { name: 'Sign-in' }).click();
      await page.getByRole('button', { name: 'Continue' }).click();
    };
    try {
      await byProvider.waitFor();
      await signInButton(page).waitFor();
      await expectAccessible(page);
      await byProvider.click();
      await atProvider('Katherine');
      await page.getByText('Katherine (Katherine@example.com) has no role here.').waitFor();
      await expectAccessible(page);
      expect(new URL(page.url()).pathname).toBe('/operator/');
      // The answer works once, and a reload doesn't send it again.
      await page.reload();
      await byProvider.waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);

      groups.set('Katherine', ['help desk']);
      // The provider still knows who it is.
      await byProvider.click();
      await page.getByRole('heading', { name: 'Customers' }).waitFor();
      await page.getByText('Katherine (support)').waitFor();
      expect(page.url()).not.toContain('code=');
      await page.getByRole('link', { name: 'Your sessions' }).click();
      await page.getByText('This one').waitFor();
      await page.reload();
      await page.getByText('This one').waitFor();

      // Past half of a session, the role is read again without a question, and the page is the same one.
      const readAgain = async (status: number) => {
        await page.route(
          '**/operator/api/session',
          async (route) => {
            const response = await route.fetch();
            const body = (await response.json()) as object;
            const created_at = new Date(Date.now() - 7_200_000).toISOString();
            await route.fulfill({ response, json: { ...body, created_at } });
          },
          { times: 1 },
        );
        const answered = page.waitForResponse(
          (response) =>
            response.url().endsWith('/operator/api/sign-in/oidc') && response.request().method() === 'POST',
        );
        await page.reload();
        expect((await answered).status()).toBe(status);
      };
      await readAgain(201);
      await page.getByText('This one').waitFor();
      expect(new URL(page.url()).pathname).toBe('/operator/sessions');
      // Signed out there: the session ends, without a message for something that no one has asked for.
      await page.context().clearCookies({ domain: new URL(issuer).hostname });
      await readAgain(400);
      await byProvider.waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
      await byProvider.click();
      await atProvider('Katherine');
      await page.getByText('This one').waitFor();
      expect(new URL(page.url()).pathname).toBe('/operator/sessions');

      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('button', { name: 'Yes, sign me out' }).click();
      await byProvider.click();
      await page.getByPlaceholder('Enter any login').waitFor();
      await page.goto(new URL('.', url).href);
      await byProvider.waitFor();
      expect(faults.filter((fault) => !fault.includes('fonts.googleapis'))).toEqual([]);
    } finally {
      await close();
    }
  });

  test(`a newcomer finds a customer, sees why a call was refused, grants credits and extends a period within ${String(CLICKS_MAX)} clicks`, async () => {
    const { demo } = journey.stack();
    const { email, token } = await refusedCustomer();
    const { page, faults, close } = await operatorTab(journey, 'admin');
    let clicks = 0;
    const press = async (button: Locator) => {
      clicks += 1;
      await button.click();
    };
    const fill = (section: string, field: string, text: string) =>
      page.getByRole('region', { name: section }).getByLabel(field).fill(text);
    const button = (section: string, name: string) =>
      page.getByRole('region', { name: section }).getByRole('button', { name });
    try {
      const startedMs = performance.now();
      await fill('Find a customer', 'Email', email.slice(0, 20));
      await press(button('Find a customer', 'Find'));
      await press(page.getByRole('status').getByRole('link'));
      const refused = page.getByRole('region', { name: 'Refused and failed calls' });
      await refused.getByText('no_active_billing_period').waitFor();
      await press(refused.getByText('Explain'));
      await refused.getByText('The period and its grace window have ended').waitFor();

      await fill('Grant credits', 'Points', '5000');
      await fill('Grant credits', 'Note', 'Sorry for the wait');
      await press(button('Grant credits', 'Grant'));
      await page.getByRole('region', { name: 'Credits', exact: true }).getByText('5,000').first().waitFor();
      await press(button('Add a billing period', 'Add period'));
      await page.getByRole('region', { name: 'Account', exact: true }).getByText('active').waitFor();
      const seconds = (performance.now() - startedMs) / 1_000;
      const applications = page.getByRole('region', { name: 'Applications' });
      await applications.getByText(HOSTILE).waitFor();
      expect(await page.locator('img[src="x"]').count()).toBe(0);
      expect(clicks).toBeLessThanOrEqual(CLICKS_MAX);
      console.info(`a newcomer: ${String(clicks)} clicks, ${seconds.toFixed(1)} s`);
      await expectAccessible(page);

      // The customer's next call passes.
      await eventually(
        async () => (await postGraphql(demo, token, QUERY)).status,
        (status) => status === 200,
        LIVE_TIME_LIMIT_MS,
      );
      // What is wrong stands at its field.
      await page.getByLabel('From').fill('2020-01-01');
      await page.getByLabel('To', { exact: true }).fill('2019-01-01');
      await button('Add a billing period', 'Add period').click();
      await page.locator('[name="ended_at"][aria-invalid="true"]:focus').waitFor();
      for (const [colorScheme, width] of [
        ['light', 1_440],
        ['dark', 390],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        await expectAccessible(page);
        expect((await page.evaluate(layoutOf)).overflow).toBe(0);
      }
      expect(faults).toEqual([]);
    } finally {
      await close();
    }
  });

  test('what needs a second operator waits for one, who confirms or declines it', async () => {
    const { demo } = journey.stack();
    const email = `${crypto.randomUUID()}@example.com`;
    const { account_id } = await operate<{ account_id: number }>(demo, 'POST', '/private/accounts', {
      email,
      name: 'Ada',
    });
    const [first, second] = [await operatorTab(journey, 'support'), await operatorTab(journey, 'admin')];
    const { origin } = new URL(first.page.url());
    const ask = async () => {
      await first.page.goto(`${origin}/operator/accounts/${String(account_id)}`);
      await untilLoaded(first.page);
      await first.page.getByRole('button', { name: 'Reset two-factor' }).click();
      await first.page.getByLabel('to confirm').fill(email);
      await first.page.getByRole('dialog').getByLabel('Reason').fill('Lost her phone');
      await first.page.getByRole('dialog').getByRole('button', { name: 'Reset two-factor' }).click();
      await first.page.getByText('A second operator must confirm it').waitFor();
    };
    try {
      await ask();
      await first.page.getByRole('link', { name: 'Confirmations' }).first().click();
      const own = first.page.getByRole('row').filter({ hasText: String(account_id) });
      await own.getByText('Yours').waitFor();
      expect(await own.getByRole('button', { name: 'Confirm' }).count()).toBe(0);
      await expectAccessible(first.page);

      const { page } = second;
      await page.goto(`${origin}/operator/confirmations`);
      const waiting = page.getByRole('row').filter({ hasText: String(account_id) });
      await untilLoaded(page);
      await waiting.getByRole('button', { name: /^Confirm/ }).click();
      await page.getByRole('dialog').getByText('Lost her phone').waitFor();
      for (const [colorScheme, width] of [
        ['light', 1_440],
        ['dark', 390],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        await expectAccessible(page);
        expect((await page.evaluate(layoutOf)).overflow).toBe(0);
      }
      await page.setViewportSize({ width: 1_440, height: 900 });
      await page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click();
      await waiting.waitFor({ state: 'hidden' });

      await ask();
      await page.reload();
      await untilLoaded(page);
      await waiting.getByRole('button', { name: /^Decline/ }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Decline' }).click();
      await waiting.waitFor({ state: 'hidden' });
      expect([...first.faults, ...second.faults]).toEqual([]);
    } finally {
      await first.close();
      await second.close();
    }
  });

  /** Whose period is over, and whose call was refused for it. */
  async function refusedCustomer(): Promise<{ email: string; token: string }> {
    const { demo } = journey.stack();
    const make = <T>(path: string, body: unknown) => operate<T>(demo, 'POST', path, body);
    const email = `${crypto.randomUUID()}@example.com`;
    const { account_id } = await make<{ account_id: number }>('/private/accounts', { email, name: HOSTILE });
    const plan = { name: `Plan ${email}`, description: { points_limit: 1_000 }, grace_sec: 0 };
    const { plan_id } = await make<{ plan_id: number }>('/private/plans', plan);
    const daysAgo = (days: number) =>
      `${new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)}T00:00:00Z`;
    const period = { account_id, plan_id, started_at: daysAgo(40), ended_at: daysAgo(10) };
    await make('/private/periods', period);
    const application = await make<DemoApplication>('/private/applications', {
      account_id,
      name: HOSTILE,
      type: 'automatic',
      token_lifespan_sec: 3_600,
    });
    const token = await obtainToken(demo, application);
    expect((await postGraphql(demo, token, QUERY)).status).toBe(402);
    return { email, token };
  }
}
