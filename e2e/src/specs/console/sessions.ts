import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible, signIn } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { applicationsPage } from './journey.ts';
import type { Journey } from './journey.ts';

/** A browser's windows share one session: what happens in a tab whose session another window has replaced. */

type Credentials = { email: string; password: string };

export function sessionJourneys(journey: Journey): void {
  const { stack } = journey;

  /** As a window does that this tab hears nothing from; the cookie is the browser's. */
  async function signInElsewhere({ email, password }: Credentials): Promise<void> {
    const { origin } = new URL(stack().demo.console.url);
    const { request } = journey.tab().context;
    const response = await request.post(`${origin}/api/console/session`, { data: { email, password } });
    expect(response.status()).toBe(201);
  }

  async function typeNewApplication(page: Page): Promise<string> {
    const name = `Made later ${crypto.randomUUID()}`;
    await page.getByRole('button', { name: '+ New Application' }).first().click();
    await page.getByLabel('Name').fill(name);
    return name;
  }

  test('by one of the same account: what was typed is saved, and nothing is asked', async () => {
    const page = await journey.signedIn();
    const name = await typeNewApplication(page);
    await signInElsewhere(stack().demo.console);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('It is shown only once').waitFor();
    expect(await page.content()).toContain(name);
  });

  test('by one of another account: the tab says who is signed in, and does nothing in that name', async () => {
    const { member, console: manager } = stack().demo;
    const page = await journey.signedIn();
    const name = await typeNewApplication(page);
    await signInElsewhere(member);
    await page.getByRole('button', { name: 'Create' }).click();
    const dialog = page.getByRole('dialog', { name: 'You signed in with another account' });
    await dialog.getByText(`you signed in as ${member.email}`).waitFor();
    await dialog.getByText(`This page is that of ${manager.email}`).waitFor();
    expect(await page.innerText('body')).not.toContain('csrf_token');
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: `Continue as ${member.email}` }).press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('heading', { name: 'Applications' }).waitFor();
    await page.getByText(member.email, { exact: true }).waitFor();
    await page.goto(`${applicationsPage(journey)}?search=${encodeURIComponent(name)}`);
    await page.getByText('No applications match.').waitFor();
  });

  test('by another tab that signs in with another account: both say the same', async () => {
    const { member } = stack().demo;
    const page = await journey.signedIn();
    const other = await journey.tab().context.newPage();
    await other.goto(`${stack().demo.console.url}/sign-in`);
    await signIn(other, { demo: { ...stack().demo, console: { ...stack().demo.console, ...member } } });
    await other.waitForURL(stack().demo.console.url);
    await page.getByRole('button', { name: `Continue as ${member.email}` }).click();
    await page.waitForURL(applicationsPage(journey));
    await page.getByText(member.email, { exact: true }).waitFor();
  });
}
