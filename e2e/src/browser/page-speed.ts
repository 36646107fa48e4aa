import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import type { Demo } from '../stack/stack.ts';
import { launchBrowser } from './browser.ts';
import { signIn } from './console-page.ts';

/**
 * `npm run page-speed`: how fast pages of a running `npm start` are usable with nothing cached, on the connection and
 * the processor that Lighthouse gives a phone (1.6 Mbit/s, 150 ms, a quarter of this machine's speed).
 */
const CONNECTION = {
  offline: false,
  latency: 150,
  downloadThroughput: (1.6 * 1_000_000) / 8,
  uploadThroughput: (0.75 * 1_000_000) / 8,
};

const CPU_SLOWDOWN = 4;

const PAGES = [
  '/user/sign-in',
  '/user',
  '/user/api_v2/applications',
  '/user/usage',
  '/user/explorer',
  '/docs',
  '/docs/errors',
] as const;

const demo = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../../.tollgate/demo.json'), 'utf8'),
) as Demo;

await requireCompressed();
const browser = await launchBrowser();
const rows: Record<string, string | number>[] = [];
try {
  for (const path of PAGES) {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    if (path !== '/user/sign-in') await startSession(context);
    rows.push({ page: path, ...(await speedOf(await context.newPage(), path)) });
    await context.close();
  }
} finally {
  await browser.close();
}
console.table(rows);

/** @throws {Error} if `npm start` has built the pages, which it does without compressing them */
async function requireCompressed(): Promise<void> {
  const { origin } = new URL(demo.console.url);
  const [, script = ''] =
    /<script[^>]* src="([^"]+)"/.exec(await (await fetch(`${demo.console.url}/sign-in`)).text()) ?? [];
  const { headers } = await fetch(new URL(script, origin), { headers: { 'accept-encoding': 'br' } });
  if (headers.get('content-encoding') !== 'br')
    throw new Error(
      'The pages are not compressed. Stop npm start, run node_modules/.bin/node packages/console/scripts/build.ts, and start again.',
    );
}

async function startSession(context: BrowserContext): Promise<void> {
  const page = await context.newPage();
  await page.goto(`${demo.console.url}/sign-in`);
  await signIn(page, { demo });
  await page.waitForURL(demo.console.url);
  await page.close();
}

async function speedOf(page: Page, path: string): Promise<Record<string, string | number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  await session.send('Network.emulateNetworkConditions', CONNECTION);
  await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
  const scripts = new Map<string, number>();
  session.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Script') scripts.set(requestId, 0);
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) scripts.set(requestId, encodedDataLength);
  });
  await page.goto(new URL(path, demo.console.url).href, { waitUntil: 'commit' });
  await page.getByRole('heading', { level: 1 }).waitFor();
  const scriptBytes = [...scripts.values()].reduce((sum, bytes) => sum + bytes, 0);
  const usableMs = await page.evaluate(() => performance.now());
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'hidden' });
  const filledMs = await page.evaluate(() => performance.now());
  const { firstMs, paintMs, shift } = await page.evaluate(async () => {
    const entriesOf = (type: string) =>
      new Promise<PerformanceEntry[]>((found) => {
        new PerformanceObserver((list) => {
          found(list.getEntries());
        }).observe({ type, buffered: true });
        setTimeout(() => {
          found([]);
        }, 500);
      });
    const paints = await entriesOf('largest-contentful-paint');
    const shifts = (await entriesOf('layout-shift')) as (PerformanceEntry & { value: number })[];
    return {
      firstMs: performance.getEntriesByName('first-paint')[0]?.startTime ?? 0,
      paintMs: paints.at(-1)?.startTime ?? 0,
      shift: shifts.reduce((sum, { value }) => sum + value, 0),
    };
  });
  return {
    'script (KB)': Math.round(scriptBytes / 1_000),
    'first paint (ms)': Math.round(firstMs),
    'usable (ms)': Math.round(usableMs),
    'with its data (ms)': Math.round(filledMs),
    'largest paint (ms)': Math.round(paintMs),
    'layout shift': shift.toFixed(3),
  };
}
