import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { waitFor } from '@tollgate/stack/wait-for';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { accountMetric } from '../../../test/suite/metrics.ts';
import { nthMail, startPeople } from '../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../test/suite/people.ts';
import { startReceiver } from '../../../test/suite/stand-ins/webhook-receiver.ts';
import type { Receiver } from '../../../test/suite/stand-ins/webhook-receiver.ts';
import {
  deliveriesOf,
  makeWebhook,
  newestDelivery,
  sendTest,
} from '../../../test/suite/notifications/webhooks.ts';

let suite: PeopleUnderTest;
const receivers: Receiver[] = [];

const SETTINGS = {
  WEBHOOK_ALLOW_HTTP: 'true',
  WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true',
  WEBHOOK_RETRY_DELAYS_SEC: '0 0',
  WEBHOOK_ATTEMPT_TIMEOUT_MS: '2000',
  WEBHOOK_MAX_IN_FLIGHT: '4',
};

beforeAll(async () => {
  suite = await startPeople(SETTINGS);
});

afterEach(async () => {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});

afterAll(async () => {
  await suite.close();
});

async function newReceiver(answer?: Receiver['answer']): Promise<Receiver> {
  const receiver = await startReceiver();
  if (answer !== undefined) receiver.answer = answer;
  receivers.push(receiver);
  return receiver;
}

const person = () => newOwner(suite);

const another = async (owner: Owner, answer?: Receiver['answer']) => {
  const receiver = await newReceiver(answer);
  return { receiver, webhook: await makeWebhook(owner, receiver.url) };
};

test('a test event arrives, and Standard Webhooks’ own library verifies it, with its own secret only', async () => {
  const owner = await person();
  const { receiver, webhook } = await another(owner);
  const other = await another(owner);
  const sent = await sendTest(owner, webhook);
  expect(sent).toMatchObject({ status: 'pending', attempts: 0, event_type: 'webhook.test' });
  const delivered = await newestDelivery(owner, webhook, ({ status }) => status === 'delivered');
  expect(delivered).toMatchObject({ attempts: 1, response_status: 204, error: null, next_attempt_at: null });
  expect(delivered.message_id).toBe(sent.message_id);
  const [received] = receiver.received;
  expect(received?.verify(webhook.secret)).toEqual({
    type: 'webhook.test',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    data: { webhook_id: webhook.webhook_id, account_id: owner.account_id },
  });
  expect(received?.headers['webhook-id']).toBe(sent.message_id);
  expect(() => received?.verify(other.webhook.secret)).toThrow();
  expect(other.receiver.received).toHaveLength(0);
});

test('a rotated secret signs beside the one before it for the overlap, and without an overlap alone', async () => {
  const owner = await person();
  const { receiver, webhook } = await another(owner);
  const rotate = async (overlap_sec: number) => {
    const { status, body } = await owner.browser.request('POST', `${webhook.path}/rotate-secret`, {
      overlap_sec,
    });
    expect(status).toBe(200);
    return body as { secret: string; previous_secret_expires_at: string | null };
  };
  const second = await rotate(3_600);
  expect(second.secret).not.toBe(webhook.secret);
  expect(Date.parse(second.previous_secret_expires_at ?? '')).toBeGreaterThan(Date.now());
  await sendTest(owner, webhook);
  const both = await waitFor(() => receiver.received[0]);
  for (const secret of [webhook.secret, second.secret]) both.verify(secret);

  await owner.browser.request('DELETE', `${webhook.path}/previous-secret`);
  const last = await rotate(0);
  expect(last.previous_secret_expires_at).toBeNull();
  await sendTest(owner, webhook);
  const alone = await waitFor(() => receiver.received[1]);
  alone.verify(last.secret);
  for (const { secret } of [webhook, second]) expect(() => alone.verify(secret)).toThrow();
});

test('what fails is tried again under the same id, and when the tries are used up it has failed; a retry by hand is one more', async () => {
  const owner = await person();
  const { receiver, webhook } = await another(owner, (_req, res) => {
    res.writeHead(500).end('no');
  });
  await sendTest(owner, webhook);
  const failed = await newestDelivery(owner, webhook, ({ status }) => status === 'failed');
  expect(failed).toMatchObject({ attempts: 3, response_status: 500, error: 'unexpected_status' });
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(
    new Set([failed.message_id]),
  );
  receiver.answer = (_req, res) => {
    res.writeHead(200).end('{}');
  };
  const path = `${webhook.path}/deliveries/${String(failed.delivery_id)}/retry`;
  expect((await owner.browser.request('POST', path)).status).toBe(202);
  const delivered = await newestDelivery(owner, webhook, ({ status }) => status === 'delivered');
  expect(delivered).toMatchObject({ attempts: 4, message_id: failed.message_id, error: null });
  expect((await owner.browser.request('GET', webhook.path)).body['failing_since']).toBeNull();
});

test('no redirect is followed, and what is no HTTP is told from nobody there', async () => {
  const owner = await person();
  const target = await newReceiver();
  const { webhook } = await another(owner, (_req, res) => {
    res.writeHead(307, { location: target.url }).end();
  });
  await sendTest(owner, webhook);
  const redirected = await newestDelivery(owner, webhook, ({ status }) => status === 'failed');
  expect(redirected).toMatchObject({ response_status: 307, error: 'unexpected_status' });
  expect(target.received).toHaveLength(0);

  const { receiver, webhook: closed } = await another(owner);
  await receiver.close();
  receivers.splice(receivers.indexOf(receiver), 1);
  await sendTest(owner, closed);
  expect(await newestDelivery(owner, closed, ({ status }) => status === 'failed')).toMatchObject({
    response_status: null,
    error: 'connection_failed',
  });

  const { webhook: garbled } = await another(owner, (req) => {
    req.socket.end('hello?\r\n\r\n');
  });
  await sendTest(owner, garbled);
  expect(await newestDelivery(owner, garbled, ({ status }) => status === 'failed')).toMatchObject({
    error: 'invalid_response',
  });
});

test.each([
  ['at once', ['HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n']],
  ['before the answer', ['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 204 No Content\r\n\r\n']],
  ['twice', ['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 100 \r\n\r\nHTTP/1.1 204 No Content\r\n\r\n']],
  [
    'with early hints',
    ['HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 OK\r\n\r\n'],
  ],
])('100 Continue, sent unasked %s, is no answer', async (_name, pieces) => {
  const owner = await person();
  const server = createServer((socket) => {
    socket.setNoDelay(true).once('data', () => {
      const [first = '', ...rest] = pieces;
      socket.write(first, () => {
        socket.write(rest.join(''));
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const webhook = await makeWebhook(
    owner,
    `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
  );
  for (const attempts of [1, 2]) {
    await sendTest(owner, webhook);
    const delivered = await newestDelivery(owner, webhook, ({ status }) => status !== 'pending');
    expect([attempts, delivered]).toMatchObject([
      attempts,
      { status: 'delivered', response_status: 204, attempts: 1 },
    ]);
  }
  server.close();
});

test('of an endless answer the status counts', async () => {
  const owner = await person();
  const { webhook } = await another(owner, (_req, res) => {
    res.writeHead(200);
    const pour = () => {
      while (!res.destroyed && res.write(Buffer.alloc(16_384)));
      if (!res.destroyed) res.once('drain', pour);
    };
    pour();
  });
  await sendTest(owner, webhook);
  await newestDelivery(owner, webhook, ({ status }) => status === 'delivered');
});

test('servers that hang hold up nobody else, however much waits for them', async () => {
  const [owner, other] = [await person(), await person()];
  const never: Receiver['answer'] = () => undefined;
  const hanging = [await another(owner, never), await another(owner, never)] as const;
  for (const { webhook } of hanging) {
    for (let count = 0; count < 3; count += 1) await sendTest(owner, webhook);
  }
  await waitFor(() => hanging.every(({ receiver }) => receiver.received.length > 0));
  const well = await another(other);
  for (let count = 0; count < 5; count += 1) await sendTest(other, well.webhook);
  await waitFor(() => well.receiver.received.length === 5);
  // One at a time to each server: nine attempts of two seconds take eighteen.
  for (const { receiver } of hanging) expect(receiver.received.length).toBeLessThan(9);
  const [first] = hanging;
  const newestTried = waitFor(async () =>
    (await deliveriesOf(owner, first.webhook)).find(({ attempts }) => attempts > 0),
  );
  expect(await newestTried).toMatchObject({ error: 'timeout', response_status: null });
  for (const { webhook } of hanging) await owner.browser.request('DELETE', webhook.path);
});

describe('a webhook is switched off', () => {
  test('by 410 at once, and its owner is told by mail; switched on it works again', async () => {
    const owner = await person();
    const { receiver, webhook } = await another(owner, (_req, res) => {
      res.writeHead(410).end();
    });
    await sendTest(owner, webhook);
    const mail = await nthMail(suite.mailDirectory, owner.email);
    expect(mail.subject).toBe('[Tollgate] A webhook was disabled');
    const { body } = await owner.browser.request('GET', webhook.path);
    expect(body).toMatchObject({ enabled: false, disabled_reason: 'gone' });
    expect((await deliveriesOf(owner, webhook))[0]).toMatchObject({ status: 'failed', error: 'gone' });
    expect((await owner.browser.request('POST', `${webhook.path}/test`)).body['code']).toBe(
      'webhook_disabled',
    );
    const logged: unknown = await suite
      .database('audit_log')
      .where({ action: 'webhook_disabled', account_id: owner.account_id });
    expect(logged).toMatchObject([
      {
        actor: 'webhook-delivery',
        details: { webhook_id: webhook.webhook_id, reason: 'gone' },
      },
    ]);

    receiver.answer = (_req, res) => res.writeHead(204).end();
    const on = await owner.browser.request('PATCH', webhook.path, { enabled: true });
    expect(on.body).toMatchObject({ enabled: true, disabled_reason: null, failing_since: null });
    await sendTest(owner, webhook);
    await newestDelivery(owner, webhook, ({ status }) => status === 'delivered');
  });

  test('when it has failed for days', async () => {
    const owner = await person();
    const { webhook } = await another(owner, (_req, res) => {
      res.writeHead(503).end();
    });
    const since = new Date(Date.now() - 432_001_000);
    await suite
      .database('webhooks')
      .where({ webhook_id: webhook.webhook_id })
      .update({ failing_since: since });
    await sendTest(owner, webhook);
    await nthMail(suite.mailDirectory, owner.email);
    const { body } = await owner.browser.request('GET', webhook.path);
    expect(body).toMatchObject({ enabled: false, disabled_reason: 'failing' });
  });

  test('by its owner: what waits fails, and nothing more is sent', async () => {
    const owner = await person();
    const { webhook } = await another(owner);
    await suite
      .database('webhooks')
      .where({ webhook_id: webhook.webhook_id })
      .update({
        leased_until: new Date(Date.now() + 3_600_000),
      });
    await sendTest(owner, webhook);
    const { body } = await owner.browser.request('PATCH', webhook.path, { enabled: false });
    expect(body).toMatchObject({ enabled: false, disabled_reason: 'owner' });
    expect(await deliveriesOf(owner, webhook)).toMatchObject([
      { status: 'failed', error: 'webhook_disabled' },
    ]);
  });
});

test('a process killed between sending and writing down sends it again, under the same id', async () => {
  const owner = await person();
  const { receiver, webhook } = await another(owner, () => undefined);
  await sendTest(owner, webhook);
  await waitFor(() => receiver.received.length === 1);
  await suite.account.kill();
  receiver.answer = (_req, res) => res.writeHead(204).end();
  await suite.account.restart();
  const delivered = await newestDelivery(owner, webhook, ({ status }) => status === 'delivered');
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids)).toEqual(new Set([delivered.message_id]));
  expect(ids.length).toBeGreaterThanOrEqual(2);
  // An attempt that wasn't recorded doesn't count.
  expect(delivered.attempts).toBe(1);
});

test('the metrics tell what waits and what came of it', async () => {
  const owner = await person();
  const { webhook } = await another(owner);
  await sendTest(owner, webhook);
  await newestDelivery(owner, webhook, ({ status }) => status === 'delivered');
  await waitFor(
    async () => (await accountMetric(suite.account, 'tollgate_webhook_outbox_deliveries_total')) > 0,
  );
  await waitFor(async () => (await accountMetric(suite.account, 'tollgate_webhook_outbox_pending')) === 0);
  expect(await accountMetric(suite.account, 'tollgate_webhook_outbox_oldest_age_seconds')).toBe(0);
});
