import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { untilLoaded } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { operate } from '../../operate.ts';
import type { Demo } from '../../stack/stack.ts';
import { signUp } from './journey.ts';
import type { Journey } from './journey.ts';
import { replaceTrial } from './sold-plan.ts';

/** What customers and operators typed moves no layout: here everything has the longest name, without a space. */

const NAME = 'W'.repeat(200);
const URL_PATH = 'w'.repeat(180);

const WIDTHS = [1_440, 390];

type Fault = { path: string; width: number; what: string };

export function longNameJourneys(journey: Journey): void {
  test('names of 200 letters without a space leave tables, dialogs and pages as they are', async () => {
    const { demo } = journey.stack();
    const { page } = await signUp(journey, `${crypto.randomUUID()}@${'long'.repeat(15)}.example.com`);
    const ids = await typeLongNames(page, new URL(demo.console.url).origin);
    await subscribe(demo, ids.account_id);
    const application = `/api_v2/applications/${String(ids.application_id)}`;
    const webhook = `/webhooks/${String(ids.webhook_id)}`;
    const pages = [
      '',
      '/plan',
      '/api_v2/applications',
      application,
      '/api_v2/access_tokens',
      '/usage?group=application',
      '/requests',
      '/team',
      '/alerts',
      '/webhooks',
      webhook,
      '/account',
    ];
    const faults: Fault[] = [];
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      for (const path of pages) {
        await page.goto(demo.console.url + path);
        await untilLoaded(page);
        faults.push(...(await overflows(page)).map((what) => ({ path, width, what })));
      }
      for (const [path, button] of [
        [application, 'Revoke'],
        [application, 'Rotate Secret'],
        [webhook, 'Delete'],
        ['/team', 'Dissolve team'],
        ['/plan', 'Cancel plan'],
      ] as const) {
        await page.goto(demo.console.url + path);
        await untilLoaded(page);
        await page.getByRole('button', { name: button }).first().click();
        await page.getByRole('dialog').waitFor();
        faults.push(...(await overflows(page)).map((what) => ({ path: `${path}, ${button}`, width, what })));
      }
    }
    expect(faults).toEqual([]);
  }, 240_000);
}

/** In place of the trial, a plan that an operator gave a long name. */
async function subscribe(demo: Demo, account_id: number): Promise<void> {
  const { plan_id } = await operate<{ plan_id: number }>(demo, 'POST', '/private/plans', {
    name: crypto.randomUUID().replaceAll('-', '').padEnd(NAME.length, 'W'),
    description: { points_limit: 1_000, team_slots_limit: 3 },
  });
  await replaceTrial(demo, account_id, plan_id);
}

/** An application, a token, a webhook, a team and a person, all with long names. */
async function typeLongNames(page: Page, origin: string) {
  const session = await page.request.get(`${origin}/api/console/session`);
  const { csrf_token, account_id } = (await session.json()) as { csrf_token: string; account_id: number };
  async function send<T>(method: string, path: string, data: unknown): Promise<T> {
    const response = await page.request.fetch(`${origin}/api/console${path}`, {
      method,
      headers: { 'x-csrf-token': csrf_token },
      data,
    });
    if (!response.ok()) throw new Error(`${method} ${path}: ${await response.text()}`);
    return (await response.json().catch(() => ({}))) as T;
  }
  await send('PATCH', '/account', { name: NAME });
  await send('POST', '/team', { name: NAME });
  const { application_id } = await send<{ application_id: number }>('POST', '/applications', {
    name: NAME,
    type: 'automatic',
    token_lifespan_sec: 3_600,
  });
  await send('POST', `/applications/${String(application_id)}/tokens`, { name: NAME });
  const { webhook_id } = await send<{ webhook_id: number }>('POST', '/webhooks', {
    url: `https://hooks.invalid/${URL_PATH}`,
    description: NAME,
  });
  return { account_id, application_id, webhook_id };
}

/**
 * What stands outside its place: the page or a dialog that scrolls sideways, a control that ends beyond the window or
 * its dialog, and in a wide window a table that has to be scrolled.
 */
function overflows(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const root = document.documentElement;
    const found: string[] = [];
    if (root.scrollWidth > root.clientWidth) found.push(`the page is ${String(root.scrollWidth)} px wide`);
    const dialog = document.querySelector('[role="dialog"]');
    if (dialog !== null && dialog.scrollWidth > dialog.clientWidth) found.push('the dialog scrolls sideways');
    const right = dialog?.getBoundingClientRect().right ?? root.clientWidth;
    for (const control of (dialog ?? document).querySelectorAll(
      'button, a, input, select, h1, h2, p, dd, li',
    )) {
      if (control.closest('[role="region"][tabindex="0"], pre') !== null) continue;
      const box = control.getBoundingClientRect();
      if (box.width > 0 && box.left >= 0 && Math.floor(box.right) > right)
        found.push(`${control.tagName} ends at ${String(box.right)}: ${control.textContent.slice(0, 40)}`);
    }
    if (root.clientWidth > 1_000)
      for (const table of document.querySelectorAll('table')) {
        const place = table.parentElement;
        if (place !== null && place.scrollWidth > place.clientWidth)
          found.push(`a table is ${String(place.scrollWidth)} px wide, of ${String(place.clientWidth)}`);
      }
    return found;
  });
}
