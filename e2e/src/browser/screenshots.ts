import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CONSOLE_PATHS, isEntryPath } from '@tollgate/console/paths';
import type { Browser, Page } from 'playwright-core';
import type { Demo } from '../stack/stack.ts';
import { launchBrowser } from './browser.ts';
import { signIn, untilLoaded } from './console-page.ts';

/**
 * `npm run screenshots [-- <words in paths>]`: looks at every page of a running `npm start` as its sample manager,
 * in both themes, at 1440 and 390 px, into .tollgate/screenshots; the README's into docs/images.
 */
const root = resolve(import.meta.dirname, '../../..');
const folder = join(root, '.tollgate/screenshots');
const demo = JSON.parse(readFileSync(join(root, '.tollgate/demo.json'), 'utf8')) as Demo;

/** Of the README, in both themes at 1440 px. */
const IMAGES = new Map([
  ['user', 'overview'],
  ['user-explorer', 'explorer'],
]);

const THEMES = ['light', 'dark'] as const;
const WIDTHS = [1_440, 390] as const;

const words = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await launchBrowser();
try {
  for (const theme of THEMES) for (const width of WIDTHS) await lookAtAll(browser, theme, width);
} finally {
  await browser.close();
}
console.info(`Wrote ${folder}`);

async function lookAtAll(browser: Browser, theme: 'light' | 'dark', width: number): Promise<void> {
  const context = await browser.newContext({ colorScheme: theme, viewport: { width, height: 900 } });
  const page = await context.newPage();
  const origin = new URL(demo.console.url).origin;
  const chosen = CONSOLE_PATHS.filter(
    (path) => words.length === 0 || words.some((word) => path.includes(word)),
  );
  for (const path of chosen.filter((path) => isEntryPath(path))) {
    await page.goto(origin + path);
    await keep(page, path, theme, width);
  }
  await page.goto(`${demo.console.url}/sign-in`);
  await signIn(page, { demo });
  await page.waitForURL(demo.console.url);
  for (const path of chosen.filter((path) => !isEntryPath(path))) {
    const ofSample = path.replace(':application_id', String(demo.application.application_id));
    if (ofSample.includes(':')) continue;
    await page.goto(origin + ofSample);
    await keep(page, path, theme, width);
  }
  await context.close();
}

async function keep(page: Page, path: string, theme: string, width: number): Promise<void> {
  await untilLoaded(page);
  const name = path.slice(1).replaceAll(/[/:]+/g, '-');
  await page.screenshot({ path: join(folder, `${name}-${theme}-${String(width)}.png`), fullPage: true });
  const image = IMAGES.get(name);
  if (image === undefined || width !== WIDTHS[0]) return;
  if (image === 'explorer') await runExample(page);
  mkdirSync(join(root, 'docs/images'), { recursive: true });
  await page.screenshot({ path: join(root, 'docs/images', `${image}-${theme}.png`) });
}

async function runExample(page: Page): Promise<void> {
  // The plain field stays while it is in use.
  await page.getByText('The editor is loading.').waitFor({ state: 'hidden' });
  const answered = page.waitForResponse((response) => response.url().endsWith('/graphql'));
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await (await answered).finished();
  await page.getByText('Points left').waitFor();
}
