import { expect } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { expectAccessible } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { eventually, obtainToken } from '../../caller.ts';
import { LIVE_TIME_LIMIT_MS, makeApplication } from './journey.ts';
import type { Journey } from './journey.ts';

const DOCUMENT =
  'query Capitals($first: Int) { countries(first: $first, filter: { continent: "EU" }) { capital } }';

/** Which operations use the points: from a call to its document in the explorer. */
export function operationJourneys(journey: Journey): void {
  test('an operation appears with its points and document, and opens in the explorer', async () => {
    const page = await journey.signedIn();
    const { demo } = journey.stack();
    const token = await obtainToken(demo, await makeApplication(page, 'Atlas'));
    for (let call = 0; call < 3; call += 1) {
      const answer = await fetch(`${demo.streaming_url}/graphql`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query: DOCUMENT, variables: { first: call + 1 } }),
      });
      expect(answer.status).toBe(200);
    }
    await page.getByRole('link', { name: 'Operations', exact: true }).click();
    await page.getByRole('heading', { name: 'Operations', level: 1 }).waitFor();
    const row = page.getByRole('row').filter({ hasText: 'Capitals' });
    await eventually(
      () => row.count(),
      (count) => count === 1,
      2 * LIVE_TIME_LIMIT_MS,
    );
    await eventually(
      () => row.innerText(),
      (text) => /\b3\b.*\bms\b/s.test(text),
      2 * LIVE_TIME_LIMIT_MS,
    );
    await expectAccessible(page);

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    expect(await readFile(await download.path(), 'utf8')).toContain('Capitals');

    await page.getByRole('button', { name: 'Show Capitals' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('countries(first: $first, filter: {})').waitFor();
    expect(await dialog.innerText()).not.toContain('EU');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Open in explorer' }).click();
    await page.waitForURL('**/user/explorer');
    await page.getByText('Capitals').first().waitFor();

    await page.goto(page.url().replace('/explorer', '/operations?range=7d'));
    await row.waitFor();
    expect(await page.getByLabel('Range', { exact: true }).inputValue()).toBe('7d');
  });
}
