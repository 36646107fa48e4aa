import { expect, test } from '@jest/globals';
import { CONSOLE_PATHS, isEntryPath } from '@tollgate/console/paths';
import type { Page } from 'playwright-core';
import { expectAccessible, openTab, signIn, untilLoaded } from '../../browser/console-page.ts';
import type { Demo } from '../../stack/stack.ts';
import type { Journey } from './journey.ts';

/** The pages that a session opens; those that need a link from a mail have their own journeys. */
export const PAGES = CONSOLE_PATHS.filter((path) => !isEntryPath(path));

const TAB_STOPS_MAX = 60;

type Form = {
  name: string;
  colorScheme: 'light' | 'dark';
  forcedColors: 'none' | 'active';
  width: number;
  /** axe takes longest. With forced colours, contrast is the system's, and Firefox shows it the page so wide. */
  isForAxe: boolean;
  /** A keyboard meets the same stops in the light theme as in the dark one. */
  hasFocusRings: boolean;
};

const NARROW = { colorScheme: 'dark', forcedColors: 'none', width: 320 } as const;
// 1440 px wide, of which half is left.
const ZOOMED = { colorScheme: 'light', forcedColors: 'none', width: 720 } as const;
const FORCED = { colorScheme: 'light', forcedColors: 'active', width: 1_440 } as const;

const FORMS: readonly Form[] = [
  { name: 'dark, 320 px', ...NARROW, isForAxe: true, hasFocusRings: true },
  { name: 'light, 200 %', ...ZOOMED, isForAxe: true, hasFocusRings: false },
  { name: 'forced colours', ...FORCED, isForAxe: false, hasFocusRings: true },
];

/** What every page promises (docs/accessibility.md), over processes only: the pages are the same in the images. */
export function everyPageJourneys(journey: Journey): void {
  test('dark at 320 px, light at 200 % zoom: axe finds nothing; with forced colours, too: nothing is cut off, and focus is visible', async () => {
    const { demo, kind } = journey.stack();
    if (kind !== 'processes') return;
    const tab = await openTab(journey.browser(), `${demo.console.url}/sign-in`, {
      reducedMotion: 'reduce',
    });
    const { page } = tab;
    await signIn(page, journey.stack());
    await page.waitForURL(demo.console.url);
    const { origin } = new URL(demo.console.url);
    for (const path of PAGES) {
      const shown = pageOf(path, demo);
      if (shown === undefined) continue;
      // Loaded once: the form changes while it is shown.
      await page.goto(origin + shown);
      for (const form of FORMS) {
        await page.emulateMedia({ colorScheme: form.colorScheme, forcedColors: form.forcedColors });
        await page.setViewportSize({ width: form.width, height: 900 });
        await untilLoaded(page);
        if (form.isForAxe) await expectAccessible(page);
        const about = { path, form: form.name };
        expect({ ...about, ...(await page.evaluate(layoutOf)) }).toEqual({
          ...about,
          overflow: 0,
          animations: 0,
        });
        const unmarked = form.hasFocusRings ? await stopsWithoutFocusRing(page) : [];
        expect({ ...about, unmarked }).toEqual({ ...about, unmarked: [] });
      }
    }
    expect(tab.faults).toEqual([]);
    await tab.close();
  }, 600_000);
}

/** The path with the sample's application in it; undefined for pages that the sample has nothing for. */
export function pageOf(path: string, { application }: Pick<Demo, 'application'>): string | undefined {
  const shown = path.replace(':application_id', String(application.application_id));
  return shown.includes(':') ? undefined : shown;
}

/** Runs in the page. */
export function layoutOf(): { overflow: number; animations: number } {
  return {
    overflow: Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth),
    animations: document.getAnimations().length,
  };
}

/** Tabs through the page; the elements that have the focus and show nothing of it. */
async function stopsWithoutFocusRing(page: Page): Promise<string[]> {
  const unmarked: string[] = [];
  for (let stop = 0; stop < TAB_STOPS_MAX; stop += 1) {
    await page.keyboard.press('Tab');
    const found = await page.evaluate(() => {
      const element = document.activeElement;
      if (element === null || element === document.body) return { isEnd: true, name: null };
      const hasRing = (of: Element): boolean => {
        const { outlineStyle, outlineWidth } = getComputedStyle(of);
        return outlineStyle !== 'none' && outlineWidth !== '0px';
      };
      // A field in a group may be marked by its group, and a part of a date by its background.
      const around = [element, element.parentElement, element.parentElement?.parentElement];
      const isPartOfDate = element.role === 'spinbutton';
      const isMarked =
        around.some((of) => of !== null && of !== undefined && hasRing(of)) ||
        (isPartOfDate && getComputedStyle(element).backgroundColor !== 'rgba(0, 0, 0, 0)');
      return { isEnd: false, name: isMarked ? null : element.outerHTML.slice(0, 120) };
    });
    if (found.isEnd) break;
    if (found.name !== null) unmarked.push(found.name);
  }
  return unmarked;
}
