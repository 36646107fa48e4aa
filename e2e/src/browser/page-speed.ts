import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import type { Demo } from '../stack/stack.ts';
import { launchBrowser } from './browser.ts';
import { operatorSignInUrl } from '../specs/console/operator-tab.ts';
import { signIn } from './console-page.ts';

/**
 * `npm run page-speed`: how fast pages of a running `npm start` are usable with nothing cached, on the connection and
 * the processor that Lighthouse gives a phone (1.6 Mbit/s, 150 ms, a quarter of this machine's speed). Medians of five
 * loads each; `npm run page-speed -- /docs` measures the pages whose paths begin so.
 */
const CONNECTION = {
  offline: false,
  latency: 150,
  downloadThroughput: (1.6 * 1_000_000) / 8,
  uploadThroughput: (0.75 * 1_000_000) / 8,
};

const CPU_SLOWDOWN = 4;

const LOADS = 5;
/** Of a task, what blocks input (Total Blocking Time). */
const UNNOTICED_TASK_MS = 50;

const PAGES = [
  '/user/sign-in',
  '/user',
  '/user/api_v2/applications',
  '/user/usage',
  '/user/explorer',
  '/docs',
  '/docs/limits',
  '/docs/errors',
  '/docs/api/oauth',
  '/operator/docs',
  '/operator/docs/configuration',
];

const wanted = process.argv[2] ?? '';

const demo = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../../.tollgate/demo.json'), 'utf8'),
) as Demo;

await requireCompressed();
const browser = await launchBrowser();
const rows: Record<string, string | number>[] = [];
try {
  for (const path of PAGES.filter((each) => each.startsWith(wanted))) {
    const loads: Figures[] = [];
    for (let load = 0; load < LOADS; load += 1) {
      const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
      const url = await openedFor(context, path);
      loads.push(await speedOf(await context.newPage(), url));
      await context.close();
    }
    rows.push({ page: path, ...mediansOf(loads) });
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

/** The address of a page, once the context is signed in where the page needs it. */
async function openedFor(context: BrowserContext, path: string): Promise<string> {
  if (path.startsWith('/operator')) return (await startOperatorSession(context)) + path;
  if (path.startsWith('/user') && path !== '/user/sign-in') await startSession(context);
  return new URL(demo.console.url).origin + path;
}

async function startSession(context: BrowserContext): Promise<void> {
  const page = await context.newPage();
  await page.goto(`${demo.console.url}/sign-in`);
  await signIn(page, { demo });
  await page.waitForURL(demo.console.url);
  await page.close();
}

/** The origin that it holds for. */
async function startOperatorSession(context: BrowserContext): Promise<string> {
  const page = await context.newPage();
  const url = await operatorSignInUrl(demo, 'support');
  await page.goto(url);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Customers' }).waitFor();
  await page.close();
  return new URL(url).origin;
}

type Figures = Record<string, number>;

function mediansOf(loads: readonly Figures[]): Figures {
  const medianOf = (name: string) =>
    loads.map((load) => load[name] ?? 0).toSorted((a, b) => a - b)[Math.floor(loads.length / 2)] ?? 0;
  return Object.fromEntries(Object.keys(loads[0] ?? {}).map((name) => [name, medianOf(name)]));
}

async function speedOf(page: Page, url: string): Promise<Figures> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  await session.send('Network.emulateNetworkConditions', CONNECTION);
  await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
  const scripts = new Set<string>();
  let [scriptBytes, allBytes] = [0, 0];
  session.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Script') scripts.add(requestId);
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    allBytes += encodedDataLength;
    if (scripts.has(requestId)) scriptBytes += encodedDataLength;
  });
  await page.goto(url, { waitUntil: 'commit' });
  await page.getByRole('heading', { level: 1 }).waitFor();
  const usableMs = await page.evaluate(() => performance.now());
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'hidden' });
  const filledMs = await page.evaluate(() => performance.now());
  const { firstMs, contentMs, paintMs, shift, tasksMs } = await page.evaluate(async () => {
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
    const tasks = await entriesOf('longtask');
    return {
      firstMs: performance.getEntriesByName('first-paint')[0]?.startTime ?? 0,
      contentMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0,
      paintMs: paints.at(-1)?.startTime ?? 0,
      shift: shifts.reduce((sum, { value }) => sum + value, 0),
      tasksMs: tasks.map(({ duration }) => duration),
    };
  });
  return {
    'script (KB)': Math.round(scriptBytes / 1_000),
    'transferred (KB)': Math.round(allBytes / 1_000),
    'first paint (ms)': Math.round(firstMs),
    'first content (ms)': Math.round(contentMs),
    'largest content (ms)': Math.round(paintMs),
    'usable (ms)': Math.round(usableMs),
    'with its data (ms)': Math.round(filledMs),
    'blocked (ms)': Math.round(tasksMs.reduce((sum, ms) => sum + ms - UNNOTICED_TASK_MS, 0)),
    'layout shift': Math.round(shift * 1_000) / 1_000,
  };
}
