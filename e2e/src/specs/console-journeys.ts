import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { browserPath, launchBrowser } from '../browser/browser.ts';
import { expectAccessible, openTab, signIn } from '../browser/console-page.ts';
import type { ConsoleTab } from '../browser/console-page.ts';
import { eventually, obtainToken, postGraphql, postToken, tokenFields } from '../caller.ts';
import type { Stack } from '../stack/stack.ts';

const QUERY = '{ country(code: "CH") { name } }';
const LIVE_TIME_LIMIT_MS = 10_000;

const applicationsPage = (stack: () => Stack) => `${stack().demo.console.url}/api_v2/applications`;
const clipboard = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()');

/** The link in a mail to an address that leads to a page, at the address where this machine reaches the stack. */
async function mailedLink(stack: () => Stack, email: string, page: string): Promise<string> {
  const link = new RegExp(`https?://[^\\s"<]+(/user/${page}\\?token=[\\w-]{43})`);
  const found = await eventually(
    async () => {
      const mails = (await stack().mails()).map((raw) => raw.replace(/=\r?\n/g, '').replaceAll('=3D', '='));
      return mails.filter((mail) => mail.includes(email)).map((mail) => link.exec(mail)?.[1]);
    },
    (paths) => paths.some((path) => path !== undefined),
    LIVE_TIME_LIMIT_MS,
  );
  return new URL(found.find((path) => path !== undefined) ?? '', stack().demo.console.url).href;
}

/** The web interface in a real browser: what a customer does there, and what follows at the API. */
export function consoleJourneys(stack: () => Stack): void {
  // A machine without a browser leaves the journeys out; CI demands one.
  const isLeftOut = browserPath === undefined && process.env['REQUIRE_BROWSER'] !== '1';
  (isLeftOut ? describe.skip : describe)('the web interface', () => {
    let browser: Browser;
    let tab: ConsoleTab;

    beforeAll(async () => {
      browser = await launchBrowser();
    });

    beforeEach(async () => {
      tab = await openTab(browser, applicationsPage(stack));
    });

    afterEach(async () => {
      const { faults } = tab;
      await tab.close();
      expect(faults).toEqual([]);
    });

    afterAll(() => browser.close());

    async function signedIn(): Promise<Page> {
      await signIn(tab.page, stack());
      await tab.page.getByRole('heading', { name: 'Applications' }).waitFor();
      return tab.page;
    }

    /** Makes an application in the dialog; its credentials are what the page shows. */
    async function makeApplication(page: Page, name: string) {
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
      await page.getByRole('link', { name, exact: true }).waitFor();
      return { application_id: 0, client_id, client_secret };
    }

    test('asks for a sign-in, says what is wrong with it, and returns to the requested page', async () => {
      const { page } = tab;
      await page.getByRole('heading', { name: 'Sign in to Tollgate' }).waitFor();
      await expectAccessible(page);
      await signIn(page, stack(), 'wrong password');
      await page.getByRole('alert').waitFor();
      expect(await page.getByRole('alert').innerText()).toMatch(/Request ID: \w+/);
      expect(await page.getByLabel('Email').inputValue()).toBe(stack().demo.console.email);
      await expectAccessible(page);
      await signIn(page, stack());
      await page.getByRole('heading', { name: 'Applications' }).waitFor();
      expect(page.url()).toBe(applicationsPage(stack));
    });

    test('new application, token and call by its credentials: the call appears in the Overview', async () => {
      const page = await signedIn();
      const { demo } = stack();
      const application = await makeApplication(page, 'Journey');
      const token = await obtainToken(demo, application);
      await page.getByRole('link', { name: 'Overview' }).click();
      const meter = page.getByRole('meter', { name: 'Points used' });
      const used = async () => Number(await meter.getAttribute('aria-valuenow'));
      await meter.waitFor();
      await expectAccessible(page);
      const before = await used();
      const response = await postGraphql(demo, token, QUERY);
      await response.arrayBuffer();
      const points = Number(response.headers.get('x-points-cost'));
      expect(points).toBeGreaterThan(0);
      await eventually(used, (now) => now >= before + points, LIVE_TIME_LIMIT_MS);
      await page
        .getByRole('cell', { name: 'Journey', exact: true })
        .waitFor({ timeout: LIVE_TIME_LIMIT_MS * 2 });
    });

    test('generate a token, copy it unseen, revoke it: calls work, then are refused', async () => {
      const page = await signedIn();
      const { demo } = stack();
      await makeApplication(page, 'Tokens by hand');
      await page.getByRole('link', { name: 'Tokens by hand', exact: true }).click();
      await page.getByRole('button', { name: 'Generate New Token' }).click();
      await expectAccessible(page);
      await page.getByRole('dialog', { name: 'Generate Access Token' }).getByLabel('Name').fill('Notebook');
      await page.getByRole('button', { name: 'Generate', exact: true }).click();
      await page.getByRole('cell', { name: 'Notebook', exact: true }).waitFor();
      const former = await clipboard(page);
      await page.getByRole('button', { name: 'Copy token Notebook' }).click();
      const token = await eventually(
        () => clipboard(page),
        (text) => text !== former,
        LIVE_TIME_LIMIT_MS,
      );
      expect(await page.content()).not.toContain(token);
      expect((await postGraphql(demo, token, QUERY)).status).toBe(200);
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Revoke token Notebook' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke token' }).click();
      await page.getByRole('cell', { name: 'Revoked', exact: true }).waitFor();
      await eventually(
        () => postGraphql(demo, token, QUERY),
        ({ status }) => status === 401,
        LIVE_TIME_LIMIT_MS,
      );
    });

    test('revoking an application asks for its name; then its credentials are refused', async () => {
      const page = await signedIn();
      const { demo } = stack();
      const application = await makeApplication(page, 'To be revoked');
      await page.getByRole('button', { name: 'Revoke To be revoked' }).click();
      const dialog = page.getByRole('dialog', { name: 'Revoke To be revoked?' });
      await dialog.getByLabel(/^Type/).fill('something else');
      await dialog.getByRole('button', { name: 'Revoke' }).click();
      await dialog.getByText('This is not the name of the application.').waitFor();
      await expectAccessible(page);
      expect((await postToken(demo.auth_url, tokenFields(application))).status).toBe(200);
      await dialog.getByLabel(/^Type/).fill('To be revoked');
      await dialog.getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('button', { name: 'Delete To be revoked' }).waitFor();
      await eventually(
        () => postToken(demo.auth_url, tokenFields(application)),
        ({ status }) => status === 401,
        LIVE_TIME_LIMIT_MS,
      );
    });

    test('a session that ends while typing: sign in over the page, and nothing typed is lost', async () => {
      const page = await signedIn();
      await page.getByRole('button', { name: '+ New Application' }).first().click();
      await page.getByLabel('Name').fill('Typed before the end');
      await tab.context.clearCookies();
      await page.getByRole('button', { name: 'Create' }).click();
      const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
      await dialog.getByLabel('Password', { exact: true }).fill(stack().demo.console.password);
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'Sign in' }).click();
      await dialog.waitFor({ state: 'hidden' });
      expect(await page.getByLabel('Name').inputValue()).toBe('Typed before the end');
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByText('It is shown only once').waitFor();
    });

    test('sign up from the mail, and set a new password from another one', async () => {
      const { page } = tab;
      const email = `journey-${crypto.randomUUID()}@example.com`;
      await page.getByRole('link', { name: 'Create an account' }).click();
      await page.getByRole('heading', { name: 'Create your account' }).waitFor();
      await expectAccessible(page);
      await page.getByLabel('Name').fill('Ada');
      await page.getByLabel('Email').fill(email);
      await page.getByLabel('Password', { exact: true }).fill('short');
      await page.getByRole('button', { name: 'Sign up' }).click();
      await page.locator('[name="password"][aria-invalid="true"]:focus').waitFor();
      await expectAccessible(page);
      await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
      await page.getByRole('button', { name: 'Sign up' }).click();
      await page.getByRole('heading', { name: 'Check your email' }).waitFor();
      await page.goto(await mailedLink(stack, email, 'verify-email'));
      await page.getByRole('button', { name: 'Confirm' }).click();
      await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
      expect(page.url()).not.toContain('token');
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Confirm' }).click();
      await page.getByText(`${email} is now the address of your account.`).waitFor();

      await page.goto(`${stack().demo.console.url}/forgot-password`);
      await page.getByLabel('Email').fill(email);
      await page.getByRole('button', { name: 'Send the link' }).click();
      await page.getByRole('heading', { name: 'Check your email' }).waitFor();
      await page.goto(await mailedLink(stack, email, 'reset-password'));
      await page.getByLabel('Password', { exact: true }).fill('another horse battery');
      await page.getByRole('button', { name: 'Change password' }).click();
      await page.getByRole('link', { name: 'Sign in' }).click();
      await page.getByLabel('Email').fill(email);
      await page.getByLabel('Password', { exact: true }).fill('another horse battery');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'You have no plan yet' }).waitFor();
      await expectAccessible(page);
    });

    test('an invitation names the team, and is declined without an account', async () => {
      const page = await signedIn();
      const email = `invited-${crypto.randomUUID()}@example.com`;
      const { origin } = new URL(stack().demo.console.url);
      const session = await page.request.get(`${origin}/api/console/session`);
      const { csrf_token } = (await session.json()) as { csrf_token: string };
      const invited = await page.request.post(`${origin}/api/console/team/invitations`, {
        headers: { 'x-csrf-token': csrf_token },
        data: { email },
      });
      expect(invited.status()).toBe(201);
      await tab.context.clearCookies();
      await page.goto(await mailedLink(stack, email, 'invitation'));
      await page.getByRole('heading', { name: /^Join / }).waitFor();
      await page.getByText('Sign in to accept').waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Decline' }).click();
      await page.getByRole('heading', { name: 'Invitation declined' }).waitFor();
    });

    test('all tokens in one list, below the temporary one, which works', async () => {
      const page = await signedIn();
      await page.getByRole('link', { name: 'Tokens', exact: true }).first().click();
      await page.getByRole('heading', { name: 'Tokens', exact: true }).waitFor();
      await page.evaluate('navigator.clipboard.writeText("nothing")');
      await page.getByRole('button', { name: 'Copy temporary token' }).click();
      const token = await eventually(
        () => clipboard(page),
        (text) => text !== 'nothing',
        LIVE_TIME_LIMIT_MS,
      );
      expect((await postGraphql(stack().demo, token, QUERY)).status).toBe(200);
      await page.getByText('This one expires').waitFor();
      await page.getByRole('cell', { name: 'Notebook', exact: true }).waitFor();
      await page.getByLabel('Status').selectOption('Active');
      await page.getByText('No token has this status.').waitFor();
      await expectAccessible(page);
    });

    test('works by keyboard alone, in the dark theme, at 320 px', async () => {
      const narrow = await openTab(browser, applicationsPage(stack), { colorScheme: 'dark', width: 320 });
      const { page } = narrow;
      const { email, password } = stack().demo.console;
      await page.getByLabel('Email').focus();
      await page.keyboard.type(email);
      await page.keyboard.press('Tab');
      await page.keyboard.type(password);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Applications' }).waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: '+ New Application' }).first().focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.type('By keyboard');
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
      const focused = page.locator(':focus');
      expect(await focused.innerText()).toBe('+ New Application');
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await page.evaluate<number>(overflow)).toBeLessThanOrEqual(0);
      expect(narrow.faults).toEqual([]);
      await narrow.close();
    });

    test('an address that does not exist is a page that says so, and no account is needed for it', async () => {
      const response = await fetch(`${stack().demo.console.url}/nothing`);
      expect(response.status).toBe(404);
    });
  });
}
