import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../../browser/browser.ts';
import { openTab, signIn } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { applicationsPage } from './journey.ts';
import type { Journey } from './journey.ts';

const WIDTH_PX = 1_440;

/** Both in the middle of the window's height: the page's margin, and the place of the scroll bar beside it. */
const PLACES = { margin: WIDTH_PX - 24, scrollBar: WIDTH_PX - 7 };

/** The style sheet mixes the colour of the one, the browser that of the other. */
const ROUNDING = 2;

/** A dialog hides the scroll bar and leaves its place, which no element covers. */
export function scrollBarJourneys(journey: Journey): void {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`a dialog dims the place of the scroll bar as the page, ${colorScheme}`, async () => {
      const browser = await launchBrowser({ hasScrollBars: true });
      try {
        const options = { colorScheme, width: WIDTH_PX };
        const { page } = await openTab(browser, applicationsPage(journey), options);
        await signIn(page, journey.stack());
        const open = page.getByRole('button', { name: '+ New Application' }).first();
        await open.waitFor();
        const before = await coloursOf(page);
        expect(distance(before.scrollBar, before.margin)).toBeGreaterThan(ROUNDING);
        await open.click();
        await page.getByRole('dialog', { name: 'New Application' }).waitFor();
        const dimmed = await coloursOf(page);
        expect(distance(dimmed.margin, before.margin)).toBeGreaterThan(ROUNDING);
        expect(distance(dimmed.scrollBar, dimmed.margin)).toBeLessThanOrEqual(ROUNDING);
      } finally {
        await browser.close();
      }
    });
  }
}

/** The largest of the four differences. */
function distance(one: readonly number[], other: readonly number[]): number {
  return Math.max(...one.map((value, index) => Math.abs(value - (other[index] ?? 0))));
}

/** Red, green, blue and alpha of what is on the screen. */
async function coloursOf(page: Page): Promise<Record<keyof typeof PLACES, number[]>> {
  const image = await page.screenshot({ animations: 'disabled' });
  // The page's own policy would refuse to read an image.
  const reader = await page.context().newPage();
  const colours = await reader.evaluate(
    async ({ base64, places }) => {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
      const drawing = canvas.getContext('2d');
      if (drawing === null) throw new Error('The browser has no canvas.');
      drawing.drawImage(bitmap, 0, 0);
      const at = (x: number) => [...drawing.getImageData(x, bitmap.height / 2, 1, 1).data];
      return { margin: at(places.margin), scrollBar: at(places.scrollBar) };
    },
    { base64: image.toString('base64'), places: PLACES },
  );
  await reader.close();
  return colours;
}
