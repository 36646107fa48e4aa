import { createHmac } from 'node:crypto';
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { eventually } from '../../caller.ts';
import { LIVE_TIME_LIMIT_MS, clipboard } from './journey.ts';
import type { Journey } from './journey.ts';
import { startReceiver } from './receiver.ts';
import type { Receiver } from './receiver.ts';

/** What the header `webhook-signature` says of a request (Standard Webhooks). */
function signature({ headers, body }: Receiver['received'][number], secret: string): string {
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}

async function copiedSecret(page: Page): Promise<string> {
  await page.getByText('It is shown only once').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Copy signing secret' }).click();
  return eventually(
    () => clipboard(page),
    (copied) => copied.startsWith('whsec_'),
    LIVE_TIME_LIMIT_MS,
  );
}

/** Alerts and webhooks, and what a customer's server receives. */
export function webhookJourneys(journey: Journey): void {
  const open = async (path: string) => {
    const page = await journey.signedIn();
    await page.goto(`${journey.stack().demo.console.url}/${path}`);
    return page;
  };

  test('a test event reaches the server, signed; a failed delivery is retried by the button', async () => {
    // Containers and pods don't reach a server of this machine.
    if (journey.stack().kind !== 'processes') return;
    const receiver = await startReceiver();
    try {
      const page = await open('webhooks');
      await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: '+ New Webhook' }).first().click();
      await page.getByLabel('URL').fill('not an address');
      await page.getByRole('button', { name: 'Create' }).click();
      await page.locator('[name="url"][aria-invalid="true"]:focus').waitFor();
      await expectAccessible(page);
      await page.getByLabel('URL').fill(receiver.url);
      await page.getByRole('button', { name: 'Create' }).click();
      const secret = await copiedSecret(page);
      await page.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('link', { name: receiver.url }).click();
      await page.getByRole('heading', { name: 'No deliveries yet' }).waitFor();

      receiver.status = 500;
      await page.getByRole('button', { name: 'Send test event' }).click();
      await page.getByText('500: Not a 2xx status').waitFor();
      receiver.status = 204;
      await page.getByRole('button', { name: /^Retry now/ }).click();
      await page.getByRole('cell', { name: 'Delivered', exact: true }).waitFor();
      await page.getByRole('button', { name: /^Attempts of webhook.test/ }).click();
      const attempts = page.getByRole('region', { name: /^Attempts of/ });
      await attempts.getByText('500: Not a 2xx status').waitFor();
      expect(await attempts.getByRole('row').count()).toBe(3);
      await expectAccessible(page);
      const [first, second] = receiver.received;
      expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
      for (const request of receiver.received) {
        expect(request.headers['webhook-signature']).toBe(signature(request, secret));
      }
      await page.getByLabel('Status').selectOption('Failed');
      await page.getByText('No deliveries match.').waitFor();
    } finally {
      await receiver.close();
    }
  });

  test('rotate, disable and delete a webhook by keyboard alone', async () => {
    const page = await open('webhooks');
    const press = async (name: string | RegExp) => {
      await page.getByRole('button', { name, exact: true }).last().focus();
      await page.keyboard.press('Enter');
    };
    await page.getByRole('button', { name: '+ New Webhook' }).first().waitFor();
    await press('+ New Webhook');
    await page.locator('[name="url"]:focus').waitFor();
    await page.keyboard.type('https://hooks.example.com/tollgate');
    await page.keyboard.press('Enter');
    await copiedSecret(page);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: '+ New Webhook' }).and(page.locator(':focus')).waitFor();
    await page.getByRole('link', { name: 'https://hooks.example.com/tollgate' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'hooks.example.com', exact: true }).waitFor();
    await press('Rotate Secret');
    await page.getByRole('dialog', { name: 'Rotate the signing secret' }).waitFor();
    await expectAccessible(page);
    await press('Rotate');
    await copiedSecret(page);
    await page.keyboard.press('Escape');
    await page.getByRole('timer').waitFor();
    await press('End it now');
    await page.getByRole('timer').waitFor({ state: 'hidden' });
    await press('Disable');
    await page.getByText('Disabled by you').waitFor();
    await expectAccessible(page);
    await press('Enable');
    await page.getByText('Enabled', { exact: true }).waitFor();
    await press('Delete');
    await page.locator('[name="confirmation"]:focus').waitFor();
    await page.keyboard.type('hooks');
    await page.keyboard.press('Enter');
    await page.getByText('This is not the name of the host.').waitFor();
    await expectAccessible(page);
    await page.keyboard.type('.example.com');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Webhooks', exact: true }).waitFor();
    await page.getByRole('link', { name: 'https://hooks.example.com/tollgate' }).waitFor({ state: 'hidden' });
  });

  test('alert thresholds are saved when asked for, and a change made elsewhere is not overwritten unseen', async () => {
    const page = await open('alerts');
    const other = await journey.tab().context.newPage();
    await other.goto(page.url());
    const defaults = page.getByRole('group', { name: 'Default thresholds' });
    // The sample's plan limits neither streaming time nor traffic.
    await page.getByLabel('Points', { exact: true }).waitFor();
    for (const limit of ['Streaming time', 'Traffic'])
      expect(await page.getByLabel(limit, { exact: true }).count()).toBe(0);
    await defaults.getByRole('textbox').fill('120');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Enter a whole number from 1 to 100.').waitFor();
    await page.locator('[name="shares_own"]:focus').waitFor();
    await expectAccessible(page);
    await defaults.getByRole('textbox').fill('90');
    await page.keyboard.press('Enter');
    await defaults.getByRole('checkbox', { name: '90%' }).waitFor();
    await defaults.getByRole('checkbox', { name: '50%' }).check();
    for (const share of ['80%', '100%']) await defaults.getByRole('checkbox', { name: share }).uncheck();
    await page.getByLabel('Team slots', { exact: true }).selectOption('No alerts');
    await page.getByLabel('Points', { exact: true }).selectOption('Own thresholds');
    const points = page.getByRole('group', { name: 'Points: thresholds' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Choose at least one threshold.').waitFor();
    await page.locator('[name="shares_points_limit_own"]:focus').waitFor();
    await page.keyboard.type('75');
    // Typed, and not added.
    await page.getByRole('button', { name: 'Save' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Saved.').waitFor();
    expect(await points.getByRole('checkbox', { name: '75%' }).isChecked()).toBe(true);

    await other.getByLabel('Send alerts by email').uncheck();
    await other.getByRole('button', { name: 'Save' }).click();
    await other.getByText('Default thresholds: 50%, 90% (was 80%, 100%)').waitFor();
    await other.getByText('Points: 75% (was as the default)').waitFor();
    await expectAccessible(other);
    await other.getByRole('button', { name: 'Discard mine' }).click();
    expect(await other.getByLabel('Send alerts by email').isChecked()).toBe(true);
    const others = (name: string) => other.getByRole('group', { name });
    expect(await others('Points: thresholds').getByRole('checkbox', { name: '75%' }).isChecked()).toBe(true);
    await other.getByLabel('Points', { exact: true }).selectOption('Default thresholds');
    for (const share of ['50%', '90%'])
      await others('Default thresholds').getByRole('checkbox', { name: share }).uncheck();
    for (const share of ['80%', '100%'])
      await others('Default thresholds').getByRole('checkbox', { name: share }).check();
    await other.getByRole('button', { name: 'Save' }).click();
    await other.getByText('Saved.').waitFor();
  });

  test('a test alert arrives by mail, and is the first of the last sent', async () => {
    const page = await open('alerts');
    const { email } = journey.stack().demo.console;
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText(`Test sent to ${email}.`).waitFor();
    await page.getByRole('region', { name: 'Last sent table' }).getByRole('rowheader').first().waitFor();
    expect(await page.getByRole('rowheader').first().innerText()).toBe('Test');
    await expectAccessible(page);
    await eventually(
      async () => (await journey.stack().mails()).join(''),
      (mails) => mails.includes('Test of your usage alerts'),
      LIVE_TIME_LIMIT_MS,
    );
  });
}
