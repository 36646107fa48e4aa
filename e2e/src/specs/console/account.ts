import { createHmac } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openPromise } from 'yauzl';
import { addAuthenticator } from '../../browser/authenticator.ts';
import { expectAccessible, openTab, untilLoaded } from '../../browser/console-page.ts';
import type { ConsoleTab } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { signUp } from './journey.ts';
import type { Journey } from './journey.ts';

const STEP_SEC = 30;
const PASSKEY_OPTIONS = '**/api/console/session/passkey/options';

/** The code of an authenticator app (RFC 6238) for a secret in base32, now or some steps away. */
function totpCode(secret: string, steps = 0): string {
  const bits = Array.from(secret, (digit) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(digit).toString(2).padStart(5, '0'),
  ).join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 1_000 / STEP_SEC) + steps));
  const hash = createHmac('sha1', key).update(counter).digest();
  const offset = (hash.at(-1) ?? 0) & 15;
  return String((hash.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

/** On the page Security; the recovery codes. */
export async function setUpApp(page: Page): Promise<string[]> {
  await page.getByRole('button', { name: 'Set up authenticator app' }).click();
  await page.getByRole('img', { name: 'QR code with the secret' }).waitFor();
  const shown = await page.getByRole('dialog').locator('code').innerText();
  await page.getByLabel('Code from the app').fill(totpCode(shown.replaceAll(' ', '')));
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor();
  const codes = await page.getByRole('dialog').getByRole('listitem').allInnerTexts();
  await page.getByRole('button', { name: 'Copy recovery codes' }).click();
  await page.getByRole('button', { name: 'Done' }).click();
  return codes;
}

/** Passkeys need a secure context: localhost is one, an IP address or the name of a container is not. */
function accountPage({ stack }: Pick<Journey, 'stack'>, part = 'security'): string {
  const url = new URL(`${stack().demo.console.url}/account/${part}`);
  if (url.hostname === '127.0.0.1') url.hostname = 'localhost';
  return url.href;
}

async function enterPassword(page: Page, { stack }: Pick<Journey, 'stack'>): Promise<void> {
  const { email, password } = stack().demo.member;
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
}

/** A tab of the sample's member on the page Security, at an origin where passkeys work. */
async function openAccount(journey: Journey): Promise<ConsoleTab> {
  const tab = await openTab(journey.browser(), accountPage(journey));
  await enterPassword(tab.page, journey);
  await tab.page.getByRole('heading', { name: 'Security', level: 1 }).waitFor();
  await tab.page.getByRole('heading', { name: 'Authenticator app' }).waitFor();
  return tab;
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Sign out', exact: true }).last().click();
  await page.getByRole('heading', { name: 'Sign in to Tollgate' }).waitFor();
}

async function remove(page: Page, name: string | RegExp): Promise<void> {
  await page.getByRole('button', { name }).click();
  await expectAccessible(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
}

/** The next request of this kind gets this problem. */
async function refuseOnce(
  page: Page,
  status: number,
  code: string,
  url = '**/api/console/account/export',
): Promise<void> {
  const problem = { title: 'Not now', status, code, request_id: `export-${String(status)}` };
  await page.route(
    url,
    (route) =>
      route.fulfill({ status, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
    { times: 1 },
  );
}

async function unzipped(path: string): Promise<Map<string, string>> {
  const zip = await openPromise(path);
  const files = new Map<string, string>();
  for await (const entry of zip.eachEntry()) {
    files.set(entry.fileName, await text(await zip.openReadStreamPromise(entry)));
  }
  return files;
}

/** The pages of the account: what protects it, where it is signed in, and its data. */
export function accountJourneys(journey: Journey): void {
  test('an authenticator app: set up, then a wrong code, a code and a recovery code sign in or do not', async () => {
    const tab = await openAccount(journey);
    const { page } = tab;
    await page.getByRole('button', { name: 'Set up authenticator app' }).click();
    await page.getByRole('img', { name: 'QR code with the secret' }).waitFor();
    await expectAccessible(page);
    const shown = await page.getByRole('dialog').locator('code').innerText();
    const secret = shown.replaceAll(' ', '');
    await page.getByLabel('Code from the app').fill('12');
    await page.keyboard.press('Enter');
    await page.locator('[name="code"][aria-invalid="true"]:focus').waitFor();
    const [used, next] = [totpCode(secret), totpCode(secret, 1)];
    await page.getByLabel('Code from the app').fill(used);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor();
    await expectAccessible(page);
    const [code = '', other = ''] = await page.getByRole('dialog').getByRole('listitem').allInnerTexts();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText('You have not saved the codes.').waitFor();
    await page.getByRole('button', { name: 'Copy recovery codes' }).click();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText('10 of 10 are unused.').waitFor();
    expect(await page.content()).not.toContain(code);
    await expectAccessible(page);

    await signOut(page);
    await enterPassword(page, journey);
    await page.locator('[autocomplete="one-time-code"][inputmode="numeric"]:focus').waitFor();
    await expectAccessible(page);
    await page.keyboard.type(used);
    await page.keyboard.press('Enter');
    await page.getByText('This code is wrong, expired or already used.').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Authentication code').fill(next);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Overview' }).waitFor();

    await signOut(page);
    await enterPassword(page, journey);
    await page.getByRole('button', { name: 'Use a recovery code' }).click();
    await page.getByLabel('Recovery code').fill(code.toUpperCase());
    await expectAccessible(page);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Overview' }).waitFor();
    await page.goto(accountPage(journey));
    await page.getByText('9 of 10 are unused.').waitFor();
    await refuseOnce(page, 403, 'confirmation_required', '**/api/console/two-factor/totp');
    await page.getByRole('button', { name: 'Remove authenticator app' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    const confirmation = page.getByRole('dialog', { name: 'Confirm it’s you' });
    await confirmation.getByLabel('Authentication code or recovery code').fill(other);
    await expectAccessible(page);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Set up authenticator app' }).waitFor();
    expect(tab.faults).toEqual([]);
    await tab.close();
  });

  test('a passkey: added, completes a sign-in, replaces the password, and is removed', async () => {
    const tab = await openAccount(journey);
    const { page } = tab;
    // Passkeys belong to the host of PUBLIC_URL, which is another one in the containers and the cluster.
    if (journey.stack().kind !== 'processes') {
      await tab.close();
      return;
    }
    if (new URL(page.url()).hostname !== 'localhost') {
      await page.getByText('Passkeys are not available').waitFor();
      await tab.close();
      return;
    }
    const { devtools, authenticatorId } = await addAuthenticator(page);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Journey');
    await expectAccessible(page);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor();
    await page.getByRole('button', { name: 'Copy recovery codes' }).click();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('list', { name: 'Passkeys' }).getByText('Journey').waitFor();
    await expectAccessible(page);

    // The browser's suggestions offer it; this authenticator takes the first offer, before one could look at the page.
    const isSignedOut = page.waitForURL(/\/sign-in/);
    await page.getByRole('button', { name: 'Sign out', exact: true }).last().click();
    await isSignedOut;
    await page.getByRole('link', { name: 'Overview' }).waitFor();
    // Without presence, offers wait, as they do for people.
    const presence = async (enabled: boolean) => {
      await devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
    };
    await presence(false);
    await signOut(page);
    await enterPassword(page, journey);
    await page.getByRole('button', { name: 'Use a passkey' }).waitFor();
    await presence(true);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByRole('link', { name: 'Overview' }).waitFor();
    // The button ends the suggestions, which otherwise end its prompt if they come later.
    await page.route(PASSKEY_OPTIONS, () => undefined, { times: 1 });
    const suggestions = page.waitForRequest(PASSKEY_OPTIONS);
    await signOut(page);
    await suggestions;
    const ended = page.waitForEvent('requestfailed', async (request) => request === (await suggestions));
    await page.route(PASSKEY_OPTIONS, async (route) => {
      await ended;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('link', { name: 'Overview' }).waitFor();
    await page.unroute(PASSKEY_OPTIONS);
    await page.goto(accountPage(journey));
    await page.getByText('last used').waitFor();
    await remove(page, 'Remove passkey Journey');
    await page.getByText('Off', { exact: true }).waitFor();
    expect(tab.faults).toEqual([]);
    await tab.close();
  });

  test('sessions: this one is marked, another one is signed out from here', async () => {
    const [here, there] = [await openAccount(journey), await openAccount(journey)];
    const { page } = here;
    await page.reload();
    await page.getByRole('cell', { name: 'This session' }).waitFor();
    expect(await page.getByText('This session').count()).toBe(1);
    const others = page.getByRole('button', { name: /^Sign out Chrome/ });
    await expectAccessible(page);
    const before = await others.count();
    await others.first().click();
    await others.nth(before - 1).waitFor({ state: 'detached' });
    await there.page.reload();
    await there.page.getByRole('heading', { name: 'Sign in to Tollgate' }).waitFor();
    await here.close();
    await there.close();
  });

  test('export: after a confirmation and an error, a zip with what the account has, by keyboard alone', async () => {
    const tab = await openAccount(journey);
    const { page } = tab;
    const { email, password } = journey.stack().demo.member;
    await page.goto(accountPage(journey, 'data'));
    await refuseOnce(page, 503, 'service_unavailable');
    await page.getByRole('button', { name: 'Export data' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Details').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Request ID: export-503').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Shift+Tab');
    await refuseOnce(page, 403, 'confirmation_required');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Confirm it’s you' }).waitFor();
    await expectAccessible(page);
    await page.keyboard.type(password);
    const downloading = page.waitForEvent('download');
    await page.keyboard.press('Enter');
    const download = await downloading;
    expect(download.suggestedFilename()).toMatch(/^account-\d+-\d{4}-\d\d-\d\d\.zip$/);
    const files = await unzipped(await download.path());
    expect(JSON.parse(files.get('account.json') ?? '')).toMatchObject({ email });
    expect(files.get('usage.csv')).toMatch(/^hour,period_id,/);
    expect(files.get('README.txt')).toContain('Times are in UTC');
    await page.getByRole('status').getByText('was downloaded.').waitFor();
    await expectAccessible(page);
    expect(tab.faults).toEqual([]);
    await tab.close();
  });

  test('name and password are changed in forms that open when they are asked for', async () => {
    const { page, password } = await signUp(journey, `forms-${crypto.randomUUID()}@example.com`);
    await page.goto(`${journey.stack().demo.console.url}/account`);
    await untilLoaded(page);
    await page.getByRole('button', { name: 'Change name' }).click();
    await page.locator('[name="name"]:focus').fill('Ada Lovelace');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save name' }).click();
    await page.getByText('Name saved.').waitFor();
    await page.getByRole('button', { name: 'Change name' }).and(page.locator(':focus')).waitFor();
    await page.getByRole('link', { name: 'Security' }).last().click();
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.locator('[name="current_password"]:focus').fill(password);
    await page.getByLabel('New password', { exact: true }).fill('another horse battery');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Password changed.').waitFor();
    await expectAccessible(page);
  });
}
