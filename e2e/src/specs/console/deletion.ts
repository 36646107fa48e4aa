import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { eventually } from '../../caller.ts';
import { LIVE_TIME_LIMIT_MS, signUp } from './journey.ts';
import type { Journey } from './journey.ts';

/** Deleting one's account: what it ends, the grace, and the way back. */
export function deletionJourneys(journey: Journey): void {
  test('by keyboard alone: asked for, refused for a mistyped address, and cancelled from the mail', async () => {
    const { page, email, password } = await signUp(journey, `deletion-${randomUUID()}@example.com`);
    await page.goto(`${journey.stack().demo.console.url}/account/data`);
    const ask = page.getByRole('button', { name: 'Delete account' });
    await ask.waitFor();
    await ask.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').locator('[name="email"]:focus').waitFor();
    const typed = page.getByRole('dialog').locator('[name="email"]');
    expect(await typed.getAttribute('maxlength')).toBe('254');
    await page.getByRole('dialog').getByText('0 applications and 0 tokens: revoked now').waitFor();
    await expectAccessible(page);
    await page.keyboard.type('someone@example.com');
    await page.keyboard.press('Tab');
    await page.keyboard.type(password);
    await page.keyboard.press('Enter');
    await page.locator('[name="email"][aria-invalid="true"]:focus').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Control+A');
    await page.keyboard.type(email);
    await page.keyboard.press('Enter');
    await expectPending(page);

    await page.getByRole('button', { name: 'Sign out', exact: true }).last().click();
    await page.getByRole('heading', { name: 'Sign in to Tollgate' }).waitFor();
    const mail = await mailTo(journey, email, 'Your account will be deleted');
    const [, path = ''] = /https?:\/\/[^/\s"]+(\/user\/account)\b/.exec(mail) ?? [];
    expect(path).toBe('/user/account');
    await page.goto(new URL(path, journey.stack().demo.console.url).href);
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.keyboard.press('Enter');
    await expectPending(page);
    await page.getByRole('button', { name: 'Restore account' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Profile', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Activity' }).last().click();
    await page.getByRole('rowheader', { name: 'Cancelled the deletion of the account' }).waitFor();
    await mailTo(journey, email, 'Your account will not be deleted');
  });
}

/** Every page is replaced by the one thing that is left to do. */
async function expectPending(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Your account will be deleted', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Restore account' }).waitFor();
  await expectAccessible(page);
}

async function mailTo({ stack }: Pick<Journey, 'stack'>, email: string, subject: string): Promise<string> {
  const mails = await eventually(
    async () => (await stack().mails()).map((raw) => raw.replace(/=\r?\n/g, '').replaceAll('=3D', '=')),
    (all) => all.some((mail) => mail.includes(email) && mail.includes(`Subject: [Tollgate] ${subject}`)),
    LIVE_TIME_LIMIT_MS,
  );
  return mails.find((mail) => mail.includes(email) && mail.includes(`Subject: [Tollgate] ${subject}`)) ?? '';
}
