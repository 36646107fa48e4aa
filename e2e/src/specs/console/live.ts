import { expect } from '@jest/globals';
import type { Page, Request } from 'playwright-core';
import { expectAccessible, openTab, signIn } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { eventually, obtainToken, postGraphql } from '../../caller.ts';
import { LIVE_TIME_LIMIT_MS, QUERY } from './journey.ts';
import type { Journey } from './journey.ts';

const RECOVERY_MS = 30_000;

const DAY_MS = 86_400_000;

const pointsMeter = (page: Page) => page.getByRole('meter', { name: 'Points used' });
const used = async (page: Page) => Number(await pointsMeter(page).getAttribute('aria-valuenow'));

/** The Overview as it changes, and what every page does when something is away or another tab acts. */
export function liveJourneys(journey: Journey): void {
  const { stack } = journey;
  const { overview, callOnce } = stepsOf(journey);

  liveFeedJourney(journey);
  restartedFeedJourney(journey);

  test('figures that were asked for before newer ones arrived do not replace them', async () => {
    const page = await overview();
    const held: (() => Promise<void>)[] = [];
    await page.route('**/usage/pace', async (route) => {
      const response = await route.fetch();
      held.push(() => route.fulfill({ response }));
    });
    // The browser's connection breaks, so that the page polls, and comes back.
    await page.context().setOffline(true);
    await page.context().setOffline(false);
    await eventually(
      () => Promise.resolve(held.length),
      (count) => count > 0,
      LIVE_TIME_LIMIT_MS,
    );
    const before = await used(page);
    const points = await callOnce(await obtainToken(stack().demo, stack().demo.application));
    const isNewer = (now: number) => now >= before + points;
    await eventually(() => used(page), isNewer, LIVE_TIME_LIMIT_MS);
    for (const answer of held) await answer().catch(() => undefined);
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 0)));
    await page.evaluate(() => new Promise(requestAnimationFrame));
    expect(await used(page)).toBeGreaterThanOrEqual(before + points);
  });

  test('a hidden tab has no feed, and shows what happened meanwhile when it is seen again', async () => {
    const page = await overview();
    const feeds: Request[] = [];
    const ended: Request[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/usage/live')) feeds.push(request);
    });
    page.on('requestfailed', (request) => ended.push(request));
    const setHidden = (isHidden: boolean) =>
      page.evaluate((hidden) => {
        Object.defineProperties(document, {
          hidden: { value: hidden, configurable: true },
          visibilityState: { value: hidden ? 'hidden' : 'visible', configurable: true },
        });
        document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
      }, isHidden);
    await setHidden(true);
    await setHidden(false);
    await eventually(
      () => Promise.resolve(feeds.length),
      (count) => count === 1,
      LIVE_TIME_LIMIT_MS,
    );
    await setHidden(true);
    await eventually(
      () => Promise.resolve(ended.includes(feeds[0] as Request)),
      (hasEnded) => hasEnded,
      LIVE_TIME_LIMIT_MS,
    );
    const before = await used(page);
    const points = await callOnce(await obtainToken(stack().demo, stack().demo.application));
    await setHidden(false);
    await eventually(
      () => used(page),
      (now) => now >= before + points,
      LIVE_TIME_LIMIT_MS,
    );
    expect(feeds).toHaveLength(2);
    await page.getByText('Live', { exact: true }).waitFor();
  });

  test('a browser clock that is days off changes neither the figures nor the time that is left', async () => {
    const { page, context } = journey.tab();
    const facts = () => page.getByRole('region', { name: 'Plan' }).innerText();
    const right = await overview().then(facts);
    await context.clock.setSystemTime(Date.now() - 3 * DAY_MS);
    await page.reload();
    await pointsMeter(page).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await facts()).toBe(right);
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'hidden' });
    await page.getByText('Show as a table').click();
    const today = new Date().toISOString().slice(0, 10);
    await page.locator(`time[datetime^="${today}"]`).first().waitFor();
  });

  test('offline: a bar says from when the figures are, and goes away by itself', async () => {
    const page = await overview();
    const { context } = journey.tab();
    await context.setOffline(true);
    await page.getByText(/^You are offline\. Figures are from/).waitFor();
    await page.getByText('Live figures are paused').waitFor();
    await expectAccessible(page);
    await context.setOffline(false);
    await page.getByText('You are offline').waitFor({ state: 'hidden', timeout: RECOVERY_MS });
    await page.getByText('Connected again.').waitFor({ timeout: RECOVERY_MS });
    await page.getByText('Trying again').waitFor({ state: 'hidden', timeout: RECOVERY_MS });
    await page.getByText('Live', { exact: true }).waitFor({ timeout: RECOVERY_MS });
  });

  test('a page whose script cannot be reached says so, and loads when it can', async () => {
    const page = await journey.signedIn();
    const isOverview = /\/assets\/overview-[\w-]+\.js$/;
    await page.route(isOverview, (route) => route.abort());
    await page.route('**/user', (route) => route.abort());
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
    await expectAccessible(page);
    await page.unroute(isOverview);
    await page.unroute('**/user');
    await page.getByRole('button', { name: 'Reload' }).click();
    await pointsMeter(page).waitFor();
  });

  test('a page whose style sheet was lost on the way loads, and is styled', async () => {
    const page = await journey.signedIn();
    const isSheet = /\/assets\/usage-[\w-]+\.css$/;
    await page.route(isSheet, (route) => route.abort(), { times: 1 });
    const lost = page.waitForEvent('requestfailed', (request) => isSheet.test(request.url()));
    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await lost;
    await page.getByRole('heading', { name: 'Usage', exact: true, level: 1 }).waitFor();
    const sheets = `[...document.styleSheets].filter(({ href }) => ${String(isSheet)}.test(href)).length`;
    expect(await page.evaluate<number>(sheets)).toBe(1);
  });

  test('a chart whose script cannot be reached leaves the figures, and is drawn when it can', async () => {
    const page = await journey.signedIn();
    const isPlot = /\/assets\/plot-[\w-]+\.js$/;
    await page.route(isPlot, (route) => route.abort());
    await page.route('**/user', (route) => route.abort());
    const refused = page.waitForEvent('requestfailed', (request) => isPlot.test(request.url()));
    await page.getByRole('link', { name: 'Overview' }).click();
    await refused;
    await page.getByText('Live', { exact: true }).waitFor();
    await expectAccessible(page);
    await page.unroute(isPlot);
    await page.unroute('**/user');
    await page.getByRole('slider', { name: 'Points per day' }).waitFor();
    await pointsMeter(page).waitFor();
  });

  test('signing out in one tab ends the other, which shows nothing of the account any more', async () => {
    const page = await overview();
    const other = await journey.tab().context.newPage();
    await other.goto(stack().demo.console.url);
    await pointsMeter(other).waitFor();
    await other.getByRole('button', { name: 'Sign out' }).click();
    await other.getByRole('heading', { name: /^Sign in to/ }).waitFor();
    await page.getByRole('heading', { name: /^Sign in to/ }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: /^Sign in to/ }).waitFor();
    expect(await page.content()).not.toContain('Points used');
  });

  test('signing in again in one tab lets the other go on', async () => {
    const page = await overview();
    const { context } = journey.tab();
    await context.clearCookies();
    // The feed of a browser that lost its cookie stays; a page that asks is refused.
    await page.getByRole('link', { name: 'Applications', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    const other = await context.newPage();
    await other.goto(stack().demo.console.url);
    await signIn(other, stack());
    await pointsMeter(other).waitFor();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('heading', { name: 'Applications' }).waitFor();
  });

  test('too many requests: the time to wait counts down', async () => {
    const page = await journey.signedIn();
    await page.route('**/api/console/usage/pace', (route) =>
      route.fulfill({
        status: 429,
        headers: { 'retry-after': '62', 'content-type': 'application/problem+json' },
        body: JSON.stringify({
          type: 'urn:tollgate:problem:too_many_requests',
          title: 'Too many requests',
          status: 429,
          code: 'too_many_requests',
          request_id: '0'.repeat(32),
        }),
      }),
    );
    await page.route('**/api/console/usage/live', (route) => route.fulfill({ status: 429 }));
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('timer').filter({ hasText: 'Try again in 1 min' }).waitFor();
    await expectAccessible(page);
    await page
      .getByRole('timer')
      .filter({ hasText: /Try again in 5\d sec/ })
      .waitFor({ timeout: LIVE_TIME_LIMIT_MS });
  });

  test('works in the dark theme at 320 px, by keyboard', async () => {
    const narrow = await openTab(journey.browser(), stack().demo.console.url, {
      colorScheme: 'dark',
      width: 320,
    });
    const { page } = narrow;
    const { email, password } = stack().demo.console;
    await page.getByLabel('Email').focus();
    await page.keyboard.type(email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(password);
    await page.keyboard.press('Enter');
    await pointsMeter(page).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await expectAccessible(page);
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate<number>(overflow)).toBeLessThanOrEqual(0);
    expect(narrow.faults).toEqual([]);
    await narrow.close();
  });
}

/** What depends on how a deployment passes the feed on. */
export function liveFeedJourney(journey: Journey): void {
  const { stack } = journey;
  const { overview, callOnce } = stepsOf(journey);

  test('a call made elsewhere appears, without a request of the page', async () => {
    const page = await overview();
    await page.getByText('Live', { exact: true }).waitFor();
    await expectAccessible(page);
    const token = await obtainToken(stack().demo, stack().demo.application);
    await callOnce(token);
    // The first call warms caches of a stack that has just begun.
    await eventually(
      () => used(page),
      (points) => points > 0,
      LIVE_TIME_LIMIT_MS,
    );
    const polls: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/usage/pace')) polls.push(request.url());
    });
    await page.evaluate(() => {
      const spoken: string[] = [];
      Object.assign(globalThis, { spoken });
      for (const region of document.querySelectorAll('[role="status"], [role="alert"], [aria-live]')) {
        new MutationObserver(() => spoken.push(region.textContent)).observe(region, {
          childList: true,
          characterData: true,
          subtree: true,
        });
      }
    });
    const before = await used(page);
    const points = await callOnce(token);
    await eventually(
      () => used(page),
      (now) => now >= before + points,
      LIVE_TIME_LIMIT_MS,
    );
    expect(polls).toEqual([]);
    // A screen reader isn't told of each call.
    expect(await page.evaluate('spoken')).toEqual([]);
  });
}

/** What depends on how a deployment restarts account. */
export function restartedFeedJourney(journey: Journey): void {
  const { stack } = journey;
  const { overview, callOnce } = stepsOf(journey);

  test('account is killed and starts again: figures are paused, then live again, and nothing is reloaded', async () => {
    const page = await overview();
    const token = await obtainToken(stack().demo, stack().demo.application);
    await page.evaluate('globalThis.isSamePage = true');
    await stack().kill('account');
    await page.getByText('Live figures are paused').waitFor({ timeout: RECOVERY_MS });
    await page
      .getByText(/is temporarily unavailable\. Trying again(?: in \d+ sec)?\. Figures are from/)
      .waitFor();
    await expectAccessible(page);
    await stack().start('account');
    await page.getByText('Live', { exact: true }).waitFor({ timeout: RECOVERY_MS });
    await page.getByText('Trying again').waitFor({ state: 'hidden', timeout: RECOVERY_MS });
    const before = await used(page);
    const points = await callOnce(token);
    await eventually(
      () => used(page),
      (now) => now >= before + points,
      RECOVERY_MS,
    );
    expect(await page.evaluate<boolean>('globalThis.isSamePage')).toBe(true);
  });
}

function stepsOf(journey: Journey) {
  async function overview(): Promise<Page> {
    const page = await journey.signedIn();
    await page.getByRole('link', { name: 'Overview' }).click();
    await pointsMeter(page).waitFor();
    return page;
  }

  async function callOnce(token: string): Promise<number> {
    const response = await postGraphql(journey.stack().demo, token, QUERY);
    await response.arrayBuffer();
    expect(response.status).toBe(200);
    return Number(response.headers.get('x-points-cost'));
  }

  return { overview, callOnce };
}
