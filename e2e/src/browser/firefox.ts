import { existsSync } from 'node:fs';
import puppeteer from 'puppeteer-core';
import type { Browser, Page } from 'puppeteer-core';
import type { Stack } from '../stack/stack.ts';

const PLACES = ['/usr/bin/firefox-esr', '/usr/bin/firefox'];

/** Firefox of this machine, as it is installed; undefined where there is none. FIREFOX_PATH names another one. */
export const firefoxPath = process.env['FIREFOX_PATH'] ?? PLACES.find((path) => existsSync(path));

/** By WebDriver BiDi: Playwright drives only a Firefox of its own making. */
export function launchFirefox(): Promise<Browser> {
  if (firefoxPath === undefined)
    throw new Error('There is no Firefox on this machine. FIREFOX_PATH names one.');
  return puppeteer.launch({ browser: 'firefox', executablePath: firefoxPath, headless: true });
}

/** Opens the sign-in, signs the sample's manager in, and collects what goes wrong from then on. */
export async function signedInTab(
  browser: Browser,
  { demo }: Pick<Stack, 'demo'>,
): Promise<{ page: Page; faults: string[] }> {
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => {
    faults.push(String(error));
  });
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  await page.goto(`${demo.console.url}/sign-in`);
  await page.locator('[name="email"]').fill(demo.console.email);
  await page.locator('[name="password"]').fill(demo.console.password);
  await page.locator('button[type="submit"]').click();
  await page.waitForSelector('main#content h1');
  // The session is asked for before there is one.
  faults.length = 0;
  return { page, faults };
}
