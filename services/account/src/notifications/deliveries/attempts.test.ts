import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { startPeople } from '../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../test/suite/people.ts';
import { startReceiver } from '../../../test/suite/stand-ins/webhook-receiver.ts';
import type { Receiver } from '../../../test/suite/stand-ins/webhook-receiver.ts';
import { makeWebhook, newestDelivery, sendTest } from '../../../test/suite/notifications/webhooks.ts';
import type { MadeWebhook, ShownDelivery } from '../../../test/suite/notifications/webhooks.ts';

let suite: PeopleUnderTest;
let owner: Owner;
const receivers: Receiver[] = [];

beforeAll(async () => {
  suite = await startPeople({
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true',
    WEBHOOK_RETRY_DELAYS_SEC: '0 1 600',
  });
});

beforeEach(async () => {
  owner = await newOwner(suite);
});

afterEach(async () => {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});

afterAll(async () => {
  await suite.close();
});

/** Its server answers as the list says, then with 204. */
async function answering(...answers: Receiver['answer'][]): Promise<MadeWebhook> {
  const receiver = await startReceiver();
  receivers.push(receiver);
  const last = receiver.answer;
  receiver.answer = (req, res) => {
    (answers.shift() ?? last)(req, res);
  };
  return makeWebhook(owner, receiver.url);
}

const status =
  (code: number, headers: Record<string, string> = {}): Receiver['answer'] =>
  (_req, res) => {
    res.writeHead(code, headers).end();
  };

const afterAttempts = (webhook: MadeWebhook, count: number): Promise<ShownDelivery> =>
  newestDelivery(owner, webhook, ({ attempts }) => attempts === count);

const retry = async ({ path }: MadeWebhook, { delivery_id }: ShownDelivery): Promise<ShownDelivery> => {
  const answer = await owner.browser.request('POST', `${path}/deliveries/${String(delivery_id)}/retry`);
  expect(answer.status).toBe(202);
  return answer.body as unknown as ShownDelivery;
};

describe('the delivery log', () => {
  test('has each attempt, newest first, with its outcome and when the next was to come; nothing of the body', async () => {
    const webhook = await answering(
      (_req, res) => {
        res.writeHead(500, { 'x-told': 'told in a header' }).end('told in a body');
      },
      (req) => {
        req.socket.destroy();
      },
    );
    expect((await sendTest(owner, webhook)).attempt_log).toEqual([]);
    const delivered = await newestDelivery(owner, webhook, ({ status }) => status === 'delivered');
    const attempt = { attempted_at: expect.stringMatching(/Z$/), duration_ms: expect.any(Number) };
    expect(delivered.attempt_log).toEqual([
      { ...attempt, attempt: 3, response_status: 204, error: null, next_attempt_at: null },
      {
        ...attempt,
        attempt: 2,
        response_status: null,
        error: 'connection_failed',
        next_attempt_at: expect.stringMatching(/Z$/),
      },
      {
        ...attempt,
        attempt: 1,
        response_status: 500,
        error: 'unexpected_status',
        next_attempt_at: expect.stringMatching(/Z$/),
      },
    ]);
    const [third, second, first] = delivered.attempt_log;
    expect(third?.attempted_at).toBe(delivered.attempted_at);
    expect(waitedSec(first)).toBe(0);
    expect(waitedSec(second)).toBeGreaterThanOrEqual(1);
    expect(Date.parse(third?.attempted_at ?? '')).toBeGreaterThanOrEqual(
      Date.parse(second?.next_attempt_at ?? ''),
    );
    const stored = await suite
      .database('webhook_delivery_attempts')
      .where('delivery_id', delivered.delivery_id);
    expect(JSON.stringify([stored, delivered])).not.toMatch(/told in|whsec_/);
  });

  test('a retry by hand is one more of the same delivery', async () => {
    const webhook = await answering();
    await sendTest(owner, webhook);
    const delivered = await afterAttempts(webhook, 1);
    const asked = await retry(webhook, delivered);
    expect([asked.status, asked.attempt_log]).toEqual(['pending', delivered.attempt_log]);
    const again = await afterAttempts(webhook, 2);
    expect(again.attempt_log.map(({ attempt }) => attempt)).toEqual([2, 1]);
  });

  test('of a delivery the newest 30 attempts are kept', async () => {
    const webhook = await answering();
    await sendTest(owner, webhook);
    const delivered = await afterAttempts(webhook, 1);
    const { delivery_id } = delivered;
    const attempted_at = new Date();
    const earlier = Array.from({ length: 29 }, (_, index) => ({
      delivery_id,
      attempt: index + 2,
      attempted_at,
    }));
    await suite.database('webhook_delivery_attempts').insert(earlier);
    await suite.database('webhook_deliveries').where({ delivery_id }).update({ attempts: 30 });
    await retry(webhook, delivered);
    const { attempt_log } = await afterAttempts(webhook, 31);
    expect(attempt_log.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 30 }, (_, at) => 31 - at));
  });

  test('goes with the webhook', async () => {
    const webhook = await answering();
    await sendTest(owner, webhook);
    const { delivery_id } = await afterAttempts(webhook, 1);
    expect((await owner.browser.request('DELETE', webhook.path)).status).toBe(204);
    expect(await suite.database('webhook_delivery_attempts').where({ delivery_id })).toEqual([]);
  });
});

describe('Retry-After', () => {
  /** The schedule alone would retry at once. */
  async function waitAfter(code: number, retryAfter: string): Promise<number> {
    const webhook = await answering(status(code, { 'retry-after': retryAfter }));
    await sendTest(owner, webhook);
    const { attempt_log } = await newestDelivery(owner, webhook, ({ attempts }) => attempts > 0);
    return waitedSec(attempt_log.at(-1));
  }

  test.each([429, 503])('of %i is waited for, in seconds or until a date', async (code) => {
    expectWait(await waitAfter(code, '120'), 120);
    const inTwoMinutes = new Date(Date.now() + 120_000).toUTCString();
    const sec = await waitAfter(code, inTwoMinutes);
    expect(sec).toBeGreaterThan(60);
    expect(sec).toBeLessThan(133);
  });

  test('the wait is no longer than the longest of the schedule', async () => {
    expectWait(await waitAfter(503, '86400'), 600);
  });

  test.each(['soon', '-5', '1.5', 'Sun, 31 Feb 2126 12:00:00 GMT'])('%j is ignored', async (text) => {
    expect(await waitAfter(429, text)).toBe(0);
  });

  test.each([500, 301, 410])('of %i is ignored', async (code) => {
    expect(await waitAfter(code, '120')).toBe(0);
  });

  test('what is earlier than our own wait changes nothing', async () => {
    const webhook = await answering(status(500), status(500), status(429, { 'retry-after': '1' }));
    await sendTest(owner, webhook);
    const { attempt_log } = await afterAttempts(webhook, 3);
    expectWait(waitedSec(attempt_log[0]), 600);
  });

  test('a retry by hand does not wait for it', async () => {
    const webhook = await answering(status(429, { 'retry-after': '120' }));
    await sendTest(owner, webhook);
    await retry(webhook, await afterAttempts(webhook, 1));
    expect(await afterAttempts(webhook, 2)).toMatchObject({ status: 'delivered' });
  });
});

/** Jitter adds up to a tenth. */
function expectWait(sec: number, wanted: number): void {
  expect(sec).toBeGreaterThanOrEqual(wanted);
  expect(sec).toBeLessThanOrEqual(wanted * 1.1 + 1);
}

/** 0 if no attempt was planned. */
function waitedSec(attempt: ShownDelivery['attempt_log'][number] | undefined): number {
  const { attempted_at, next_attempt_at } = attempt ?? {};
  if (attempted_at === undefined) throw new Error('no such attempt');
  if (next_attempt_at === null || next_attempt_at === undefined) return 0;
  return Math.floor((Date.parse(next_attempt_at) - Date.parse(attempted_at)) / 1_000);
}
