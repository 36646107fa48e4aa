import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { expectAccessible, openTab } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { eventually, obtainToken, postGraphql } from '../../caller.ts';
import { LIVE_TIME_LIMIT_MS, QUERY } from './journey.ts';
import type { Journey } from './journey.ts';

/** Usage over time: what the chart, the table and the CSV say is the same, and the address restores the view. */

const today = () => new Date().toISOString().slice(0, 10);

const figure = (text: string) => Number(text.replaceAll(',', ''));

/** Of a cell: exactly, where it is shown in another unit. */
async function exactly(cell: Locator): Promise<number> {
  const inUnit = cell.getByTitle(/^[\d,]+ (?:seconds|bytes)$/);
  const text = (await inUnit.count()) > 0 ? await inUnit.getAttribute('title') : await cell.innerText();
  return figure((text ?? '').replace(/ (?:seconds|bytes)$/, ''));
}

const rowOf = (page: Page, day: string) =>
  page.getByRole('region', { name: 'Usage by day' }).locator(`tr:has(time[datetime^="${day}"])`);

const figuresOf = async (row: Locator) =>
  Promise.all((await row.getByRole('cell').all()).map((cell) => exactly(cell)));

const rowsShown = (page: Page) =>
  page.getByRole('region', { name: 'Usage by day' }).locator('tbody').getByRole('row').count();

/** Every line of the view's CSV by its column titles. */
async function downloadedCsv(page: Page): Promise<Record<string, string>[]> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download CSV' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^usage-\d{4}-\d\d-\d\d-to-.*\.csv$/);
  const [head = '', ...lines] = readFileSync(await download.path(), 'utf8')
    .trim()
    .split('\r\n');
  const titles = head.split(',');
  return lines.map((line) =>
    Object.fromEntries(line.split(',').map((cell, at) => [titles[at] ?? '', cell] as const)),
  );
}

const csvFigures = (line: Readonly<Record<string, string>>) =>
  ['points_usage', 'requests_usage', 'time_sec_usage', 'traffic_bytes_usage'].map((title) =>
    Number(line[title]),
  );

export function usageJourneys(journey: Journey): void {
  const { stack, browser, signedIn } = journey;
  const usagePage = () => `${stack().demo.console.url}/usage`;

  test('a call just made appears, in the chart, in the table and in the CSV', async () => {
    const page = await signedIn();
    const { demo } = stack();
    await page.goto(usagePage());
    await rowOf(page, today()).waitFor();
    await expectAccessible(page);
    const [before = 0] = await figuresOf(rowOf(page, today()));
    const response = await postGraphql(demo, await obtainToken(demo, demo.application), QUERY);
    await response.arrayBuffer();
    const points = Number(response.headers.get('x-points-cost'));
    await eventually(
      () => figuresOf(rowOf(page, today())),
      ([now = 0]) => now >= before + points,
      LIVE_TIME_LIMIT_MS * 2,
    );
    expect(await rowsShown(page)).toBe(10);
    await page.getByRole('button', { name: 'Show all 30 days' }).click();
    expect(await rowsShown(page)).toBe(30);
    const chart = page.getByRole('slider', { name: 'Points per day' });
    await chart.focus();
    for (const key of ['End', 'ArrowLeft', 'Home']) {
      await page.keyboard.press(key);
      const [, days] = /^(.*) \(UTC\): /.exec((await chart.getAttribute('aria-valuetext')) ?? '') ?? [];
      const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: days ?? '' }) });
      const [shown] = await row.getByRole('cell').allInnerTexts();
      expect(await chart.getAttribute('aria-valuetext')).toContain(`: Points ${shown ?? ''},`);
    }
    await page.keyboard.press('Escape');
    // Calls of the tests before may still be on their way to being counted.
    await eventually(
      async () => {
        const lines = await downloadedCsv(page);
        const rows = await Promise.all(
          lines.map(({ started_at = '' }) => figuresOf(rowOf(page, started_at.slice(0, 10)))),
        );
        return { saved: lines.map(csvFigures), shown: rows.map((figures) => figures.slice(0, 4)) };
      },
      ({ saved, shown }) => saved.length === 30 && JSON.stringify(saved) === JSON.stringify(shown),
      LIVE_TIME_LIMIT_MS * 2,
    );
  });

  test('by application, and the address restores the view', async () => {
    const page = await signedIn();
    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await page.getByLabel('Range').selectOption('This billing period');
    await page.getByLabel('Group by').selectOption('Application');
    await page.getByRole('radio', { name: 'Requests' }).check();
    const groups = page.getByRole('region', { name: 'Usage by group' });
    await groups.waitFor();
    await page.waitForURL(/\?range=period&group=application&measure=requests$/);
    await expectAccessible(page);
    await eventually(
      async () => {
        const sums = new Map<string, number[]>();
        for (const line of await downloadedCsv(page)) {
          const [id = '', figures] = [line['application_id'], csvFigures(line)];
          sums.set(
            id,
            figures.map((value, at) => value + (sums.get(id)?.[at] ?? 0)),
          );
        }
        const rows = await groups.locator('tbody tr').all();
        const shown = await Promise.all(rows.map(async (row) => (await figuresOf(row)).slice(1)));
        const ordered = (all: readonly number[][]) => all.map(String).toSorted();
        return { saved: ordered([...sums.values()]), shown: ordered(shown) };
      },
      ({ saved, shown }) => saved.length > 0 && JSON.stringify(saved) === JSON.stringify(shown),
      LIVE_TIME_LIMIT_MS * 2,
    );
    await page.reload();
    await groups.waitFor();
    expect(await page.getByRole('radio', { name: 'Requests' }).isChecked()).toBe(true);
    expect(await page.getByLabel('Group by').inputValue()).toBe('application');
    await page.goBack();
    await page.waitForURL(/\?range=period&group=application$/);
    expect(await page.getByRole('radio', { name: 'Points' }).isChecked()).toBe(true);
    await page.goto(`${usagePage()}?range=ever&by=second&from=2026-02-30&group=1`);
    await rowOf(page, today()).waitFor();
    expect(await page.getByLabel('Range').inputValue()).toBe('30d');
  });

  test('of a billing period: its row in the list, the page behind it, its table and its CSV agree', async () => {
    const page = await signedIn();
    await page.goto(usagePage());
    const periods = page.getByRole('region', { name: 'Billing periods table' });
    const link = periods.getByRole('link').first();
    const name = await link.innerText();
    await link.click();
    await page.waitForURL(/\?period=\d+$/);
    await page.getByRole('status').getByText(name).waitFor();
    await expectAccessible(page);
    const points = (text: string) => figure(/[\d,]+/.exec(text)?.[0] ?? '');
    await eventually(
      async () => {
        const lines = await downloadedCsv(page);
        const total = page.getByRole('region', { name: 'Usage by day' }).getByRole('row', { name: /^Total/ });
        const [ofTable] = await figuresOf(total);
        return {
          ofRow: points(await periods.getByRole('row').nth(1).getByRole('cell').nth(3).innerText()),
          ofPage: points(
            await page
              .locator('label')
              .filter({ hasText: /^Points/ })
              .innerText(),
          ),
          ofTable,
          ofCsv: lines.reduce((sum, line) => sum + (csvFigures(line)[0] ?? 0), 0),
        };
      },
      ({ ofRow, ...others }) => ofRow > 0 && Object.values(others).every((value) => value === ofRow),
      LIVE_TIME_LIMIT_MS * 4,
    );
  });

  test('of one application: the figures and the CSV are its own, and the address has the filter', async () => {
    const page = await signedIn();
    await page.goto(`${usagePage()}?group=application`);
    const groups = page.getByRole('region', { name: 'Usage by group' });
    await groups.waitFor();
    const filter = page.getByLabel('Application', { exact: true });
    const [, name = ''] = await filter.getByRole('option').allInnerTexts();
    await filter.selectOption(name);
    await page.waitForURL(/\?group=application&application=\d+$/);
    const id = await filter.inputValue();
    await eventually(
      () => groups.getByRole('rowheader').allInnerTexts(),
      (shown) => shown.length === 1 && shown[0] === name,
      LIVE_TIME_LIMIT_MS,
    );
    await expectAccessible(page);
    const lines = await downloadedCsv(page);
    expect(new Set(lines.map(({ application_id }) => application_id))).toEqual(new Set([id]));
    await page.reload();
    await groups.waitFor();
    expect(await filter.inputValue()).toBe(id);
    await filter.selectOption('All applications');
    await page.waitForURL(/\?group=application$/);
  });

  test('a range by keyboard, in the dark theme at 320 px; on paper only what counts', async () => {
    const narrow = await openTab(browser(), usagePage(), { colorScheme: 'dark', width: 320 });
    const { page } = narrow;
    const { email, password } = stack().demo.console;
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.keyboard.press('Enter');
    await rowOf(page, today()).waitFor();
    const [year = '', month = '', day = ''] = today().split('-');
    await page.getByRole('spinbutton').first().focus();
    await page.keyboard.type(`${month}${day}${year}${month}${day}${year}`);
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`from=${today()}&to=${today()}$`));
    await page.getByLabel('By', { exact: true }).focus();
    await page.keyboard.press('H');
    await page.waitForURL(/by=hour/);
    await page.getByRole('region', { name: 'Usage by hour' }).waitFor();
    await expectAccessible(page);
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate<number>(overflow)).toBeLessThanOrEqual(0);
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('navigation').count()).toBe(0);
    expect(await page.getByLabel('Range').isVisible()).toBe(false);
    const table = page.getByRole('region', { name: 'Usage by hour' });
    const hidden = (region: { scrollHeight: number; clientHeight: number }) =>
      region.scrollHeight - region.clientHeight;
    expect(await table.evaluate(hidden)).toBe(0);
    expect(narrow.faults).toEqual([]);
    await narrow.close();
  });

  test('a team member sees its own usage, and no grouping by member', async () => {
    const other = await openTab(browser(), `${usagePage()}?group=member`);
    const { page } = other;
    const { email, password } = stack().demo.member;
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.keyboard.press('Enter');
    await page.getByText('Your own usage, which your team’s manager pays for.').waitFor();
    await page.waitForURL(/\/usage$/);
    const groups = await page.getByLabel('Group by').getByRole('option').allInnerTexts();
    expect(groups).toEqual(['None', 'Application', 'API version']);
    await expectAccessible(page);
    expect(other.faults).toEqual([]);
    await other.close();
  });
}
