import { afterAll, beforeAll, expect, test } from '@jest/globals';
import Stripe from 'stripe';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';

const SECRET_KEY = 'sk_test_123456789012345678901234';
const OLD_SECRET = 'whsec_b2xkLXNlY3JldA==';
const NEW_SECRET = 'whsec_bmV3LXNlY3JldA==';

let suite: AccountUnderTest;
let count = 0;

beforeAll(async () => {
  suite = await startAccount({
    settings: {
      PAYMENTS: 'stripe',
      STRIPE_SECRET_KEY: SECRET_KEY,
      STRIPE_WEBHOOK_SECRET: `${NEW_SECRET},${OLD_SECRET}`,
      STRIPE_API_URL: 'http://127.0.0.1:9',
    },
  });
});

afterAll(() => suite.close());

function newEvent(changes: Record<string, unknown> = {}): string {
  count += 1;
  const object = { id: `in_${String(count)}`, object: 'invoice' };
  const event = {
    id: `evt_${String(count)}`,
    object: 'event',
    type: 'invoice.created',
    livemode: false,
    data: { object },
  };
  return JSON.stringify({ ...event, ...changes }, null, 2);
}

const { webhooks } = new Stripe(SECRET_KEY);

function signed(payload: string, { secret = NEW_SECRET, ageSec = 0 } = {}): string {
  const timestamp = Math.floor(Date.now() / 1_000) - ageSec;
  return webhooks.generateTestHeaderString({ payload, secret, timestamp });
}

async function send(body: string, signature?: string): Promise<number> {
  const response = await fetch(`${suite.account.publicUrl}/payments/stripe/events`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      ...(signature !== undefined && { 'stripe-signature': signature }),
    },
    body,
  });
  return response.status;
}

const stored = (body: string) =>
  suite
    .database('payment_events')
    .where({ stripe_event_id: (JSON.parse(body) as { id: string }).id })
    .first<{ body: Buffer; outcome: string | null } | undefined>();

test('an event is stored byte for byte, once', async () => {
  const body = newEvent();
  expect([await send(body, signed(body)), await send(body, signed(body))]).toEqual([200, 200]);
  expect((await stored(body))?.body.toString()).toBe(body);
});

test('during a rotation both secrets are right', async () => {
  const body = newEvent();
  expect(await send(body, signed(body, { secret: OLD_SECRET }))).toBe(200);
});

test.each([
  ['is missing', undefined],
  ['is empty', ''],
  ['is of another secret', (body: string) => signed(body, { secret: 'whsec_YW5vdGhlcg==' })],
  ['is of another body', () => signed(newEvent())],
  ['is 310 s old', (body: string) => signed(body, { ageSec: 310 })],
  ['is 310 s ahead', (body: string) => signed(body, { ageSec: -310 })],
  ['has no time', (body: string) => signed(body).replace(/^t=\d+,/, '')],
])('an event whose signature %s is refused and not stored', async (_what, sign) => {
  const body = newEvent();
  expect(await send(body, typeof sign === 'function' ? sign(body) : sign)).toBe(400);
  expect(await stored(body)).toBeUndefined();
});

test.each([-290, 290])('a clock that is off by %i s changes nothing', async (ageSec) => {
  const body = newEvent();
  expect(await send(body, signed(body, { ageSec }))).toBe(200);
});

test('an event of live mode or of another account is acknowledged and never applied', async () => {
  for (const changes of [{ livemode: true }, { account: 'acct_1' }]) {
    const body = newEvent(changes);
    expect(await send(body, signed(body))).toBe(200);
    expect(await stored(body)).toMatchObject({ outcome: 'foreign' });
  }
});

test('a body of more than 1 MiB is refused', async () => {
  const body = newEvent({ padding: 'x'.repeat(1_048_576) });
  expect(await send(body, signed(body))).toBe(413);
});

test('metrics count events by type and outcome', async () => {
  const metrics = await (await fetch(`${suite.account.privateUrl}/metrics`)).text();
  expect(metrics).toMatch(/^tollgate_payment_events_total\{type="unknown",outcome="refused",.*\} [1-9]/m);
  expect(metrics).toMatch(
    /^tollgate_payment_events_total\{type="invoice.created",outcome="foreign",.*\} 2$/m,
  );
});
