import { expect } from '@jest/globals';
import { expectAccessible, openTab } from '../../browser/console-page.ts';
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
    // A row of a table has an address, which the search finds and other pages lead to.
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('dialog', { name: 'Search' }).getByRole('textbox').fill('X-Points-Estimate');
    await page.getByRole('link', { name: 'X-Points-Estimate' }).first().click();
    await page.waitForURL(`${origin}/docs/limits#x-points-estimate`);
    await page.goto(`${origin}/docs/errors`);
    await page.getByRole('link', { name: 'Retry-After', exact: true }).first().click();
    await page.waitForURL(`${origin}/docs/limits#retry-after`);
    await page.goto(`${origin}/docs/api/oauth`);
    await page.getByRole('heading', { name: 'Get an access token' }).waitFor();
    await expectAccessible(page);
    const [missing] = await Promise.all([
      page.goto(`${origin}/docs/nothing`),
      page.getByText('404').waitFor(),
    ]);
    expect(missing?.status()).toBe(404);
  });

  test('every page fits a phone', async () => {
    const { origin } = new URL(journey.stack().demo.console.url);
    const { page, faults, close } = await openTab(journey.browser(), `${origin}/docs`, {
      width: 390,
      colorScheme: 'dark',
    });
    const paths = await page
      .locator('nav[aria-label="Main"] a')
      .evaluateAll((links) => links.flatMap((link) => link.getAttribute('href') ?? []));
    const written = paths.filter((path) => !path.startsWith('/docs/api/'));
    expect(written.length).toBeGreaterThan(10);
    for (const path of written) {
      await page.goto(origin + path);
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect([path, await page.evaluate(overflow)]).toEqual([path, 0]);
    }
    await page.goto(`${origin}/docs/languages`);
    await expectAccessible(page);
    expect(faults).toEqual([]);
    await close();
  });

  test('it is read without scripts', async () => {
    const { origin } = new URL(journey.stack().demo.console.url);
    const context = await journey.browser().newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${origin}/docs`);
    await page.getByRole('link', { name: 'Limits', exact: true }).first().click();
    await page.waitForURL(`${origin}/docs/limits`);
    await page.getByRole('heading', { name: 'Limits', level: 1 }).waitFor();
    await context.close();
  });

  test('pages of the web interface lead to their sections', async () => {
    const page = await journey.signedIn();
    await page.getByRole('link', { name: 'Team', exact: true }).click();
    const docs = page.getByRole('link', { name: 'Docs', exact: true });
    await page.getByRole('heading', { name: 'Team', level: 1 }).waitFor();
    expect(await docs.getAttribute('href')).toBe('/docs/teams');
    await page.getByRole('link', { name: 'Operations', exact: true }).click();
    await page.getByRole('heading', { name: 'Operations', level: 1 }).waitFor();
    expect(await docs.getAttribute('href')).toBe('/docs/prices#spend-less');
  });
}
