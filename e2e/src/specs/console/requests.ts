import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { eventually, obtainToken } from '../../caller.ts';
import type { Demo, DemoApplication } from '../../stack/stack.ts';
import { LIVE_TIME_LIMIT_MS, QUERY, clipboard, makeApplication } from './journey.ts';
import type { Journey } from './journey.ts';

const UNKNOWN_FIELD = '{ noSuchField }';

/** Refused and failed calls: how they appear, why they failed, and how to find one. */
export function requestJourneys(journey: Journey): void {
  test('failed and refused calls appear by themselves, and are found by code and request id', async () => {
    const page = await journey.signedIn();
    const { demo } = journey.stack();
    const { failed, refused } = await failingCalls(page, demo, 'Failing');
    await page.getByRole('link', { name: 'Refused calls' }).click();
    await page.getByRole('heading', { name: 'Refused calls', level: 1 }).waitFor();
    const calls = page.getByRole('listitem').filter({ hasText: 'Failing' });
    await eventually(
      () => calls.count(),
      (count) => count >= 2,
      LIVE_TIME_LIMIT_MS,
    );
    await page.getByRole('status').filter({ hasText: 'refused or failed in the last 24 hours' }).waitFor();
    await page
      .getByRole('status')
      .filter({ hasText: /% of [\d,]+ calls succeeded/ })
      .waitFor();
    await calls.filter({ hasText: 'The data API answered with an error' }).first().locator('summary').click();
    await page.getByText('Fix the request after a 4xx').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Copy request ID' }).click();
    await eventually(
      () => clipboard(page),
      (text) => text === failed,
      LIVE_TIME_LIMIT_MS,
    );

    await page.getByLabel('Code', { exact: true }).selectOption({ label: 'Unauthorized' });
    await page.waitForURL(/\?code=unauthorized$/);
    await eventually(
      () => page.getByRole('listitem').filter({ hasText: 'The data API answered' }).count(),
      (count) => count === 0,
      LIVE_TIME_LIMIT_MS,
    );
    await calls.first().waitFor();
    await page.reload();
    await calls.first().waitFor();
    expect(await page.getByLabel('Code', { exact: true }).inputValue()).toBe('unauthorized');

    await page.getByRole('textbox', { name: 'Request ID' }).fill(`X-Request-Id: ${refused}`);
    await page.getByRole('button', { name: 'Find call' }).click();
    await eventually(
      () => calls.count(),
      (count) => count === 1,
      LIVE_TIME_LIMIT_MS,
    );
    await page.getByText('Get a new token.').first().waitFor();
    await page.getByRole('link', { name: 'Go to Tokens' }).first().waitFor();
    await expectAccessible(page);
  });

  test('equal calls in a row are one row, which opens to each of them', async () => {
    const page = await journey.signedIn();
    const { demo } = journey.stack();
    const token = await obtainToken(demo, await makeApplication(page, 'Repeating'));
    const calls = [await call(demo, token, UNKNOWN_FIELD), await call(demo, token, UNKNOWN_FIELD)];
    await page.getByRole('link', { name: 'Refused calls' }).click();
    const row = page.getByRole('listitem').filter({ hasText: 'Repeating' });
    await row.filter({ hasText: 'The data API answered with an error × 2' }).waitFor();
    expect(await row.count()).toBe(1);
    await row.locator('summary').first().click();
    for (const { requestId } of calls) await row.locator('summary').getByText(requestId).waitFor();
    await expectAccessible(page);
  });

  test('by keyboard: a wrong and an unknown request id, no match, and a call that is opened', async () => {
    const page = await journey.signedIn();
    const { demo } = journey.stack();
    const { failed } = await failingCalls(page, demo, 'Failing by keyboard');
    await tabTo(page, (focused) => focused.startsWith('Refused calls'));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Refused calls', level: 1 }).waitFor();
    await page.getByRole('listitem').filter({ hasText: 'Failing by keyboard' }).first().waitFor();

    await tabTo(page, (focused) => focused === 'request_id');
    await page.keyboard.type('none');
    await page.keyboard.press('Enter');
    await page.getByText('A request ID has 32 characters').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('0'.repeat(32));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No refused call has this request ID' }).waitFor();
    await expectAccessible(page);
    await tabTo(page, (focused) => focused === 'Show all calls');
    await page.keyboard.press('Enter');

    await tabTo(page, (focused) => focused.includes('Failing by keyboard'));
    await page.keyboard.press('Enter');
    await tabTo(page, (focused) => focused === 'Copy');
    await page.keyboard.press('Enter');
    const copied = await eventually(
      () => clipboard(page),
      (text) => /^[0-9a-f]{32}$/.test(text),
      LIVE_TIME_LIMIT_MS,
    );
    expect(copied).toBe(failed);

    await page.goto(`${demo.console.url}/requests?code=slow_consumer`);
    await page.getByRole('heading', { name: 'No call matches these filters' }).waitFor();
    await expectAccessible(page);
    await tabTo(page, (focused) => focused === 'Clear filters');
    await page.keyboard.press('Enter');
    await page.getByRole('listitem').filter({ hasText: 'Failing by keyboard' }).first().waitFor();
  });
}

/** The request ids of a call that the data API refuses, and of one whose token is revoked; the newest comes first. */
async function failingCalls(page: Page, demo: Demo, name: string) {
  const application = await makeApplication(page, name);
  const token = await obtainToken(demo, application);
  const revoked = await obtainToken(demo, application);
  await revoke(demo, application, revoked);
  const refused = await eventually(
    () => call(demo, revoked, QUERY),
    ({ status }) => status === 401,
    LIVE_TIME_LIMIT_MS,
  );
  const failed = await call(demo, token, UNKNOWN_FIELD);
  expect(failed.status).toBe(400);
  return { failed: failed.requestId, refused: refused.requestId };
}

/** A GraphQL error has a status of its own where the caller accepts GraphQL's media type. */
async function call(demo: Demo, token: string, query: string) {
  const response = await fetch(`${demo.streaming_url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/graphql-response+json',
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify({ query }),
  });
  await response.arrayBuffer();
  return { status: response.status, requestId: response.headers.get('x-request-id') ?? '' };
}

async function revoke(demo: Demo, { client_id, client_secret }: DemoApplication, token: string) {
  const response = await fetch(`${demo.auth_url}/oauth2/revoke`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ token, client_id, client_secret }),
  });
  expect(response.status).toBe(200);
}

const MAX_TABS = 60;

/** Presses Tab until what has the focus, by its name or text, is wanted. */
async function tabTo(page: Page, isWanted: (focused: string) => boolean): Promise<void> {
  for (let tabs = 0; tabs < MAX_TABS; tabs += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate<string>(
      "document.activeElement.name || document.activeElement.textContent || ''",
    );
    if (isWanted(focused.trim())) return;
  }
  throw new Error(`Nothing wanted has the focus within ${String(MAX_TABS)} steps at ${page.url()}.`);
}
