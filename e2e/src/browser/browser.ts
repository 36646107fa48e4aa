import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The browser of this machine; undefined where there is none. CHROMIUM_PATH names another one. */
export const browserPath = process.env['CHROMIUM_PATH'] ?? PLACES.find((path) => existsSync(path));

/** Starts the browser, without anything that reaches the network by itself. */
export function launchBrowser(): Promise<Browser> {
  if (browserPath === undefined)
    throw new Error('There is no Chromium on this machine. CHROMIUM_PATH names one.');
  return chromium.launch({
    executablePath: browserPath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
