import { waitFor } from '@tollgate/stack/wait-for';
import type { Browser } from '../people.ts';
import type { DeliveryAttempt } from '../../../src/notifications/deliveries/stores/attempt-store.ts';
import type { Delivery } from '../../../src/notifications/deliveries/stores/delivery-store.ts';

export type MadeWebhook = { webhook_id: number; path: string; secret: string };

export async function makeWebhook({ browser }: { browser: Browser }, url: string): Promise<MadeWebhook> {
  const { status, text, body } = await browser.request('POST', '/webhooks', { url });
  if (status !== 201) throw new Error(`no webhook: ${text}`);
  return { ...(body as MadeWebhook), path: `/webhooks/${String(body['webhook_id'])}` };
}

/** As JSON: times are text. */
type Shown<T> = {
  [Member in keyof T]: T[Member] extends Date | null ? string | Extract<T[Member], null> : T[Member];
};

export type ShownDelivery = Omit<Shown<Delivery>, 'attempt_log'> & {
  attempt_log: Shown<DeliveryAttempt>[];
};

export async function sendTest(
  { browser }: { browser: Browser },
  { path }: MadeWebhook,
): Promise<ShownDelivery> {
  const { status, text, body } = await browser.request('POST', `${path}/test`);
  if (status !== 202) throw new Error(`no test: ${text}`);
  return body as unknown as ShownDelivery;
}

export async function deliveriesOf(
  { browser }: { browser: Browser },
  { path }: MadeWebhook,
): Promise<ShownDelivery[]> {
  return (await browser.request('GET', `${path}/deliveries`)).body['deliveries'] as ShownDelivery[];
}

export function newestDelivery(
  owner: { browser: Browser },
  webhook: MadeWebhook,
  wanted: (delivery: ShownDelivery) => boolean,
): Promise<ShownDelivery> {
  return waitFor(
    async () => {
      const [newest] = await deliveriesOf(owner, webhook);
      return newest !== undefined && wanted(newest) ? newest : undefined;
    },
    { what: 'the newest delivery to be as wanted' },
  );
}
