import { expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { expectAccessible, openTab, signIn, untilLoaded } from '../../browser/console-page.ts';
import type { TabOptions } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import type { Journey } from './journey.ts';

/**
 * Dates are the same wherever their reader is unless that is asked for, say their zone, and are written in the page's
 * language (docs/design/console.md).
 */

const READERS: (TabOptions & { timezoneId: string })[] = [
  { locale: 'en-US', timezoneId: 'America/Los_Angeles' },
  { locale: 'en-US', timezoneId: 'Asia/Tokyo' },
];

const STRANGERS: (TabOptions & { locale: string; timezoneId: string })[] = [
  { locale: 'th-TH', timezoneId: 'Asia/Bangkok' },
  { locale: 'fa-IR', timezoneId: 'Asia/Tehran' },
  { locale: 'ar-EG', timezoneId: 'Africa/Cairo' },
];

/** Pages that show periods, days, times and charts. */
const DATED = ['', '/plan', '/usage', '/api_v2/applications', '/requests', '/account/security'];

const billingPeriod = (page: Page): Locator =>
  page
    .locator('dt')
    .filter({ hasText: /^Billing period$/ })
    .locator('xpath=following-sibling::dd[1]');

export function datesJourneys({ stack, browser }: Journey): void {
  async function read<T>(options: TabOptions, look: (page: Page, url: string) => Promise<T>): Promise<T> {
    const { url } = stack().demo.console;
    const tab = await openTab(browser(), `${url}/sign-in`, options);
    await signIn(tab.page, stack());
    await tab.page.waitForURL(url);
    const seen = await look(tab.page, url);
    expect(tab.faults).toEqual([]);
    await tab.close();
    return seen;
  }

  test('a billing period has the same days in Los Angeles and in Tokyo, on each page that shows it', async () => {
    const [west, east] = await Promise.all(
      READERS.map((reader) =>
        read(reader, async (page, url) => {
          const overview = await billingPeriod(page).innerText();
          await page.goto(`${url}/plan`);
          const plan = (await billingPeriod(page).innerText()).split(',').slice(0, 2).join();
          await page.goto(`${url}/usage?range=period`);
          const periods = page.getByRole('region', { name: 'Billing periods table' });
          const listed = await periods.getByRole('link').first().innerText();
          return {
            overview,
            plan,
            listed,
            heading: await periods.getByRole('columnheader').first().innerText(),
          };
        }),
      ),
    );
    expect(east).toEqual(west);
    // Usage is exact, so its periods are listed with their instants.
    expect(west?.heading).toBe('Period');
    expect(west?.listed).toMatch(/^.+, \d\d:\d\d to .+, \d\d:\d\d UTC$/);
    const [firstDay = ''] = west?.listed.split(',') ?? [];
    expect(west?.overview.startsWith(firstDay)).toBe(true);
    expect(west?.plan).toBe(west?.overview);
  });

  test('a reader who chooses the own zone sees times in it, days in UTC, and keeps the choice', () =>
    read({ locale: 'en-US', timezoneId: 'Asia/Tokyo' }, async (page, url) => {
      await page.goto(`${url}/usage?range=7d&by=hour`);
      const table = page.getByRole('region', { name: 'Usage by hour' });
      const newest = table.locator('time').first();
      const hours = async () => {
        const start = new Date((await newest.getAttribute('datetime')) ?? '');
        return { utc: start.getUTCHours(), shown: Number(/(\d\d):00$/.exec(await newest.innerText())?.[1]) };
      };
      await newest.waitFor();
      const inUtc = await hours();
      expect(inUtc.shown).toBe(inUtc.utc);
      await page.getByLabel('Time zone').selectOption('Local (Asia/Tokyo)');
      await table.getByRole('columnheader', { name: 'Hour (Asia/Tokyo)' }).waitFor();
      const local = await hours();
      expect(local.shown).toBe((local.utc + 9) % 24);
      const periods = page.getByRole('region', { name: 'Billing periods table' });
      expect(await periods.getByRole('link').first().innerText()).toMatch(/ UTC\+9$/);
      await expectAccessible(page);
      await page.goto(`${url}/requests`);
      expect(await page.getByLabel('Time zone').inputValue()).toBe('local');
      await page.goto(`${url}/usage`);
      await page.getByRole('columnheader', { name: 'Day (UTC)' }).waitFor();
    }));

  for (const reader of STRANGERS) {
    test(`in a browser of ${reader.locale}, sentences keep one script and one calendar`, () =>
      read(reader, async (page, url) => {
        for (const path of DATED) {
          await page.goto(url + path);
          await untilLoaded(page);
          const texts = await page.evaluate(() => {
            const titled = [...document.querySelectorAll('[title]')];
            return [document.body.innerText, ...titled.map((one) => one.getAttribute('title'))].join('\n');
          });
          const foreign = /[\p{Script=Thai}\p{Script=Arabic}]+|\b(?:25[67]\d|140\d)\b/u.exec(texts)?.[0];
          expect({ path, foreign }).toEqual({ path });
        }
      }));
  }
}
