import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { addAuthenticator } from '../../browser/authenticator.ts';
import { expectAccessible, openTab } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { operate } from '../../operate.ts';
import type { Journey } from './journey.ts';

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
      await page.getByRole('button', { name: 'Search' }).click();
      await page.getByRole('dialog', { name: 'Search' }).getByRole('textbox').fill('TollgateClosingOverdue');
      await page.getByRole('link', { name: 'TollgateClosingOverdue' }).first().click();
      await page.waitForURL(`${book}/runbook#tollgateclosingoverdue`);
      await expectAccessible(page);
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
}
