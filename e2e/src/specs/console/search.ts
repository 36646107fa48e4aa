import { expect } from '@jest/globals';
import { expectAccessible } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { makeApplication } from './journey.ts';
import type { Journey } from './journey.ts';

/** Finding pages and applications by keyboard alone. */
export function searchJourneys(journey: Journey): void {
  test('Ctrl K finds an application and a page by a part of the name, and gives the focus back', async () => {
    const page = await journey.signedIn();
    await makeApplication(page, 'Weather station');
    await page.getByRole('link', { name: 'Tokens', exact: true }).click();
    await page.getByRole('heading', { name: 'Tokens', exact: true }).waitFor();
    await page.keyboard.press('Control+k');
    const dialog = page.getByRole('dialog', { name: 'Go to' });
    await dialog.getByRole('menuitem', { name: 'Weather station' }).waitFor();
    await expectAccessible(page);
    await page.keyboard.type('her stat');
    await dialog.getByRole('menuitem', { name: 'Overview' }).waitFor({ state: 'hidden' });
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Weather station' }).waitFor();
    expect(page.url()).toMatch(/\/user\/api_v2\/applications\/\d+$/);

    await page.keyboard.press('Control+k');
    await page.keyboard.type('no such thing');
    await dialog.getByText('Nothing found.').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('token');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Tokens', exact: true }).waitFor();
  });

  test('Ctrl K finds pages by what they are about, what the account has, and a pasted request ID', async () => {
    const page = await journey.signedIn();
    const dialog = page.getByRole('dialog', { name: 'Go to' });
    await page.keyboard.press('Control+k');
    for (const [typed, found] of [
      ['rate limit', 'Plan'],
      ['invite', 'Invite a team member'],
      ['password', 'Security'],
      ['2fa', 'Security'],
      ['webhook secret', 'Webhooks'],
      ['starter', 'Starter'],
      ['theme', 'Switch theme'],
      [journey.stack().demo.member.email, journey.stack().demo.member.email],
    ] as const) {
      await dialog.getByRole('searchbox').fill(typed);
      await dialog.getByRole('menuitem', { name: found }).first().waitFor();
    }
    await page.keyboard.press('ArrowDown');
    // After typing, the library names the item that is chosen half a second later.
    await page.waitForFunction(() => {
      const chosen = document.activeElement?.getAttribute('aria-activedescendant') ?? null;
      return chosen !== null && document.getElementById(chosen) !== null;
    });
    await expectAccessible(page);
    const requestId = '0123456789abcdef0123456789abcdef';
    await dialog.getByRole('searchbox').fill(`x-request-id: ${requestId}`);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/user/requests?request_id=${requestId}`);
  });

  test('Ctrl K acts: a new application, an invitation, the theme, and signing out', async () => {
    const page = await journey.signedIn();
    async function choose(typed: string): Promise<void> {
      await page.keyboard.press('Control+k');
      await page
        .getByRole('dialog', { name: 'Go to' })
        .getByRole('searchbox')
        .and(page.locator(':focus'))
        .waitFor();
      await page.keyboard.type(typed);
      await page.getByRole('menuitem', { name: 'Overview' }).waitFor({ state: 'hidden' });
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Go to' }).waitFor({ state: 'hidden' });
    }
    await choose('new application');
    await page.getByRole('dialog', { name: 'New Application' }).waitFor();
    expect(page.url()).not.toContain('#');
    await page.keyboard.press('Escape');
    await choose('generate access');
    await page.getByRole('dialog', { name: 'Generate Access Token' }).waitFor();
    expect(page.url()).not.toContain('#');
    await page.keyboard.press('Escape');
    await choose('invite a');
    await page.locator('[name="email"]:focus').waitFor();
    await choose('rotate the client secret');
    const rotation = page.getByRole('dialog', { name: /^Rotate the client secret of / });
    await rotation.waitFor();
    expect(page.url()).toMatch(/\/api_v2\/applications\/\d+$/);
    await rotation.getByRole('button', { name: 'Cancel' }).click();
    await choose('starter');
    const change = page.getByRole('dialog', { name: 'Change to Starter' });
    await change.waitFor();
    expect(page.url()).toMatch(/\/plan$/);
    await page.keyboard.press('Escape');
    await change.waitFor({ state: 'hidden' });
    await choose('change plan');
    await page.locator('h2:focus', { hasText: 'Change your plan' }).waitFor();
    await choose('switch theme');
    await page.locator('html[data-theme="dark"]').waitFor();
    await page.getByRole('button', { name: 'Light theme' }).click();
    await choose('log out');
    await page.getByRole('heading', { name: /^Sign in to/ }).waitFor();
  });
}
