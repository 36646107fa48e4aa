import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import type { Stack } from '../stack/stack.ts';
import { accessibilityFaults } from './axe.ts';

/** A tab on the interface, and what went wrong in it besides refused requests. */
export type ConsoleTab = {
  context: BrowserContext;
  page: Page;
  faults: string[];
  close: () => Promise<void>;
};

/** What the tab's user prefers, where its clock is, and how wide the window is, in px. */
export type TabOptions = {
  /** As `th-TH`. */
  locale?: string;
  /** As `Asia/Bangkok`. */
  timezoneId?: string;
  colorScheme?: 'light' | 'dark';
  width?: number;
  forcedColors?: 'active' | 'none';
  reducedMotion?: 'reduce' | 'no-preference';
};

/** For what a page is to show; a machine that does much else takes long. */
const WAIT_MS = 60_000;

const SETTLING_MS = 1_000;

type OpenTab = { page: Page; incidents: string[] };

const openTabs = new Set<OpenTab>();

/** What each open tab shows, what was refused or lost of its requests, and its errors, to explain a failure. */
export async function describeTabs(): Promise<string> {
  const described = [...openTabs].map(async ({ page, incidents }) => {
    const text = await page.innerText('body', { timeout: 1_000 }).catch(String);
    return [`${page.url()} shows:`, text, 'Before:', ...incidents].join('\n');
  });
  return (await Promise.all(described)).join('\n\n');
}

/**
 * Opens an empty tab whose clipboard pages of the URL's origin can read; `faults` collects script errors and what a
 * page's policy refused.
 */
export async function openEmptyTab(
  browser: Browser,
  url: string,
  options: TabOptions = {},
): Promise<ConsoleTab> {
  const {
    colorScheme = 'light',
    width = 1_440,
    forcedColors = 'none',
    reducedMotion = 'no-preference',
    locale = 'en-US',
    timezoneId = 'UTC',
  } = options;
  const context = await browser.newContext({
    colorScheme,
    forcedColors,
    reducedMotion,
    locale,
    timezoneId,
    viewport: { width, height: 900 },
  });
  context.setDefaultTimeout(WAIT_MS);
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(url).origin });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => {
    // The explorer's editor rejects what it still had to do when its page is left.
    if (message !== 'Canceled') faults.push(message);
  });
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) faults.push(message.text());
  });
  const opened: OpenTab = { page, incidents: [] };
  const note = (what: string, request: Request) => {
    opened.incidents.push(`${what} ${request.method()} ${request.url()}`);
  };
  page.on('response', (response) => {
    if (response.status() >= 400) note(String(response.status()), response.request());
  });
  page.on('requestfailed', (request) => {
    note(request.failure()?.errorText ?? 'failed', request);
  });
  page.on('console', (message) => {
    if (message.type() === 'error') opened.incidents.push(message.text());
  });
  openTabs.add(opened);
  context.on('close', () => openTabs.delete(opened));
  return { context, page, faults, close: () => context.close() };
}

/** The same with a page. */
export async function openTab(browser: Browser, url: string, options: TabOptions = {}): Promise<ConsoleTab> {
  const tab = await openEmptyTab(browser, url, options);
  await tab.page.goto(url);
  return tab;
}

/**
 * Once a page has all that it asks for: until then its lower parts move, and a press that ends beside its button does
 * nothing.
 */
export async function untilLoaded(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  // Live pages never fall silent: what is on the way after this is not waited for.
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'hidden' });
  // None of all that are busy: a chart's script is asked for once its figures are there.
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
}

/** Signs in through the form. */
export async function signIn(page: Page, { demo }: Pick<Stack, 'demo'>, password = demo.console.password) {
  await page.getByLabel('Email').fill(demo.console.email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/**
 * What is there only while the page changes, such as the colours of a text that an editor is still reading, is no fault:
 * faults are looked for again.
 * @throws {Error} that lists what axe found
 */
export async function expectAccessible(page: Page): Promise<void> {
  if ((await accessibilityFaults(page)).length === 0) return;
  await delay(SETTLING_MS);
  const faults = await accessibilityFaults(page);
  if (faults.length > 0) throw new Error(`Not accessible at ${page.url()}:\n${faults.join('\n')}`);
}
