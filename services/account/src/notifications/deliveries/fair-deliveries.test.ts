import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import {
  deliveriesOf,
  makeWebhook,
  newestDelivery,
  sendTest,
} from '../../../test/suite/notifications/webhooks.ts';
import type { MadeWebhook } from '../../../test/suite/notifications/webhooks.ts';
import { startReceiver } from '../../../test/suite/stand-ins/webhook-receiver.ts';
import type { Receiver } from '../../../test/suite/stand-ins/webhook-receiver.ts';
import { startPeople } from '../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../test/suite/people.ts';

/** An attempt lasts longer than any wait below, so that what is held stays held. */
const SETTINGS = {
  WEBHOOK_ALLOW_HTTP: 'true',
  WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true',
  WEBHOOK_ATTEMPT_TIMEOUT_MS: '60000',
  WEBHOOK_MAX_IN_FLIGHT: '4',
};

type Target = { owner: Owner; receiver: Receiver; webhook: MadeWebhook };

let suite: PeopleUnderTest;
const receivers: Receiver[] = [];

beforeAll(async () => {
  suite = await startPeople(SETTINGS);
});

afterEach(async () => {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});

afterAll(() => suite.close());

async function target(owner: Owner): Promise<Target> {
  const receiver = await startReceiver();
  receivers.push(receiver);
  return { owner, receiver, webhook: await makeWebhook(owner, receiver.url) };
}

async function targets(accounts: number, each: number): Promise<Target[]> {
  const all: Target[] = [];
  for (let account = 0; account < accounts; account += 1) {
    const owner = await newOwner(suite);
    for (let count = 0; count < each; count += 1) all.push(await target(owner));
  }
  return all;
}

async function deliver({ owner, webhook }: Target): Promise<void> {
  await sendTest(owner, webhook);
  await newestDelivery(owner, webhook, ({ status }) => status === 'delivered');
}

/** From now on they never answer, and have something to be sent. */
async function hang(all: readonly Target[]): Promise<void> {
  for (const { owner, receiver, webhook } of all) {
    receiver.answer = () => undefined;
    await sendTest(owner, webhook);
  }
}

async function expectHanging(all: readonly Target[], attemptsBefore: number): Promise<void> {
  for (const { owner, webhook } of all) {
    const attempts = (await deliveriesOf(owner, webhook)).reduce((sum, one) => sum + one.attempts, 0);
    expect(attempts).toBe(attemptsBefore);
  }
}

test('new webhooks of many accounts that hang hold up none that answers', async () => {
  const [well] = await targets(1, 1);
  if (well === undefined) throw new Error('no webhook');
  await deliver(well);
  const hanging = await targets(4, 2);
  await hang(hanging);
  await deliver(well);
  await expectHanging(hanging, 0);
});

test('one account’s webhooks that hang leave room for a new one of another', async () => {
  const hanging = await targets(1, 5);
  await hang(hanging);
  const [other] = await targets(1, 1);
  if (other === undefined) throw new Error('no webhook');
  await deliver(other);
  await expectHanging(hanging, 0);
});

test('one account’s webhooks that have answered and now hang leave room for another’s', async () => {
  const [well] = await targets(1, 1);
  if (well === undefined) throw new Error('no webhook');
  const hanging = await targets(1, 5);
  for (const one of [well, ...hanging]) await deliver(one);
  await hang(hanging);
  await deliver(well);
  await expectHanging(hanging, 1);
});

test('webhooks that answer slowly, of many accounts, are with the slow ones from then on', async () => {
  const [well] = await targets(1, 1);
  if (well === undefined) throw new Error('no webhook');
  const slow = await targets(3, 2);
  for (const one of [well, ...slow]) await deliver(one);
  for (const { owner, receiver, webhook } of slow) {
    receiver.answer = (_req, res) => {
      setTimeout(() => res.writeHead(204).end(), SLOW_MS);
    };
    await sendTest(owner, webhook);
  }
  const allDelivered = async () => {
    const all = await Promise.all(slow.map(({ owner, webhook }) => deliveriesOf(owner, webhook)));
    return all.every((deliveries) => deliveries.every(({ status }) => status === 'delivered'));
  };
  await waitFor(allDelivered, { what: 'slow answers' });
  await hang(slow);
  await deliver(well);
  await expectHanging(slow, 2);
});

/** More than QUICK_ATTEMPT_MS. */
const SLOW_MS = 3_100;
