import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../caller.ts';
import type { Stack } from '../stack/stack.ts';
import { openConsole } from '../console-api.ts';
import type { Ask } from '../console-api.ts';
import { mailedLink } from '../mailed-link.ts';
import { startReceiver } from './console/receiver.ts';

const PASSWORD = 'correct horse battery staple';
const DELIVERY_LIMIT_MS = 60_000;

type Delivery = { status: string; attempts: number };

async function signUp(stack: Stack): Promise<Ask> {
  const ask = openConsole(stack);
  const email = `trial-${randomUUID()}@example.com`;
  await ask('POST', '/sign-up', { email, name: 'Trial' });
  const link = new URL(await mailedLink({ stack: () => stack }, email, 'verify-email'));
  await ask('POST', '/verify-email', { token: link.searchParams.get('token'), password: PASSWORD });
  await ask('POST', '/session', { email, password: PASSWORD });
  return ask;
}

async function makeWebhook(ask: Ask, url: string): Promise<string> {
  const { webhook_id } = await ask('POST', '/webhooks', { url });
  return `/webhooks/${String(webhook_id)}`;
}

async function newestDelivery(ask: Ask, webhook: string): Promise<Delivery | undefined> {
  return ((await ask('GET', `${webhook}/deliveries`))['deliveries'] as Delivery[])[0];
}

/** Webhooks of some trial accounts whose server never answers take no slot from others'. */
export function webhookFairness(stack: () => Stack): void {
  describe('webhooks', () => {
    test('of nine accounts that hang hold up no other account’s', async () => {
      // Containers and pods don't reach a server of this machine.
      if (stack().kind !== 'processes') return;
      const well = await startReceiver();
      let [begun, givenUp] = [0, 0];
      const hanging = createServer((_req, res) => {
        begun += 1;
        res.once('close', () => (givenUp += 1));
      }).listen(0, '127.0.0.1');
      await once(hanging, 'listening');
      const hangingUrl = `http://127.0.0.1:${String((hanging.address() as AddressInfo).port)}/hook`;
      try {
        const customer = await signUp(stack());
        const webhook = await makeWebhook(customer, well.url);
        const deliver = async () => {
          await customer('POST', `${webhook}/test`);
          await eventually(
            () => newestDelivery(customer, webhook),
            (delivery) => delivery?.status === 'delivered',
            DELIVERY_LIMIT_MS,
          );
        };
        await deliver();
        const trials = await Promise.all(Array.from({ length: 9 }, () => signUp(stack())));
        const slow: { ask: Ask; path: string }[] = [];
        for (const ask of trials) {
          for (let count = 0; count < 5; count += 1) {
            const path = await makeWebhook(ask, hangingUrl);
            await ask('POST', `${path}/test`);
            slow.push({ ask, path });
          }
        }
        // Without any of them giving up its slot meanwhile, which some do now and then.
        await eventually(
          async () => {
            const before = givenUp;
            await deliver();
            return givenUp - before;
          },
          (slots) => slots === 0,
          DELIVERY_LIMIT_MS,
        );
        expect(begun).toBeGreaterThan(givenUp);
        for (const { ask, path } of slow) await ask('DELETE', path);
      } finally {
        hanging.closeAllConnections();
        hanging.close();
        await well.close();
      }
    });
  });
}
