import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible } from '../../browser/console-page.ts';
import { eventually, postGraphql } from '../../caller.ts';
import type { Demo } from '../../stack/stack.ts';
import { LIVE_TIME_LIMIT_MS, QUERY } from './journey.ts';

/** What a refusal of the data endpoint tells a program. */
type Refusal = { code?: string; limit?: number; help_url?: string };

/** Calls until the points of the plan are used up; the refusal's details. */
export async function useUp(demo: Demo, token: string): Promise<Refusal> {
  const dear = Array.from({ length: 20 }, (_, index) => `a${String(index)}: countries(first: 100) { name }`);
  return eventually(
    async () => {
      const response = await postGraphql(demo, token, `{ ${dear.join(' ')} }`);
      const body = (await response.json()) as { errors?: { extensions?: Refusal }[] };
      return response.status === 402 ? (body.errors?.[0]?.extensions ?? {}) : {};
    },
    ({ code }) => code !== undefined,
    LIVE_TIME_LIMIT_MS,
  );
}

/**
 * From the refusal's own link: a declined card buys nothing, a pack is bought in two clicks, the meter jumps, and the next
 * call passes.
 */
export async function buyPack(page: Page, demo: Demo, token: string): Promise<void> {
  const { help_url } = await useUp(demo, token);
  await page.goto(new URL(help_url ?? '', demo.console.url).href);
  await page.getByText('0 points', { exact: true }).waitFor();
  await expectAccessible(page);

  await page.getByRole('button', { name: 'Buy 10,000 points' }).click();
  await page.getByText('Sample payment page.').waitFor();
  await page.getByRole('button', { name: 'Decline' }).click();
  await page.getByText('Your card was declined.').waitFor();
  await page.getByRole('link', { name: 'Cancel' }).click();
  await page.getByRole('cell', { name: 'Not paid Pay' }).waitFor();
  expect((await postGraphql(demo, token, QUERY)).status).toBe(402);

  await page.getByRole('button', { name: 'Buy 10,000 points' }).click();
  await page.getByRole('button', { name: /^Pay \d/ }).click();
  await page.getByText('Thank you. 10,000 points are yours,').waitFor();
  await page.getByText('10,000 of 10,000').waitFor();
  // Both figures say how much is in addition to the plan's points: here, what was used beyond them is forgiven.
  await page.getByText(/of 2\d,\d{3}: 10,000 of your plan, 1\d,\d{3} in addition/).waitFor();
  await page.getByText('10,000 points left in addition to your plan’s.').waitFor();
  await expectAccessible(page);
  await eventually(
    async () => (await postGraphql(demo, token, QUERY)).status,
    (status) => status === 200,
    LIVE_TIME_LIMIT_MS,
  );
  await page.getByRole('link', { name: 'Overview', exact: true }).click();
  const limit = page.getByRole('meter', { name: 'Points used' });
  // And what the last call before it used beyond the trial, which is forgiven.
  expect(Number(await limit.getAttribute('aria-valuemax'))).toBeGreaterThanOrEqual(20_000);
}
