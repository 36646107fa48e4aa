import { expect } from '@jest/globals';
import { expectAccessible, signIn } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { eventually } from '../../caller.ts';
import { mailedLink } from '../../mailed-link.ts';
import { LIVE_TIME_LIMIT_MS, applicationsPage } from './journey.ts';
import type { Journey } from './journey.ts';

/** Sign-in, sign-up, and the targets of links in mails. */
export function entryJourneys(journey: Journey): void {
  test('asks for a sign-in, says what is wrong with it, and returns to the requested page', async () => {
    const { page } = journey.tab();
    await page.goto(applicationsPage(journey));
    await page.getByRole('heading', { name: 'Sign in to Tollgate' }).waitFor();
    await expectAccessible(page);
    await signIn(page, journey.stack(), 'wrong password');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).not.toMatch(/Request ID/);
    expect(await page.getByLabel('Email').inputValue()).toBe(journey.stack().demo.console.email);
    await expectAccessible(page);
    await signIn(page, journey.stack());
    await page.getByRole('heading', { name: 'Applications' }).waitFor();
    expect(page.url()).toBe(applicationsPage(journey));
  });

  test('the theme that was chosen is there before the first script has loaded', async () => {
    const { page } = journey.tab();
    await page.goto(journey.stack().demo.console.url);
    await page.getByRole('heading', { name: 'Sign in to Tollgate' }).waitFor();
    await page.evaluate(() => {
      localStorage.setItem('tollgate-theme', 'dark');
    });
    const looked = Promise.withResolvers<undefined>();
    await page.route(/\/assets\/(index|app)-[^/]*\.js$/, async (route) => {
      await looked.promise;
      await route.continue();
    });
    await page.reload({ waitUntil: 'commit' });
    await page.locator('html[data-theme="dark"] #outline').waitFor();
    looked.resolve(undefined);
    await page.getByRole('heading', { name: 'Sign in to Tollgate' }).waitFor();
  });

  test('a session that ends while typing: sign in over the page, and nothing typed is lost', async () => {
    const page = await journey.signedIn();
    await page.getByRole('button', { name: '+ New Application' }).first().click();
    await page.getByLabel('Name').fill('Typed before the end');
    await journey.tab().context.clearCookies();
    await page.getByRole('button', { name: 'Create' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('Password', { exact: true }).fill(journey.stack().demo.console.password);
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Name').inputValue()).toBe('Typed before the end');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('It is shown only once').waitFor();
  });

  test('sign up from the mail, and set a new password from another one', async () => {
    const { page } = journey.tab();
    const email = `journey-${crypto.randomUUID()}@example.com`;
    await page.goto(journey.stack().demo.console.url);
    await page.getByRole('link', { name: 'Create an account' }).click();
    await page.getByRole('heading', { name: 'Create your account' }).waitFor();
    await expectAccessible(page);
    await page.getByLabel('Name').fill('Ada');
    await page.getByLabel('Email').fill(email);
    await page.getByRole('button', { name: 'Sign up' }).click();
    await page.getByRole('heading', { name: 'Check your email' }).waitFor();
    await page.goto(await mailedLink(journey, email, 'verify-email'));
    await page.locator('[name="password"]:focus').waitFor();
    expect(await page.locator('[aria-invalid="true"]').count()).toBe(0);
    await page.getByLabel('Password', { exact: true }).fill('password1');
    await page.getByRole('button', { name: 'Finish signing up' }).click();
    await page.locator('[name="password"][aria-invalid="true"]:focus').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
    expect(page.url()).not.toContain('token');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Finish signing up' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.locator('main:focus').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: /^Sign in to/ }).waitFor();

    await page.goto(`${journey.stack().demo.console.url}/forgot-password`);
    await page.getByLabel('Email').fill(email);
    await page.getByRole('button', { name: 'Send the link' }).click();
    await page.getByRole('heading', { name: 'Check your email' }).waitFor();
    await page.goto(await mailedLink(journey, email, 'reset-password'));
    await page.getByLabel('Password', { exact: true }).fill('another horse battery');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill('another horse battery');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('Trial', { exact: true }).waitFor();
    await expectAccessible(page);
  });

  test('a link that was cut, or used before, says so and offers a new one', async () => {
    const { page } = journey.tab();
    const { url } = journey.stack().demo.console;
    const email = `late-${crypto.randomUUID()}@example.com`;
    const dead = page.getByText('This link was used, has expired, or is incomplete.');
    await page.goto(`${url}/reset-password?token=cut`);
    await page.getByLabel('Password', { exact: true }).fill('another horse battery');
    await page.getByRole('button', { name: 'Change password' }).click();
    await dead.waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Send a new link' }).click();
    await page.getByRole('heading', { name: 'Reset your password' }).waitFor();
    await page.goto(`${url}/verify-email?token=cut`);
    await page.getByRole('button', { name: 'Confirm' }).click();
    await dead.waitFor();
    await page.goto(`${url}/invitation?token=cut`);
    await dead.waitFor();
    await expectAccessible(page);

    await page.goto(`${url}/sign-up`);
    await page.getByLabel('Name').fill('Ada');
    await page.getByLabel('Email').fill(email);
    await page.getByRole('button', { name: 'Sign up' }).click();
    await mailedLink(journey, email, 'verify-email');
    await page.goto(`${url}/verify-email?for=sign-up&token=cut`);
    await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
    await page.getByRole('button', { name: 'Finish signing up' }).click();
    await dead.waitFor();
    await expectAccessible(page);
    await page.getByLabel('Email').fill(email);
    const sent = (await journey.stack().mails()).filter((mail) => mail.includes(email)).length;
    await page.getByRole('button', { name: 'Send a new link' }).click();
    await page.getByRole('heading', { name: 'Check your email' }).waitFor();
    await eventually(
      async () => (await journey.stack().mails()).filter((mail) => mail.includes(email)).length,
      (now) => now === sent + 1,
      LIVE_TIME_LIMIT_MS,
    );
  });

  test('“Check your email” sends again after a while, and the address can be corrected', async () => {
    const { page } = journey.tab();
    await page.clock.install();
    await page.goto(`${journey.stack().demo.console.url}/sign-up`);
    const email = `wrong-${crypto.randomUUID()}@example.com`;
    await page.getByLabel('Name').fill('Ada');
    await page.getByLabel('Email').fill(email);
    await page.getByRole('button', { name: 'Sign up' }).click();
    await page.getByText('If nothing comes within a few minutes').waitFor();
    await expectAccessible(page);
    expect(await page.getByRole('button', { name: /^Send again in/ }).isDisabled()).toBe(true);
    await page.clock.runFor(60_000);
    await page.getByRole('button', { name: 'Send again', exact: true }).click();
    await page.getByText('We sent it again.').waitFor();
    await page.getByRole('button', { name: 'Use another address' }).click();
    expect(await page.getByLabel('Email').inputValue()).toBe(email);
    expect(await page.getByLabel('Name').inputValue()).toBe('Ada');
  });

  test('what is wrong with a field is a sentence, and is said when one leaves it', async () => {
    const { page } = journey.tab();
    const { url } = journey.stack().demo.console;
    await page.goto(`${url}/sign-up`);
    await page.locator('[name="name"]:focus').waitFor();
    await page.getByLabel('Email').fill('ada');
    await page.getByLabel('Name').focus();
    await page.getByText('Enter an email address, such as name@example.com.').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Email').fill('ada@example.com');
    await page.getByText('Enter an email address').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Sign up' }).click();
    await page.getByText('Fill in this field.').waitFor();

    await page.goto(`${url}/reset-password?token=${'a'.repeat(43)}`);
    await page.getByLabel('Password', { exact: true }).fill('short');
    await page.keyboard.press('Shift+Tab');
    await page.getByText('Use at least 8 characters.').waitFor();
    await expectAccessible(page);
  });

  test('an invitation names the team, and is declined without an account', async () => {
    const page = await journey.signedIn();
    const email = `invited-${crypto.randomUUID()}@example.com`;
    const { origin } = new URL(journey.stack().demo.console.url);
    const session = await page.request.get(`${origin}/api/console/session`);
    const { csrf_token } = (await session.json()) as { csrf_token: string };
    const invited = await page.request.post(`${origin}/api/console/team/invitations`, {
      headers: { 'x-csrf-token': csrf_token },
      data: { email },
    });
    expect(invited.status()).toBe(201);
    await journey.tab().context.clearCookies();
    await page.goto(await mailedLink(journey, email, 'invitation'));
    await page.getByRole('heading', { name: /^Join / }).waitFor();
    await page.getByText('Sign in to accept').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Decline' }).click();
    await page.getByRole('heading', { name: 'Invitation declined' }).waitFor();
  });

  test('an address that does not exist is a page that says so, and no account is needed for it', async () => {
    const { page } = journey.tab();
    const { url } = journey.stack().demo.console;
    expect((await fetch(`${url}/nothing`)).headers.get('content-type')).toBe('application/problem+json');
    const response = await page.goto(`${url}/nothing/at/all`);
    expect(response?.status()).toBe(404);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Go to the overview' }).click();
    await page.getByRole('heading', { name: /^Sign in to/ }).waitFor();
  });
}
