import { expect } from '@jest/globals';
import { expectAccessible, openTab } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { eventually, obtainToken, postGraphql, postToken, tokenFields } from '../../caller.ts';
import {
  LIVE_TIME_LIMIT_MS,
  QUERY,
  applicationsPage,
  chooseAction,
  clipboard,
  makeApplication,
} from './journey.ts';
import type { Journey } from './journey.ts';

/** Applications, their tokens, and what follows at the API. */
export function applicationJourneys(journey: Journey): void {
  firstApplicationJourney(journey);

  test('generate a token, copy it unseen, revoke it: calls work, then are refused', async () => {
    const page = await journey.signedIn();
    const { demo } = journey.stack();
    await makeApplication(page, 'Tokens by hand');
    await page.getByRole('button', { name: 'Generate New Token' }).click();
    await expectAccessible(page);
    await page.getByRole('dialog', { name: 'Generate Access Token' }).getByLabel('Name').fill('Notebook');
    await page.getByRole('button', { name: 'Generate', exact: true }).click();
    const shown = page.getByRole('dialog', { name: 'Token Notebook' });
    await shown.getByRole('region', { name: 'curl command' }).waitFor();
    await expectAccessible(page);
    await shown.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('rowheader', { name: 'Notebook', exact: true }).waitFor();
    const former = await clipboard(page);
    await page.getByRole('button', { name: 'Copy token Notebook' }).click();
    const token = await eventually(
      () => clipboard(page),
      (text) => text !== former,
      LIVE_TIME_LIMIT_MS,
    );
    expect(await page.content()).not.toContain(token);
    expect((await postGraphql(demo, token, QUERY)).status).toBe(200);
    await expectAccessible(page);
    await chooseAction(page, 'token Notebook', 'Revoke');
    const dialog = page.getByRole('dialog', { name: 'Revoke token Notebook?' });
    await dialog.getByText('Calls with this token are refused within a second.').waitFor();
    await expectAccessible(page);
    // Asked once its use is known, which takes a while.
    const confirmation = dialog.getByLabel(/^Type/);
    if (await confirmation.isVisible()) await confirmation.fill('Notebook');
    await dialog.getByRole('button', { name: 'Revoke token' }).click();
    await page.getByRole('cell', { name: 'Revoked', exact: true }).waitFor();
    await eventually(
      () => postGraphql(demo, token, QUERY),
      ({ status }) => status === 401,
      LIVE_TIME_LIMIT_MS,
    );
  });

  test('revoking an application asks for its name; then its credentials are refused', async () => {
    const page = await journey.signedIn();
    const { demo } = journey.stack();
    const application = await makeApplication(page, 'To be revoked');
    const call = await postGraphql(demo, await obtainToken(demo, application), QUERY);
    expect(call.status).toBe(200);
    await page.goto(applicationsPage(journey));
    const used = page.getByRole('row', { name: 'To be revoked' }).getByRole('time');
    await eventually(() => page.reload().then(() => used.isVisible()), Boolean, LIVE_TIME_LIMIT_MS);
    await chooseAction(page, 'To be revoked', 'Revoke');
    const dialog = page.getByRole('dialog', { name: 'Revoke To be revoked?' });
    await dialog.getByLabel(/^Type/).fill('something else');
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await dialog.getByText('This is not the name of the application.').waitFor();
    await expectAccessible(page);
    expect((await postToken(demo.auth_url, tokenFields(application))).status).toBe(200);
    await dialog.getByLabel(/^Type/).fill('To be revoked');
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('cell', { name: 'Revoked', exact: true }).waitFor();
    await eventually(
      () => postToken(demo.auth_url, tokenFields(application)),
      ({ status }) => status === 401,
      LIVE_TIME_LIMIT_MS,
    );
  });

  test('rotate with an overlap: both secrets work until the overlap is ended, then only the new one', async () => {
    const page = await journey.signedIn();
    const { demo } = journey.stack();
    const name = 'Rotated by keyboard';
    const first = await makeApplication(page, name);
    await page.getByRole('button', { name: 'Rotate Secret' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: `Rotate the client secret of ${name}` }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Tab');
    await page.locator('select[name="overlap_sec"]:focus').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('It is shown only once').waitFor();
    // Before it was copied, it takes two presses to close.
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Done' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('You have not copied the client secret.').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Show client secret' }).focus();
    await page.keyboard.press('Enter');
    const client_secret = await page.getByRole('dialog').locator('code').nth(1).innerText();
    expect(client_secret).not.toContain('•');
    await page.getByRole('button', { name: 'Copy client secret' }).focus();
    await page.keyboard.press('Enter');
    await eventually(
      () => clipboard(page),
      (text) => text === client_secret,
      LIVE_TIME_LIMIT_MS,
    );
    await page.keyboard.press('Escape');
    await page.getByRole('timer').waitFor();
    expect(await page.locator(':focus').innerText()).toBe('Rotate Secret');
    await expectAccessible(page);
    expect(await page.getByRole('timer').innerText()).toMatch(/^(?:23 hours, 59 minutes|24 hours|1 day)$/);
    expect(await page.content()).not.toContain(client_secret);
    const works = async (secret: string) =>
      (await postToken(demo.auth_url, tokenFields({ ...first, client_secret: secret }))).status;
    expect([await works(first.client_secret), await works(client_secret)]).toEqual([200, 200]);
    await page.getByRole('button', { name: 'End it now' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('timer').waitFor({ state: 'hidden' });
    await eventually(
      () => works(first.client_secret),
      (status) => status === 401,
      LIVE_TIME_LIMIT_MS,
    );
    expect(await works(client_secret)).toBe(200);
  });

  test('all tokens in one list, below the temporary one, which works', async () => {
    const page = await journey.signedIn();
    await page.getByRole('link', { name: 'Tokens', exact: true }).first().click();
    await page.getByRole('heading', { name: 'Tokens', exact: true }).waitFor();
    await page.evaluate('navigator.clipboard.writeText("nothing")');
    await page.getByRole('button', { name: 'Copy temporary token' }).click();
    const token = await eventually(
      () => clipboard(page),
      (text) => text !== 'nothing',
      LIVE_TIME_LIMIT_MS,
    );
    expect((await postGraphql(journey.stack().demo, token, QUERY)).status).toBe(200);
    await page.getByText('This one changes in').waitFor();
    await page.getByRole('rowheader', { name: 'Notebook', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Generate New Token' }).click();
    await page.getByRole('dialog').getByLabel('Application').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    // A list that one sees at a glance has no filters until it is filtered.
    await page.goto(`${page.url()}?status=Active`);
    await page.getByRole('rowheader', { name: 'Acme integration' }).waitFor();
    expect(await page.getByRole('rowheader', { name: 'Notebook', exact: true }).count()).toBe(0);
    await page.getByLabel('Status').selectOption('Expired');
    await page.waitForURL(/status=Expired/);
    await page.reload();
    await page.getByText('No tokens match.').waitFor();
    await expectAccessible(page);
  });

  test('works by keyboard alone, in the dark theme, at 320 px', async () => {
    const narrow = await openTab(journey.browser(), applicationsPage(journey), {
      colorScheme: 'dark',
      width: 320,
    });
    const { page } = narrow;
    const { email, password } = journey.stack().demo.console;
    await page.getByLabel('Email').focus();
    await page.keyboard.type(email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Applications' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: '+ New Application' }).first().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    expect(await page.evaluate(unevenBackdrop)).toBeLessThanOrEqual(2);
    await page.keyboard.type('By keyboard');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    const focused = page.locator(':focus');
    expect(await focused.innerText()).toBe('+ New Application');
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate<number>(overflow)).toBeLessThanOrEqual(0);
    expect(narrow.faults).toEqual([]);
    await narrow.close();
  });
}

/**
 * Behind a dialog, the place of the scroll bar is as dark as the page beside it: by how much the two differ, of 255. A
 * browser without a window has no scroll bar, so the colours are blended as it would blend them.
 */
function unevenBackdrop(): number {
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const backdrop = [...document.querySelectorAll('body *')].find(
    (element) => element.querySelector('[role=dialog]') !== null && colourOf(element) !== 'rgba(0, 0, 0, 0)',
  );
  if (context === null || backdrop === undefined) throw new Error('no backdrop');
  function colourOf(element: Element): string {
    return getComputedStyle(element).backgroundColor;
  }
  const blended = (...elements: Element[]) => {
    for (const element of elements) {
      context.fillStyle = colourOf(element);
      context.fillRect(0, 0, 1, 1);
    }
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const page = blended(document.body, backdrop);
  return Math.max(
    ...blended(document.documentElement).map((part, index) => Math.abs(part - (page[index] ?? 0))),
  );
}

/** From the page over the API and back to the console: what a deployment has to serve. */
export function firstApplicationJourney(journey: Journey): void {
  test('new application, token and call by its credentials: the call appears in Overview and list', async () => {
    const page = await journey.signedIn();
    const { demo } = journey.stack();
    const application = await makeApplication(page, 'Journey');
    const token = await obtainToken(demo, application);
    await page.getByRole('link', { name: 'Overview' }).click();
    const meter = page.getByRole('meter', { name: 'Points used' });
    const used = async () => Number(await meter.getAttribute('aria-valuenow'));
    await meter.waitFor();
    await expectAccessible(page);
    const before = await used();
    const response = await postGraphql(demo, token, QUERY);
    await response.arrayBuffer();
    const points = Number(response.headers.get('x-points-cost'));
    expect(points).toBeGreaterThan(0);
    await eventually(used, (now) => now >= before + points, LIVE_TIME_LIMIT_MS);
    await page.getByRole('link', { name: 'Applications', exact: true }).click();
    await page
      .getByRole('row', { name: /^Journey / })
      .getByRole('cell', { name: String(points), exact: true })
      .waitFor({ timeout: LIVE_TIME_LIMIT_MS * 2 });
  });
}
