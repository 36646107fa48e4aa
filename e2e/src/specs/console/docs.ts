import { expect } from '@jest/globals';
import { expectAccessible } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import type { Journey } from './journey.ts';

/** The customers' book, through the gateway and under its real policies; a breach fails the test. */
export function docsJourneys(journey: Journey): void {
  test('the book is read, and searched without another server, in both themes', async () => {
    const { page } = journey.tab();
    const { origin } = new URL(journey.stack().demo.console.url);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(`${origin}/docs`);
      await page.getByRole('heading', { name: 'Your first call', level: 1 }).waitFor();
      // The examples call this installation.
      await page.getByText(`curl -s ${journey.stack().demo.streaming_url}/graphql`).first().waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Search' }).click();
      await page.getByRole('dialog', { name: 'Search' }).getByRole('textbox').fill('points_limit_exceeded');
      await page.getByRole('link', { name: 'points_limit_exceeded' }).first().click();
      await page.waitForURL(`${origin}/docs/errors#points_limit_exceeded`);
      await page.getByRole('heading', { name: 'points_limit_exceeded', exact: true }).waitFor();
    }
    await page.goto(`${origin}/docs/api/oauth`);
    await page.getByRole('heading', { name: 'Get an access token' }).waitFor();
    await expectAccessible(page);
    const [missing] = await Promise.all([
      page.goto(`${origin}/docs/nothing`),
      page.getByText('404').waitFor(),
    ]);
    expect(missing?.status()).toBe(404);
  });
}
