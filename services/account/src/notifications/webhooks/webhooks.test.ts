import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { raceAtRow } from '../../../test/suite/database/held-row.ts';
import { startPeople } from '../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../test/suite/people.ts';
import { deliveriesOf, makeWebhook, sendTest } from '../../../test/suite/notifications/webhooks.ts';

const URL = 'https://hooks.example/in?key=1';

let suite: PeopleUnderTest;
let owner: Owner;

beforeAll(async () => {
  // DNS is unavailable, so nothing is sent.
  suite = await startPeople({ WEBHOOK_DNS_SERVERS: '127.0.0.1:1', WEBHOOK_RETRY_DELAYS_SEC: '3600' });
});

beforeEach(async () => {
  owner = await newOwner(suite);
});

afterAll(async () => {
  await suite.close();
});

const post = (body: unknown, path = '/webhooks') => owner.browser.request('POST', path, body);

describe('a webhook', () => {
  test('is made, with its secret in that answer only, changed and deleted; the audit log says so, without secrets', async () => {
    const made = await post({ url: URL, description: 'Alerts' });
    const secret = made.body['secret'] as string;
    const record = {
      webhook_id: expect.any(Number),
      url: URL,
      description: 'Alerts',
      enabled: true,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      disabled_at: null,
      disabled_reason: null,
      failing_since: null,
      previous_secret_expires_at: null,
    };
    expect([made.status, made.body]).toEqual([
      201,
      { ...record, secret: expect.stringMatching(/^whsec_[\w+/]{43}=$/) },
    ]);
    const path = `/webhooks/${String(made.body['webhook_id'])}`;
    const read = await owner.browser.request('GET', path);
    expect([read.status, read.body]).toEqual([200, record]);
    expect((await owner.browser.request('GET', '/webhooks')).body).toEqual({ webhooks: [record] });

    const url = 'https://other.example:8443/';
    const changed = await owner.browser.request('PATCH', path, { url, description: '' });
    expect([changed.status, changed.body]).toEqual([200, { ...record, url, description: '' }]);
    const rotated = await owner.browser.request('POST', `${path}/rotate-secret`, { overlap_sec: 60 });
    const until = rotated.body['previous_secret_expires_at'];
    expect(until).toEqual(expect.any(String));
    const again = await owner.browser.request('POST', `${path}/rotate-secret`, { overlap_sec: 60 });
    expect([again.status, again.body['code'], again.body['previous_secret_expires_at']]).toEqual([
      409,
      'previous_secret_active',
      until,
    ]);
    for (let time = 0; time < 2; time += 1) {
      const ended = await owner.browser.request('DELETE', `${path}/previous-secret`);
      expect([ended.status, ended.body['previous_secret_expires_at']]).toEqual([200, null]);
    }
    expect((await owner.browser.request('DELETE', path)).status).toBe(204);
    expect((await owner.browser.request('GET', path)).status).toBe(404);

    const logged = await suite
      .database('audit_log')
      .where({ account_id: owner.account_id })
      .whereLike('action', 'webhook%')
      .orderBy('audit_id');
    expect(logged.map(({ action }: { action: string }) => action)).toEqual([
      'webhook_created',
      'webhook_changed',
      'webhook_secret_rotated',
      'webhook_previous_secret_ended',
      'webhook_deleted',
    ]);
    const text = JSON.stringify(logged) + suite.account.logs();
    expect(text).toContain('https://hooks.example');
    for (const hidden of [secret, secret.slice(6, 40), 'key=1']) expect(text).not.toContain(hidden);
  });

  test('lies sealed in the database', async () => {
    const { secret, webhook_id } = await makeWebhook(owner, URL);
    const rows = await suite.database('webhook_secrets').where({ webhook_id });
    expect(rows).toHaveLength(1);
    const { sealed_secret } = rows[0] as { sealed_secret: Buffer };
    expect(sealed_secret.toString('latin1')).not.toContain(secret.slice(6, 20));
    expect(sealed_secret.includes(Buffer.from(secret.slice(6), 'base64').subarray(0, 8))).toBe(false);
  });

  test.each([
    [{}, ['url']],
    [{ url: 5, description: 'x'.repeat(201), more: 1 }, ['description', 'more', 'url']],
    [{ url: 'not a url' }, ['url']],
    [{ url: 'http://hooks.example/' }, ['url']],
    [{ url: 'ftp://hooks.example/' }, ['url']],
    [{ url: 'https://user@hooks.example/' }, ['url']],
    [{ url: 'https://:word@hooks.example/' }, ['url']],
    [{ url: 'https://hooks.example/#part' }, ['url']],
    [{ url: 'https://hooks.example/#' }, ['url']],
    [{ url: 'https://hooks.example:25/' }, ['url']],
    [{ url: `https://hooks.example/${'x'.repeat(2_000)}` }, ['url']],
    [{ url: 'https://[::1]/' }, ['url']],
    [{ url: URL, description: 'a\u0000b' }, ['description']],
  ])('as %j is refused, naming %j', async (body, fields) => {
    const { status, body: problem } = await post(body);
    expect([status, problem['code']]).toEqual([400, 'invalid_request']);
    const named = (problem['errors'] as { field: string }[]).map(({ field }) => field);
    expect(named.toSorted()).toEqual(fields);
  });

  test('of another account is unknown, with all that it has', async () => {
    const webhook = await makeWebhook(owner, URL);
    const delivery = await sendTest(owner, webhook);
    const stranger = await newOwner(suite);
    const requests = [
      ['GET', ''],
      ['PATCH', '', { enabled: false }],
      ['DELETE', ''],
      ['POST', '/rotate-secret', { overlap_sec: 0 }],
      ['DELETE', '/previous-secret'],
      ['POST', '/test'],
      ['GET', '/deliveries'],
      ['POST', `/deliveries/${String(delivery.delivery_id)}/retry`],
    ] as const;
    for (const [method, rest, body] of requests) {
      const answer = await stranger.browser.request(method, webhook.path + rest, body);
      expect([method, rest, answer.status]).toEqual([method, rest, 404]);
    }
    expect((await stranger.browser.request('GET', '/webhooks')).body).toEqual({ webhooks: [] });
    // A delivery of the account's other webhook isn't found either.
    const other = await makeWebhook(owner, URL);
    const path = `${other.path}/deliveries/${String(delivery.delivery_id)}/retry`;
    expect((await post(undefined, path)).status).toBe(404);
    expect((await owner.browser.request('GET', webhook.path)).body['enabled']).toBe(true);
  });

  test('is refused to who is blocked, who may still switch one off', async () => {
    const webhook = await makeWebhook(owner, URL);
    await suite
      .database('accounts')
      .where({ account_id: owner.account_id })
      .update({ blocked_at: new Date() });
    expect((await post({ url: URL })).body['code']).toBe('account_blocked');
    expect((await post(undefined, `${webhook.path}/test`)).body['code']).toBe('account_blocked');
    expect((await owner.browser.request('PATCH', webhook.path, { enabled: false })).status).toBe(200);
  });
});

test('six made at once: five', async () => {
  const row = { table: 'accounts', where: { account_id: owner.account_id }, waiting: 3 } as const;
  const answers = await raceAtRow(suite.database, row, () =>
    Array.from({ length: 6 }, () => post({ url: URL })),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 201, 201, 201, 409]);
  const refused = answers.find(({ status }) => status === 409);
  expect(refused?.body['code']).toBe('webhook_limit_reached');
  expect((await owner.browser.request('GET', '/webhooks')).body['webhooks']).toHaveLength(5);
});

test('two rotations at once: two live secrets, one of them present', async () => {
  const { path, webhook_id } = await makeWebhook(owner, URL);
  const rotate = () => post({ overlap_sec: 3_600 }, `${path}/rotate-secret`);
  const answers = await Promise.all([rotate(), rotate(), rotate()]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
  const rows = await suite.database('webhook_secrets').where({ webhook_id });
  expect(rows.map(({ expires_at }: { expires_at: Date | null }) => expires_at === null).toSorted()).toEqual([
    false,
    true,
  ]);
});

test('the delivery log comes by pages and by status, newest first, and never with a secret or a body', async () => {
  const webhook = await makeWebhook(owner, URL);
  await suite
    .database('webhooks')
    .where({ webhook_id: webhook.webhook_id })
    .update({ leased_until: new Date(Date.now() + 3_600_000) });
  for (let count = 0; count < 3; count += 1) await sendTest(owner, webhook);
  const all = await deliveriesOf(owner, webhook);
  expect(all[0]).toEqual({
    delivery_id: expect.any(Number),
    message_id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
    event_type: 'webhook.test',
    status: 'pending',
    attempts: 0,
    next_attempt_at: expect.any(String),
    created_at: expect.any(String),
    attempted_at: null,
    response_status: null,
    duration_ms: null,
    error: null,
    attempt_log: [],
  });
  const page = async (query: string) =>
    (await owner.browser.request('GET', `${webhook.path}/deliveries${query}`)).body;
  const first = await page('?limit=2');
  const second = await page(`?limit=2&cursor=${String(first['next_cursor'])}`);
  expect([...(first['deliveries'] as unknown[]), ...(second['deliveries'] as unknown[])]).toEqual(all);
  expect(second['next_cursor']).toBeNull();
  expect(await page('?status=failed')).toEqual({ deliveries: [], next_cursor: null });
  expect((await page('?status=lost&limit=0'))['errors']).toHaveLength(2);
});

test('tests and retries are limited', async () => {
  const webhook = await makeWebhook(owner, URL);
  await suite
    .database('webhooks')
    .where({ webhook_id: webhook.webhook_id })
    .update({ leased_until: new Date(Date.now() + 3_600_000) });
  for (let count = 0; count < 10; count += 1) await sendTest(owner, webhook);
  const { status, headers } = await post(undefined, `${webhook.path}/test`);
  expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true]);
});

test('a name that nobody answers for is tried again later', async () => {
  const webhook = await makeWebhook(owner, URL);
  await sendTest(owner, webhook);
  const tried = await waitFor(async () =>
    (await deliveriesOf(owner, webhook)).find(({ attempts }) => attempts > 0),
  );
  expect(tried.status).toBe('pending');
  expect(Date.parse(tried.next_attempt_at ?? '')).toBeGreaterThan(Date.now() + 3_000_000);
});
