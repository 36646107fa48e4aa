import { expect, test as plainTest } from '@jest/globals';
import type { OperatorRole } from '@tollgate/contracts/operator-roles';
import { withClient } from '@tollgate/stack/postgres';
import type { Page, Request } from 'playwright-core';
import { accessibilityFaults } from '../../browser/axe.ts';
import { expectAccessible, untilLoaded } from '../../browser/console-page.ts';
import type { ConsoleTab } from '../../browser/console-page.ts';
import { firefoxPath } from '../../browser/firefox.ts';
import { test } from '../../browser/journey-test.ts';
import { operatorFirefox, operatorTab } from './operator-tab.ts';
import { PAGES, layoutOf, pageOf } from './every-page.ts';
import type { Journey } from './journey.ts';

/** The pages of customers that a view has. The explorer makes calls. */
const VIEWED = PAGES.filter((path) => path !== '/user/explorer').map((path) =>
  path.replace('/user', '/operator/view'),
);

/** What can be pressed in a view: it shows, leads on, copies or saves what is there. */
const READING =
  /^(?:Menu|Dark theme|Light theme|Stop viewing|Copy .+|Download .+|Show .+|Find call|Older|Newer|Attempts .+|Table|Chart|Details|Calendar.*)$/;

const WIDTHS_PX = [1_440, 390] as const;
const THEMES = ['light', 'dark'] as const;

/** The bar of a view is the same on all pages, whose own faults `every-page` finds. */
const SEEN_BY_AXE = '/operator/view/account/security';

/** An operator sees a customer's pages as the customer does, and changes nothing. */
export function customerViewJourneys(journey: Journey): void {
  const customerPath = () => `/operator/accounts/${String(journey.stack().demo.account_id)}`;

  /** A tab at the customer's page of the operators' console. */
  async function customerTab(role: OperatorRole = 'support'): Promise<ConsoleTab> {
    const tab = await operatorTab(journey, role);
    await tab.page.goto(new URL(customerPath(), tab.page.url()).href);
    return tab;
  }

  async function askToView(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'View as customer' }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('Ticket 7');
    await page.getByRole('dialog').getByRole('button', { name: 'View as customer' }).click();
  }

  async function viewingTab(role?: OperatorRole): Promise<ConsoleTab> {
    const tab = await customerTab(role);
    await askToView(tab.page);
    await tab.page.getByRole('region', { name: 'View as a customer' }).waitFor();
    return tab;
  }

  const ended = (page: Page) => page.getByRole('heading', { name: 'This view has ended' }).waitFor();

  test('has each page as the customer sees it, and nothing on it changes anything', async () => {
    const { demo } = journey.stack();
    const { page, faults, close } = await customerTab();
    await page.getByRole('button', { name: 'View as customer' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'View as customer' }).click();
    await page.locator('[name="X-Reason"][aria-invalid="true"]:focus').waitFor();
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await askToView(page);
    const banner = page.getByRole('region', { name: 'View as a customer' });
    await banner.getByText(demo.console.email).waitFor();
    await banner.getByText('14 min').waitFor();
    const sent: string[] = [];
    page.on('request', (request: Request) => {
      const { pathname } = new URL(request.url());
      if (request.method() !== 'GET' || !pathname.startsWith('/operator/')) sent.push(pathname);
    });
    const { origin } = new URL(page.url());
    for (const path of VIEWED) {
      const shown = pageOf(path, demo);
      if (shown === undefined) continue;
      await page.goto(origin + shown);
      await untilLoaded(page);
      for (const [index, width] of WIDTHS_PX.entries()) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme: THEMES[index] ?? 'light' });
        if (path === SEEN_BY_AXE) await expectAccessible(page);
        const { overflow } = await page.evaluate(layoutOf);
        expect({ path, width, overflow }).toEqual({ path, width, overflow: 0 });
      }
      const pressed = await page
        .getByRole('button', { disabled: false })
        .evaluateAll((buttons) =>
          buttons.map(
            (button) => button.getAttribute('aria-label') ?? (button.textContent.trim() || button.outerHTML),
          ),
        );
      const changing = pressed.filter((name) => !READING.test(name));
      const fields = await page
        .locator('form:not([role="search"]) :is(input, select, textarea):enabled')
        .count();
      const alerts = await page.getByRole('alert').allTextContents();
      expect({ path, changing, fields, alerts }).toEqual({ path, changing: [], fields: 0, alerts: [] });
      await banner.waitFor();
    }
    expect(sent).toEqual([]);
    await page.goto(`${origin}/operator/view/explorer`);
    await page.getByRole('heading', { name: 'The explorer is not part of a view' }).waitFor();

    await page.getByRole('button', { name: 'Stop viewing' }).click();
    await page.waitForURL(origin + customerPath());
    await page.goto(`${origin}/operator/view/plan`);
    await ended(page);
    await expectAccessible(page);
    expect(faults).toEqual([]);
    await close();

    const own = await journey.signedIn();
    await own.goto(`${demo.console.url}/account/activity`);
    await own.getByText('Stopped viewing the account').first().waitFor();
    await own.getByText('Began to view the account, read only').first().waitFor();
  }, 300_000);

  test('is no use to a script: not to change, not with another session, not from another origin', async () => {
    const { demo } = journey.stack();
    const { page, context, close } = await viewingTab();
    const token = await page.evaluate(() => sessionStorage.getItem('tollgate-view'));
    const fromPage = (url: string, method: string) =>
      page.evaluate(
        async ([address, verb, view]) => {
          const session = (await (await fetch('/operator/api/session')).json()) as { csrf_token: string };
          const headers = {
            'x-view-token': view ?? '',
            'x-csrf-token': session.csrf_token,
            'content-type': 'application/json',
          };
          const response = await fetch(address ?? '', {
            method: verb ?? '',
            headers,
            ...(verb === 'GET' ? {} : { body: '{"name":"taken over"}' }),
          });
          return [response.status, ((await response.json()) as { code?: string }).code];
        },
        [url, method, token],
      );
    const application = `/applications/${String(demo.application.application_id)}`;
    expect(await fromPage(`/operator/api/view${application}`, 'GET')).toEqual([200, undefined]);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect(await fromPage(`/operator/api/view${application}`, method)).toEqual([403, 'read_only']);
    }
    expect(await fromPage('/operator/api/view/temporary-token', 'POST')).toEqual([403, 'read_only']);

    // The same browser, with its cookies, at the customers' origin.
    const other = await context.newPage();
    await other.goto(`${demo.console.url}/sign-in`);
    const { origin } = new URL(page.url());
    const refused = await other.evaluate(
      async ([address, view]) => {
        const tries = [{}, { 'x-view-token': view ?? '' }].map((headers) =>
          fetch(address ?? '', { credentials: 'include', headers }).then(
            () => 'answered',
            () => 'refused',
          ),
        );
        return Promise.all(tries);
      },
      [`${origin}/operator/api/view${application}`, token],
    );
    expect(refused).toEqual(['refused', 'refused']);
    // A page of the same origin, without the tab's token.
    await other.goto(`${origin}/operator/view/`);
    await ended(other);
    await close();
  });

  test('ends by itself when its time is over, also where nothing is pressed', async () => {
    const { postgresUrl } = journey.stack();
    if (postgresUrl === undefined) return;
    const { page, faults, close } = await viewingTab();
    const leave = (interval: string) =>
      withClient(postgresUrl, (client) =>
        client.query(`UPDATE operator_views SET expires_at = now() + interval '${interval}'`),
      );
    await leave('5 seconds');
    await page.reload();
    await ended(page);
    expect(await page.getByText(journey.stack().demo.console.email).count()).toBe(0);
    await page.getByRole('link', { name: 'Back to the operators’ console' }).click();
    await page.getByRole('heading', { name: 'Customers' }).waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('is forbidden by the customer, which ends it; an admin overrides it', async () => {
    const { demo } = journey.stack();
    const support = await viewingTab();
    const own = await journey.signedIn();
    await own.goto(`${demo.console.url}/account/security`);
    const section = own.getByRole('region', { name: 'Views by support' });
    await section.getByText('Allowed').waitFor();
    await section.getByRole('button', { name: 'Forbid views' }).click();
    await section.getByText('Forbidden').waitFor();
    try {
      await support.page.getByRole('link', { name: 'Applications' }).click();
      await ended(support.page);
      await support.page.goto(new URL(customerPath(), support.page.url()).href);
      await askToView(support.page);
      await support.page.getByRole('alert').waitFor();
      expect(await support.page.getByLabel('Also if the customer forbids it').count()).toBe(0);

      const admin = await customerTab('admin');
      await admin.page.getByRole('button', { name: 'View as customer' }).click();
      await admin.page.getByLabel('Also if the customer forbids it').check();
      await admin.page.getByRole('dialog').getByLabel('Reason').fill('Ticket 8');
      await admin.page.getByRole('dialog').getByRole('button', { name: 'View as customer' }).click();
      await admin.page.getByRole('region', { name: 'View as a customer' }).waitFor();
      await admin.page.getByRole('button', { name: 'Stop viewing' }).click();
      await admin.page.waitForURL(/\/operator\/accounts\//);
      expect([...support.faults, ...admin.faults]).toEqual([]);
      await admin.close();
    } finally {
      await section.getByRole('button', { name: 'Allow views' }).click();
      await section.getByText('Allowed').waitFor();
      await support.close();
    }
  });

  test('is not for viewers and finance', async () => {
    const { page, close } = await customerTab('finance');
    await page.getByRole('heading', { name: 'Grant credits' }).waitFor();
    expect(await page.getByRole('button', { name: 'View as customer' }).count()).toBe(0);
    await close();
  });

  const isLeftOut = firefoxPath === undefined && process.env['REQUIRE_BROWSER'] !== '1';
  (isLeftOut ? plainTest.skip : plainTest)(
    'Firefox, at 1440 and 390 px: no script fails and nothing is cut off; axe finds nothing',
    async () => {
      const { page, url, faults, close } = await operatorFirefox(journey, 'support');
      try {
        await page.goto(new URL(customerPath(), url).href);
        await page.locator('::-p-aria([name="View as customer"][role="button"])').click();
        await page.locator('[name="X-Reason"]').fill('Ticket 7');
        await page.locator('[role="dialog"] button[type="submit"]').click();
        await page.waitForSelector('[aria-label="View as a customer"]');
        for (const path of ['/operator/view/', SEEN_BY_AXE, '/operator/view/plan']) {
          await page.goto(new URL(path, url).href);
          await page.waitForSelector('main#content h1');
          for (const [index, width] of WIDTHS_PX.entries()) {
            await page.setViewport({ width, height: 900 });
            await page.evaluate((theme) => {
              document.documentElement.dataset['theme'] = theme;
            }, THEMES[index] ?? 'light');
            const { overflow } = await page.evaluate(layoutOf);
            const axe = path === SEEN_BY_AXE ? await accessibilityFaults(page) : [];
            expect({ path, width, overflow, axe }).toEqual({ path, width, overflow: 0, axe: [] });
          }
        }
        expect(faults).toEqual([]);
      } finally {
        await close();
      }
    },
    300_000,
  );
}
