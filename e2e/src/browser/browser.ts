import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

/** The first one is the same engine without windows, tabs and menus, and needs a quarter less CPU time. */
const PLACES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** The browser of this machine; undefined where there is none. CHROMIUM_PATH names another one. */
export const browserPath = process.env['CHROMIUM_PATH'] ?? PLACES.find((path) => existsSync(path));

/** Chromium takes the last list of the command line, so Playwright's own stands here, too. */
const DISABLED_FEATURES = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  // Two pages of the browser's own behind the address bar, whose renderer costs each tab half a second of CPU time.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
];

/** Starts the browser, without anything that reaches the network by itself; `hasScrollBars` as people have them. */
export function launchBrowser({ hasScrollBars = false } = {}): Promise<Browser> {
  if (browserPath === undefined)
    throw new Error('There is no Chromium on this machine. CHROMIUM_PATH names one.');
  return chromium.launch({
    executablePath: browserPath,
    ignoreDefaultArgs: hasScrollBars ? ['--hide-scrollbars'] : [],
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disable-features=${DISABLED_FEATURES.join(',')}`,
    ],
  });
}
