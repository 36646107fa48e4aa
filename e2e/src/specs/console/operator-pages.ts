import { expect, test as plainTest } from '@jest/globals';
import { withClient } from '@tollgate/stack/postgres';
import type { Page, Route } from 'playwright-core';
import { accessibilityFaults } from '../../browser/axe.ts';
import { expectAccessible, untilLoaded } from '../../browser/console-page.ts';
import { firefoxPath } from '../../browser/firefox.ts';
import { test } from '../../browser/journey-test.ts';
import { eventually } from '../../caller.ts';
import { operate } from '../../operate.ts';
import { layoutOf } from './every-page.ts';
import { operatorFirefox, operatorTab } from './operator-tab.ts';
import { LIVE_TIME_LIMIT_MS } from './journey.ts';
import type { Journey } from './journey.ts';

/** Of the console of operators; the addresses of one customer and one plan are added. */
const PATHS = ['/plans', '/usage', '/confirmations', '/audit', '/health', '/sessions'];

/** What a customer types is text wherever it is shown. */
const HOSTILE = '<img src=x onerror="document.title=1">';
const FORMULA = '=cmd|calc';

const LOOKS = [
  ['light', 1_440],
  ['dark', 390],
] as const;

/** In both themes, wide and narrow: axe finds nothing, and nothing is cut off. */
async function look(page: Page, path: string): Promise<void> {
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'hidden' });
  for (const [colorScheme, width] of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    await expectAccessible(page);
    const { overflow } = await page.evaluate(layoutOf);
    expect({ path, width, overflow }).toEqual({ path, width, overflow: 0 });
  }
  await page.setViewportSize({ width: 1_440, height: 900 });
}

/** The pages of the operators' console beside what `operators.ts` walks. */
export function operatorPageJourneys(journey: Journey): void {
  const make = <T>(path: string, body: unknown) => operate<T>(journey.stack().demo, 'POST', path, body);

  const dialogOf = (page: Page) => page.getByRole('dialog');

  async function confirm(page: Page, action: string, reason = 'Ticket 7'): Promise<void> {
    await dialogOf(page).getByLabel('Reason').fill(reason);
    await dialogOf(page).getByRole('button', { name: action, exact: true }).click();
    await dialogOf(page).waitFor({ state: 'hidden' });
  }

  /** As an admin, what waits about an account or a plan. */
  async function confirmBySecond(about: string): Promise<void> {
    const { page, close } = await operatorTab(journey, 'admin');
    try {
      await page.goto(new URL('/operator/confirmations', page.url()).href);
      const waiting = page.getByRole('row').filter({ hasText: about });
      await untilLoaded(page);
      await waiting.getByRole('button', { name: /^Confirm/ }).click();
      await look(page, 'a confirmation');
      await dialogOf(page).getByRole('button', { name: 'Confirm', exact: true }).click();
      await waiting.waitFor({ state: 'hidden' });
    } finally {
      await close();
    }
  }

  async function newCustomer(name: string) {
    const email = `${crypto.randomUUID()}@example.com`;
    const { account_id } = await make<{ account_id: number }>('/private/accounts', { email, name });
    return { account_id, email, path: `/operator/accounts/${String(account_id)}` };
  }

  test('every page, full and failing: in both themes, wide and narrow, axe finds nothing; a viewer changes nothing', async () => {
    const { demo } = journey.stack();
    const { plan_id } = await make<{ plan_id: number }>('/private/plans', {
      name: `Plan ${crypto.randomUUID()}`,
      description: { points_limit: 1_000, tier: HOSTILE },
    });
    const paths = [...PATHS, `/plans/${String(plan_id)}`, `/accounts/${String(demo.account_id)}`];
    const admin = await operatorTab(journey, 'admin');
    const viewer = await operatorTab(journey, 'viewer');
    try {
      const { origin } = new URL(admin.page.url());
      const failing = (route: Route) => route.fulfill({ status: 503, json: { code: 'service_unavailable' } });
      for (const path of paths) {
        await admin.page.goto(`${origin}/operator${path}`);
        await untilLoaded(admin.page);
        await look(admin.page, path);
      }
      expect(await admin.page.locator('img[src="x"]').count()).toBe(0);

      // Without a reload, as when account is restarted: what was read stays readable.
      const { page } = viewer;
      for (const path of paths.filter((each) => each !== '/sessions')) {
        await page.goto(`${origin}/operator${path}`);
        await untilLoaded(page);
        const buttons = page.getByRole('main').getByRole('button');
        const names = await buttons.evaluateAll((all) => all.map((each) => each.textContent));
        const reading = /^(?:Filter|Download .+|Show older changes|Compare)$/;
        expect({ path, changing: names.filter((name) => !reading.test(name)) }).toEqual({
          path,
          changing: [],
        });
      }
      await page.route('**/operator/api/{plans,usage-*,products,accounts,health-report}*', failing);
      await page.route('**/operator/api/plans/*', failing);
      for (const path of ['/plans', '/usage', `/plans/${String(plan_id)}`]) {
        await page.goto(`${origin}/operator${path}`);
        await page.getByRole('alert').first().waitFor();
        await look(page, `${path} failing`);
      }
      expect(admin.faults).toEqual([]);
    } finally {
      await admin.close();
      await viewer.close();
    }
  }, 300_000);

  test('support changes an address, sends a mail again and ends sessions, by keyboard', async () => {
    const { demo } = journey.stack();
    const customer = await newCustomer('Ada');
    const id = String(customer.account_id);
    const { page, faults, close } = await operatorTab(journey, 'support');
    try {
      await page.goto(new URL(customer.path, page.url()).href);
      const sessions = page.getByRole('region', { name: 'Sessions', exact: true });
      await sessions.getByText('The owner isn’t signed in anywhere.').waitFor();
      await page.getByRole('region', { name: 'Mails', exact: true }).getByText('No mail was sent').waitFor();
      await page.getByRole('button', { name: 'Change address' }).focus();
      await page.keyboard.press('Enter');
      await dialogOf(page).getByLabel('to confirm').fill(demo.console.email);
      await dialogOf(page).getByLabel('New email address').fill(`${crypto.randomUUID()}@example.com`);
      await dialogOf(page).getByLabel('Reason').fill('Lost the mailbox');
      await page.keyboard.press('Enter');
      await page.locator('[name="confirmation"][aria-invalid="true"]:focus').waitFor();
      await expectAccessible(page);
      await dialogOf(page).getByLabel('to confirm').fill(customer.email);
      await page.keyboard.press('Enter');
      await page.getByText('A second operator must confirm it').waitFor();
      await confirmBySecond(id);
      const mails = page.getByRole('region', { name: 'Mails', exact: true });
      await eventually(
        () => operate<{ mails: { state: string }[] }>(demo, 'GET', `/private/accounts/${id}/mails`),
        (answer) => answer.mails.length === 1 && answer.mails[0]?.state === 'sent',
        LIVE_TIME_LIMIT_MS,
      );
      await page.reload();
      await page.getByRole('region', { name: 'Activity' }).getByText('email change requested').waitFor();
      await mails.getByText('Sent', { exact: true }).waitFor();
      await mails.getByRole('button', { name: /^Send again/ }).click();
      await confirm(page, 'Send again');
      await mails.getByText('email change by support').nth(1).waitFor();
      await sessions.getByRole('button', { name: 'End all sessions' }).click();
      await confirm(page, 'End all sessions');
      await page.getByRole('region', { name: 'Activity' }).getByText('signed out everywhere').waitFor();
      await look(page, customer.path);
      expect(faults).toEqual([]);
    } finally {
      await close();
    }
  });

  test('finance changes a billing period and ends it', async () => {
    const customer = await newCustomer('Ada');
    const plans = await Promise.all(
      ['Small', 'Large'].map((name) => {
        const plan = { name: `${name} ${crypto.randomUUID()}`, description: { points_limit: 1_000 } };
        return make<{ plan_id: number; name: string }>('/private/plans', plan);
      }),
    );
    const [small, large] = plans;
    const at = (days: number) =>
      new Date(Date.now() + days * 86_400_000).toISOString().replace(/T.*$/, 'T00:00:00Z');
    const period = { started_at: at(-3), ended_at: at(20), plan_id: small?.plan_id };
    await make('/private/periods', { ...period, account_id: customer.account_id });
    const { page, faults, close } = await operatorTab(journey, 'finance');
    try {
      await page.goto(new URL(customer.path, page.url()).href);
      const periods = page.getByRole('region', { name: 'Billing periods', exact: true });
      await untilLoaded(page);
      await periods.getByRole('button', { name: /^Change/ }).click();
      await dialogOf(page)
        .getByLabel('Plan')
        .selectOption({ label: large?.name ?? '' });
      await dialogOf(page).getByLabel('Last day').fill('2020-01-01');
      await dialogOf(page).getByRole('button', { name: 'Change', exact: true }).click();
      await page.locator('[name="ended_at"][aria-invalid="true"]:focus').waitFor();
      await expectAccessible(page);
      await dialogOf(page).getByLabel('Last day').fill(at(40).slice(0, 10));
      await confirm(page, 'Change');
      await periods.getByText(large?.name ?? '').waitFor();
      await periods.getByRole('button', { name: /^End now/ }).click();
      await dialogOf(page).getByLabel('to confirm').fill(customer.email);
      await confirm(page, 'End now');
      await periods.getByText('expired').waitFor();
      expect(await page.getByRole('button', { name: 'Change address' }).count()).toBe(0);
      expect(faults).toEqual([]);
    } finally {
      await close();
    }
  });

  test('an admin creates a plan, sees whom a change reaches, changes, publishes and archives it', async () => {
    const { page, faults, close } = await operatorTab(journey, 'admin');
    const name = `Plan ${crypto.randomUUID()}`;
    try {
      await page.getByRole('link', { name: 'Plans' }).click();
      const form = page.getByRole('region', { name: 'New plan' });
      await form.getByLabel('Name').fill(name);
      await form.getByLabel('Points per billing period').fill('many');
      await form.getByRole('button', { name: 'Create plan' }).click();
      await page.locator('[name="points_limit"][aria-invalid="true"]:focus').waitFor();
      await form.getByLabel('Points per billing period').fill('1,000');
      await form.getByRole('button', { name: 'Create plan' }).click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      const plan_id = Number(/plans\/(\d+)$/.exec(page.url())?.[1]);
      const { account_id } = await newCustomer('Ada');
      await make('/private/subscriptions', { account_id, plan_id, billing_interval: 'month' });

      const change = page.getByRole('region', { name: 'Change this plan' });
      await change.getByRole('button', { name: 'Preview' }).click();
      await dialogOf(page).getByText('The plan has all of this already.').waitFor();
      await page.keyboard.press('Escape');
      await change.getByLabel('Points per billing period').fill('2000');
      await change.getByRole('button', { name: 'Preview' }).click();
      await dialogOf(page).getByText('1 subscription and').waitFor();
      await dialogOf(page).getByText('1,000').waitFor();
      await look(page, 'preview');
      await dialogOf(page).getByLabel('to confirm').fill(name);
      await confirm(page, 'Change plan');
      await page.getByRole('region', { name: 'Limits', exact: true }).getByText('2,000').waitFor();
      await page.getByRole('link', { name: `Account ${String(account_id)}` }).waitFor();

      await change.getByLabel('Points per billing period').fill('500');
      await change.getByRole('button', { name: 'Preview' }).click();
      await dialogOf(page).getByLabel('to confirm').fill(name);
      await confirm(page, 'Change plan');
      await page.getByText('A second operator must confirm it').waitFor();
      await confirmBySecond(`Plan ${String(plan_id)}`);
      await page.reload();
      await page.getByRole('region', { name: 'Limits', exact: true }).getByText('500').waitFor();

      await page.getByRole('button', { name: 'Publish' }).click();
      await dialogOf(page).getByLabel('Price by the month, as text').fill('49 € a month');
      await confirm(page, 'Publish');
      await page.getByText('In the catalogue').waitFor();
      await page.getByRole('button', { name: 'Archive' }).click();
      await dialogOf(page).getByLabel('to confirm').fill(name);
      await confirm(page, 'Archive');
      await page.getByText('Archived').waitFor();
      await page.getByRole('button', { name: 'Restore' }).waitFor();
      expect(faults).toEqual([]);
    } finally {
      await close();
    }
  });

  test('an admin counts unassigned usage, compares totals, rebuilds and repairs them', async () => {
    const { postgresUrl } = journey.stack();
    if (postgresUrl === undefined) return;
    const { account_id } = await newCustomer('Ada');
    const { plan_id } = await make<{ plan_id: number }>('/private/plans', {
      name: `Plan ${crypto.randomUUID()}`,
      description: {},
    });
    const period = { account_id, plan_id, ended_at: '2099-01-01T00:00:00Z' };
    const { period_id } = await make<{ period_id: number }>('/private/periods', {
      ...period,
      started_at: `${new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)}T00:00:00Z`,
    });
    const used = { points: 7, requests: 1, time_ms: 1, traffic_bytes: 1, at_ms: Date.now() };
    const event = {
      ...used,
      payer_id: account_id,
      account_id,
      period_id: 999_999_999,
      application_id: 1,
      api_version: 'v2',
    };
    await withClient(postgresUrl, (client) =>
      client.query(
        `INSERT INTO usage_unassigned (stream, entry_id, event_index, reason, raw)
         VALUES ('usage:journey', '1-1', 0, 'unknown_period', $1)`,
        [JSON.stringify(event)],
      ),
    );
    const { page, faults, close } = await operatorTab(journey, 'admin');
    try {
      await page.getByRole('link', { name: 'Usage' }).click();
      const unassigned = page.getByRole('region', { name: 'Unassigned usage', exact: true });
      await unassigned.getByRole('button', { name: /^Count/ }).click();
      await dialogOf(page).getByLabel('Billing period').fill('seven');
      await dialogOf(page).getByRole('button', { name: 'Count', exact: true }).click();
      await page.locator('[name="period_id"][aria-invalid="true"]:focus').waitFor();
      await dialogOf(page).getByLabel('Billing period').fill(String(period_id));
      await confirm(page, 'Count');
      await unassigned.getByText(`Counted in period ${String(period_id)}`).waitFor();

      await withClient(postgresUrl, (client) =>
        client.query('UPDATE usage_totals SET points = 3 WHERE period_id = $1', [period_id]),
      );
      const check = page.getByRole('region', { name: 'Compare totals', exact: true });
      await check.getByLabel('Billing period').fill(String(period_id));
      await check.getByRole('button', { name: 'Compare', exact: true }).click();
      await check.getByText('1 billing period compared, 1 different.').waitFor();
      await look(page, 'usage, with a difference');
      await check.getByRole('button', { name: /^Rebuild/ }).click();
      await confirm(page, 'Rebuild');
      await check.getByText('1 billing period compared, 0 different.').waitFor();

      const repair = page.getByRole('region', { name: 'After a restore' });
      await repair.getByRole('button', { name: 'Repair' }).click();
      await repair.getByText('0 billing periods repaired').waitFor();
      const payments = page.getByRole('region', { name: 'Reconcile payments' });
      await payments.getByRole('button', { name: 'Compare with Stripe' }).click();
      await payments.getByText(/read at Stripe|Payments are not enabled/).waitFor();
      expect(faults).toEqual([]);
    } finally {
      await close();
    }
  });

  test('what a customer types is text everywhere: names, browsers, refused queries, formulas', async () => {
    const { account_id, path } = await newCustomer(HOSTILE);
    const application = { account_id, name: HOSTILE, type: 'automatic', token_lifespan_sec: 3_600 };
    const { application_id } = await make<{ application_id: number }>('/private/applications', application);
    await make(`/private/applications/${String(application_id)}/tokens`, { name: FORMULA });
    const { postgresUrl } = journey.stack();
    if (postgresUrl !== undefined) {
      await withClient(postgresUrl, async (client) => {
        await client.query(
          `INSERT INTO sessions (account_id, token_hash, expires_at, address, user_agent)
           VALUES ($1, sha256($2::text::bytea), now() + interval '1 hour', '192.0.2.1', $3)`,
          [account_id, crypto.randomUUID(), HOSTILE],
        );
        await client.query(
          `INSERT INTO refused_calls (request_id, seq, at, kind, code, status, account_id, payer_id, address,
             api_version, operation_name, detail, unrecorded_before)
           VALUES ($1, 1, now(), 'operation', 'document_invalid', 400, $2, $2, '192.0.2.1', 'v2', $3, $3, 0)`,
          [crypto.randomUUID().replaceAll('-', ''), account_id, HOSTILE],
        );
        await client.query(
          `INSERT INTO webhooks (account_id, url, description) VALUES ($1, 'https://hooks.example/', $2)`,
          [account_id, HOSTILE],
        );
      });
    }
    const { page, faults, close } = await operatorTab(journey, 'support');
    try {
      await page.goto(new URL(path, page.url()).href);
      for (const region of ['Account', 'Applications', 'Tokens']) {
        const text = region === 'Tokens' ? FORMULA : HOSTILE;
        await page.getByRole('region', { name: region, exact: true }).getByText(text).first().waitFor();
      }
      if (postgresUrl !== undefined) {
        for (const region of ['Sessions', 'Webhooks']) {
          await page.getByRole('region', { name: region, exact: true }).getByText(HOSTILE).waitFor();
        }
        const refused = page.getByRole('region', { name: 'Refused and failed calls', exact: true });
        await refused.getByText('Explain').click();
        await refused.getByText(HOSTILE).waitFor();
      }
      await look(page, path);
      expect(await page.locator('img[src="x"]').count()).toBe(0);
      // The customer's own pages, as support sees them.
      await page.getByRole('button', { name: 'View as customer' }).click();
      await confirm(page, 'View as customer');
      await page.getByRole('region', { name: 'View as a customer' }).waitFor();
      for (const shown of ['requests', 'api_v2/applications', 'webhooks', 'account/security']) {
        await page.goto(new URL(`/operator/view/${shown}`, page.url()).href);
        await page.getByText(HOSTILE).first().waitFor();
        expect(await page.locator('img[src="x"]').count()).toBe(0);
      }
      expect(await page.title()).not.toBe('1');
      expect(faults).toEqual([]);
    } finally {
      await close();
    }
  });

  const isLeftOut = firefoxPath === undefined && process.env['REQUIRE_BROWSER'] !== '1';
  (isLeftOut ? plainTest.skip : plainTest)(
    'Firefox, at 1440 and 390 px: no script fails and nothing is cut off; axe finds nothing',
    async () => {
      const { page, url, faults, close } = await operatorFirefox(journey, 'admin');
      try {
        const customer = `/accounts/${String(journey.stack().demo.account_id)}`;
        for (const path of ['/plans', '/usage', customer]) {
          await page.goto(new URL(`/operator${path}`, url).href);
          await page.waitForSelector('main#content section h2');
          for (const [theme, width] of LOOKS) {
            await page.setViewport({ width, height: 900 });
            await page.evaluate((shown) => {
              document.documentElement.dataset['theme'] = shown;
            }, theme);
            const { overflow } = await page.evaluate(layoutOf);
            const axe = await accessibilityFaults(page);
            expect({ path, width, overflow, axe }).toEqual({ path, width, overflow: 0, axe: [] });
          }
        }
        expect(faults).toEqual([]);
      } finally {
        await close();
      }
    },
  );
}
