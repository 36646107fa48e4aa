import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible, openTab, untilLoaded } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { mailedLink } from '../../mailed-link.ts';
import { clipboard, signUp } from './journey.ts';
import type { Journey } from './journey.ts';
import { setUpApp } from './account.ts';
import { sellPlan } from './sold-plan.ts';

/** Single sign-on of a team, through the pages of oidc-provider; over processes only. */
export function ssoJourneys(journey: Journey): void {
  test('set up, tested, used by someone new and by an account that exists, then required', async () => {
    const { demo, identityProvider, dns } = journey.stack();
    if (identityProvider === undefined || dns === undefined) return;
    const site = demo.console.url;
    const domain = `company-${crypto.randomUUID()}.com`;
    identityProvider.domain = domain;
    const { page } = await signUp(journey, `boss@${domain}`);
    try {
      await sellPlan(journey, page, 'Standard');
      await page.goto(`${site}/team`);
      await page.getByLabel('Name').fill('Relay');
      await page.getByRole('button', { name: 'Create team' }).click();
      await page.getByLabel('Domain', { exact: true }).fill(domain);
      await page.getByRole('button', { name: 'Add domain' }).click();
      const record = page.getByRole('dialog', { name: `DNS record of ${domain}` });
      await record.getByRole('button', { name: 'Copy value' }).click();
      dns.texts.set(`_tollgate-challenge.${domain}`, [[await clipboard(page)]]);
      await record.getByRole('button', { name: 'Check now' }).click();
      await record.getByText('The domain is verified.').waitFor();
      await record.getByRole('button', { name: 'Close' }).click();

      // A colleague who has an account, and is in the team.
      const colleague = await openTab(journey.browser(), `${site}/sign-in`, {
        colorScheme: 'dark',
        width: 390,
      });
      const ada = await signUp({ ...journey, tab: () => colleague }, `ada@${domain}`);
      await page.getByLabel('Email').fill(ada.email);
      await page.getByLabel('Email').press('Enter');
      await page.getByText(`Invitation sent to ${ada.email}.`).waitFor();
      await colleague.page.goto(await mailedLink(journey, ada.email, 'invitation'));
      await colleague.page.getByRole('button', { name: `Accept as ${ada.email}` }).click();
      await colleague.page.getByRole('heading', { name: 'You joined the team' }).waitFor();

      const card = page.getByRole('region', { name: 'Single sign-on' });
      await page.reload();
      await untilLoaded(page);
      await card.getByRole('button', { name: 'Set up single sign-on' }).click();
      await card.getByLabel('Issuer').fill('https://10.0.0.1');
      await card.getByLabel('Client ID').fill(identityProvider.clientId);
      await card.getByLabel('Client secret').fill(identityProvider.clientSecret);
      await card.getByRole('button', { name: 'Save' }).click();
      await page.locator('[name="issuer"][aria-invalid="true"]:focus').waitFor();
      await expectAccessible(page);
      await card.getByLabel('Issuer').fill(identityProvider.issuer);
      await card.getByRole('button', { name: 'Copy redirect URI' }).click();
      identityProvider.redirectUris.add(await clipboard(page));
      await card.getByRole('button', { name: 'Save' }).click();
      await card.getByText('On', { exact: true }).waitFor();
      await expectAccessible(page);

      await card.getByRole('button', { name: 'Test sign-in' }).click();
      await signInAtProvider(page, 'boss');
      await page.getByRole('heading', { name: 'The test has worked' }).waitFor();
      await page.getByText('Verified by your team').waitFor();
      expect(page.url()).not.toContain('code=');
      await expectAccessible(page);
      // The answer works once, and a reload doesn't send it again.
      await page.reload();
      await page.getByText('The sign-in was finished already, or has expired.').waitFor();
      await expectAccessible(page);

      const newcomer = await openTab(journey.browser(), `${site}/sign-in`, {
        colorScheme: 'dark',
        width: 390,
      });
      await newcomer.page.getByRole('link', { name: 'Sign in with single sign-on' }).click();
      await newcomer.page.getByLabel('Work email').fill('grace@nowhere.example');
      await newcomer.page.keyboard.press('Enter');
      await newcomer.page.locator('[name="email"][aria-invalid="true"]:focus').waitFor();
      await expectAccessible(newcomer.page);
      await newcomer.page.getByLabel('Work email').fill(`grace@${domain}`);
      await newcomer.page.keyboard.press('Enter');
      await signInAtProvider(newcomer.page, 'grace');
      await newcomer.page.getByRole('heading', { name: 'Overview' }).waitFor();
      await newcomer.page.goto(`${site}/team`);
      await newcomer.page.getByRole('heading', { name: 'Relay' }).waitFor();
      expect(providerFaults(newcomer.faults)).toEqual([]);
      await newcomer.close();

      // The manager: a second factor, then by single sign-on, which asks for the account once.
      await page.goto(`${site}/account/security`);
      const codes = await setUpApp(page);
      await page.getByRole('button', { name: 'Sign out', exact: true }).last().click();
      await page.getByRole('heading', { name: 'Sign in to Tollgate' }).waitFor();
      await page.goto(`${site}/sso?next=%2Fteam`);
      await page.getByLabel('Work email').fill(`boss@${domain}`);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Link your account' }).waitFor();
      await expectAccessible(page);
      await page.getByLabel('Password', { exact: true }).fill(ada.password);
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Use a recovery code' }).click();
      await page.getByLabel('Recovery code').fill(codes[0] ?? '');
      await page.keyboard.press('Enter');
      await page.waitForURL(`${site}/team`);
      await card.getByRole('button', { name: 'Require single sign-on' }).click();
      const confirmation = page.getByRole('dialog', { name: 'Confirm it’s you' });
      await confirmation.getByLabel('Authentication code or recovery code').fill(codes[1] ?? '');
      await page.keyboard.press('Enter');
      await card.getByText('Required', { exact: true }).waitFor();
      await expectAccessible(page);

      // The colleague's session has ended; the password leads to single sign-on, and from then on it is enough.
      await colleague.page.goto(`${site}/usage`);
      await colleague.page.getByLabel('Email').fill(ada.email);
      await colleague.page.getByLabel('Password', { exact: true }).fill(ada.password);
      await colleague.page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await colleague.page.getByRole('heading', { name: 'Your team requires single sign-on' }).waitFor();
      await expectAccessible(colleague.page);
      await colleague.page.getByRole('button', { name: 'Sign in with single sign-on' }).click();
      await signInAtProvider(colleague.page, 'ada');
      await colleague.page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
      expect(providerFaults(colleague.faults)).toEqual([]);
      await colleague.close();

      await page.reload();
      await untilLoaded(page);
      await card.getByRole('button', { name: 'Stop requiring single sign-on' }).click();
      await card.getByText('On', { exact: true }).waitFor();
      await card.getByRole('button', { name: 'Remove' }).click();
      await expectAccessible(page);
      await card.getByRole('button', { name: 'Remove identity provider' }).click();
      // This session was of single sign-on, too.
      await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
      await expectAccessible(page);
    } finally {
      identityProvider.domain = 'example.com';
    }
    // Four people sign in, most of them twice.
  }, 400_000);
}

async function signInAtProvider(page: Page, name: string): Promise<void> {
  await page.getByPlaceholder('Enter any login').fill(name);
  await page.getByPlaceholder('and password').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

/** The provider's own pages ask for a font of another site. */
function providerFaults(faults: readonly string[]): string[] {
  return faults.filter((fault) => !fault.includes('fonts.googleapis'));
}
