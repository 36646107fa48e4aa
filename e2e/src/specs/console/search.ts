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
    await dialog.getByText('Nothing has this name.').waitFor();
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
}
