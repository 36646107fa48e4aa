import { expect, test } from '@jest/globals';
import { accessibilityFaults } from '../../browser/axe.ts';
import { firefoxPath, launchFirefox, signedInTab } from '../../browser/firefox.ts';
import { PAGES, layoutOf, pageOf } from './every-page.ts';
import type { Journey } from './journey.ts';

const WIDTHS_PX = [1_440, 390] as const;
const THEMES = ['light', 'dark'] as const;

/** axe, which takes longest, looks at what it doesn't see in Chromium, where it sees dark and narrow pages. */
const isLookedAt = (width: number, theme: string) => width === 1_440 && theme === 'light';

/** One pass over the pages, each loaded once: the theme and the width change while it is shown. */
export function firefoxJourneys(journey: Journey): void {
  // A machine without Firefox leaves it out; CI demands one.
  const isLeftOut = firefoxPath === undefined && process.env['REQUIRE_BROWSER'] !== '1';
  (isLeftOut ? test.skip : test)(
    'Firefox, at 1440 and 390 px, in both themes: no script fails and nothing is cut off; axe finds nothing',
    async () => {
      const { demo, kind } = journey.stack();
      if (kind !== 'processes') return;
      const browser = await launchFirefox();
      try {
        const { page, faults } = await signedInTab(browser, journey.stack());
        const { origin } = new URL(demo.console.url);
        for (const path of PAGES) {
          const shown = pageOf(path, demo);
          if (shown === undefined) continue;
          await page.goto(origin + shown);
          await page.waitForSelector('h1');
          await page.waitForFunction(
            'document.querySelector(\'[role="status"][aria-label="Loading"]\') === null',
          );
          for (const width of WIDTHS_PX) {
            await page.setViewport({ width, height: 900 });
            for (const theme of THEMES) {
              await page.evaluate((chosen) => {
                document.documentElement.dataset['theme'] = chosen;
              }, theme);
              const { overflow } = await page.evaluate(layoutOf);
              const axe = isLookedAt(width, theme) ? await accessibilityFaults(page) : [];
              const seen = { path, width, theme, overflow, axe };
              expect(seen).toEqual({ path, width, theme, overflow: 0, axe: [] });
            }
          }
        }
        expect(faults).toEqual([]);
      } finally {
        await browser.close();
      }
    },
    600_000,
  );
}
