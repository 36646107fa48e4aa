import type { OperatorRole } from '@tollgate/contracts/operator-roles';
import type { Page } from 'puppeteer-core';
import { launchFirefox } from '../../browser/firefox.ts';
import { openTab } from '../../browser/console-page.ts';
import type { ConsoleTab } from '../../browser/console-page.ts';
import { operate } from '../../operate.ts';
import type { Demo } from '../../stack/stack.ts';
import type { Journey } from './journey.ts';

/** The address at which a new operator signs in, once. */
export async function operatorSignInUrl(demo: Demo, role: OperatorRole): Promise<string> {
  const body = { name: 'Grace Hopper', email: `${crypto.randomUUID()}@example.com`, role };
  const { operator } = await operate<{ operator: { operator_id: number } }>(
    demo,
    'POST',
    '/private/operators',
    body,
  );
  const path = `/private/operators/${String(operator.operator_id)}/sign-in-link`;
  return (await operate<{ url: string }>(demo, 'POST', path)).url;
}

/** A new operator, signed in. */
export async function operatorTab(
  journey: Pick<Journey, 'stack' | 'browser'>,
  role: OperatorRole,
): Promise<ConsoleTab> {
  const tab = await openTab(journey.browser(), await operatorSignInUrl(journey.stack().demo, role));
  await tab.page.getByRole('button', { name: 'Sign in' }).click();
  await tab.page.getByRole('heading', { name: 'Customers' }).waitFor();
  return tab;
}

/** A new operator, signed in, in a Firefox of its own. `url` has the origin; `faults` are those of the pages' scripts. */
export async function operatorFirefox(
  journey: Pick<Journey, 'stack'>,
  role: OperatorRole,
): Promise<{ page: Page; url: string; faults: string[]; close: () => Promise<void> }> {
  const browser = await launchFirefox();
  try {
    const page = await browser.newPage();
    const faults: string[] = [];
    page.on('pageerror', (error) => {
      faults.push(String(error));
    });
    const url = await operatorSignInUrl(journey.stack().demo, role);
    await page.goto(url);
    await page.locator('::-p-aria([name="Sign in"][role="button"])').click();
    await page.waitForSelector('main#content h1');
    return { page, url, faults, close: () => browser.close() };
  } catch (error) {
    await browser.close();
    throw error;
  }
}
