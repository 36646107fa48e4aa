import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { OperatorRole } from '@tollgate/contracts/operator-roles';
import { freePort } from '@tollgate/stack/ports';
import { waitFor } from '@tollgate/stack/wait-for';
import { done, makePlan, subscribe } from '../../test/suite/billing.ts';
import { newOwner } from '../../test/suite/console.ts';
import type { Owner } from '../../test/suite/console.ts';
import { insertPeriod, secondsFromNow } from '../../test/suite/database/records.ts';
import { makeWebhook, sendTest } from '../../test/suite/notifications/webhooks.ts';
import { operatePath, operatorCredentials } from '../../test/suite/operator.ts';
import type { Answer } from '../../test/suite/operator.ts';
import { callConsole, insertOperatorBrowser } from '../../test/suite/operator-browser.ts';
import { mailAbout, mailsTo, openBrowser, startPeople } from '../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../test/suite/people.ts';

/** docs/operators.md: what support and finance do for one customer. */

const PUBLIC_URL = 'http://tollgate.example';

let suite: PeopleUnderTest;

beforeAll(async () => {
  const port = String(await freePort());
  suite = await startPeople({
    PRIVATE_PORT: port,
    PUBLIC_URL,
    OPERATORS_URL: `http://localhost:${port}/operator`,
    OPERATOR_CREDENTIALS: operatorCredentials,
    FOUR_EYES: 'false',
    MAIL_REQUESTS_PER_ADDRESS: '1000000',
    // DNS is unavailable, so no webhook is reached.
    WEBHOOK_DNS_SERVERS: '127.0.0.1:1',
    WEBHOOK_RETRY_DELAYS_SEC: '3600',
  });
});

afterAll(() => suite.close());

const DAY_SEC = 86_400;

const REASON = 'Ticket 7';

function operated(method: string, path: string, body?: unknown): Promise<Answer> {
  return operatePath(suite.account, method, `/private${path}`, body, {
    'x-reason': encodeURIComponent(REASON),
  });
}

/** As someone of that role in the console. */
async function asRole(role: OperatorRole, method: string, path: string, body?: unknown): Promise<Answer> {
  const { browser } = await insertOperatorBrowser(suite.database, role);
  return callConsole(suite.account, browser, method, path, body, { 'x-reason': encodeURIComponent(REASON) });
}

const entriesOf = (account_id: number, action: string) =>
  suite
    .database('audit_log')
    .where({ account_id, action })
    .orderBy('audit_id')
    .select<{ actor: string; details: Record<string, unknown> }[]>('actor', 'details');

const ofAccount = ({ account_id }: Pick<Owner, 'account_id'>) => `/accounts/${String(account_id)}`;

describe('sessions of a customer', () => {
  test('are listed, with addresses for support only, and are ended', async () => {
    const owner = await newOwner(suite);
    const path = `${ofAccount(owner)}/sessions`;
    const listed = await asRole('support', 'GET', path);
    const [session] = listed.body['sessions'] as Record<string, unknown>[];
    expect(session).toMatchObject({ address: owner.browser.address });
    const seen = await asRole('viewer', 'GET', path);
    expect(seen.body['sessions']).toMatchObject([{ session_id: session?.['session_id'], address: null }]);
    expect((await asRole('finance', 'DELETE', path)).status).toBe(403);
    expect((await owner.browser.request('GET', '/session')).status).toBe(200);

    expect((await asRole('support', 'DELETE', path)).status).toBe(204);
    expect((await owner.browser.request('GET', '/session')).status).toBe(401);
    expect(await entriesOf(owner.account_id, 'signed_out_everywhere')).toMatchObject([
      { details: { sessions_before: 1, sessions: 0, operator_reason: REASON } },
    ]);
  });

  test('are ended one by one, only those of the account', async () => {
    const [owner, other] = [await newOwner(suite), await newOwner(suite)];
    const { body } = await operated('GET', `${ofAccount(owner)}/sessions`);
    const [session] = body['sessions'] as { session_id: number }[];
    const path = `/sessions/${String(session?.session_id)}`;
    expect((await operated('DELETE', `${ofAccount(other)}${path}`)).status).toBe(404);
    expect((await operated('DELETE', `${ofAccount(owner)}${path}`)).status).toBe(204);
    expect((await owner.browser.request('GET', '/session')).status).toBe(401);
    expect(await entriesOf(owner.account_id, 'session_ended')).toMatchObject([
      { details: { session_id: session?.session_id, operator_reason: REASON } },
    ]);
  });
});

describe('mails to a customer', () => {
  async function sentReset(owner: Owner) {
    await openBrowser(suite.account).request('POST', '/password-reset', { email: owner.email });
    return waitFor(async () => {
      const { body } = await operated('GET', `${ofAccount(owner)}/mails`);
      const mails = body['mails'] as { mail_id: number; kind: string; state: string }[];
      return mails.find(({ state }) => state === 'sent');
    });
  }

  test('are listed after they were sent, and are sent again with another link', async () => {
    const owner = await newOwner(suite);
    const mail = await sentReset(owner);
    expect(mail).toMatchObject({ kind: 'password_reset', state: 'sent' });
    const path = `${ofAccount(owner)}/mails/${String(mail.mail_id)}/send-again`;
    expect((await asRole('finance', 'POST', path)).status).toBe(403);
    const again = await asRole('support', 'POST', path);
    expect(again).toMatchObject({ status: 200, body: { kind: 'password_reset', state: 'waiting' } });
    const links = await waitFor(() => {
      const all = mailsTo(suite.mailDirectory, owner.email);
      return all.length === 2 ? all.map(({ token }) => token) : undefined;
    });
    expect(new Set(links).size).toBe(2);
    expect(await entriesOf(owner.account_id, 'mail_sent_again')).toMatchObject([
      {
        details: {
          kind: 'password_reset',
          mail_id_before: mail.mail_id,
          mail_id: again.body['mail_id'],
          operator_reason: REASON,
        },
      },
    ]);
  });

  test('to a former address, or another account, are neither listed nor sent again', async () => {
    const [owner, other] = [await newOwner(suite), await newOwner(suite)];
    const { mail_id } = await sentReset(owner);
    const again = (account: Owner) =>
      operated('POST', `${ofAccount(account)}/mails/${String(mail_id)}/send-again`);
    expect((await again(other)).status).toBe(404);
    const { account_id } = owner;
    await suite
      .database('accounts')
      .where({ account_id })
      .update({ email: `${randomUUID()}@example.com` });
    expect((await operated('GET', `${ofAccount(owner)}/mails`)).body['mails']).toEqual([]);
    expect((await again(owner)).status).toBe(404);
  });

  test('are sent again twenty times an hour at most', async () => {
    const owner = await newOwner(suite);
    const { mail_id } = await sentReset(owner);
    const path = `${ofAccount(owner)}/mails/${String(mail_id)}/send-again`;
    for (let time = 0; time < 20; time += 1) expect((await operated('POST', path)).status).toBe(200);
    expect(await operated('POST', path)).toMatchObject({
      status: 429,
      body: { code: 'too_many_requests' },
    });
  });

  test('to addresses without an account leave nothing', async () => {
    const email = `${randomUUID()}@example.com`;
    // Those of the tests before.
    await waitFor(async () => (await suite.database('mail_outbox').select()).length === 0);
    const before = await suite.database('sent_mails').count();
    await openBrowser(suite.account).request('POST', '/sign-up', { email, name: 'Ada' });
    await mailAbout(suite.mailDirectory, email, '[Tollgate] Confirm your email address');
    await waitFor(async () => (await suite.database('mail_outbox').where({ recipient: email })).length === 0);
    expect(await suite.database('sent_mails').count()).toEqual(before);
  });
});

describe('webhooks of a customer', () => {
  test('and their deliveries are listed without path and parameters, and are sent again', async () => {
    const owner = await newOwner(suite);
    const webhook = await makeWebhook(owner, 'https://hooks.example/in?key=secret');
    await sendTest(owner, webhook);
    const { body } = await asRole('viewer', 'GET', `${ofAccount(owner)}/webhooks`);
    expect(body['webhooks']).toMatchObject([{ url: 'https://hooks.example', enabled: true }]);
    const shown: string[] = [];
    const delivery = await waitFor(async () => {
      const listed = await asRole('viewer', 'GET', `${ofAccount(owner)}/webhook-deliveries`);
      shown.push(JSON.stringify(listed.body));
      const [one] = listed.body['deliveries'] as { delivery_id: number; attempts: number; url: string }[];
      return one?.attempts === 1 ? one : undefined;
    });
    expect(shown.join()).not.toContain('secret');
    expect(delivery).toMatchObject({ url: 'https://hooks.example', webhook_id: webhook.webhook_id });
    const path = `/webhooks/${String(webhook.webhook_id)}/deliveries/${String(delivery.delivery_id)}/retry`;
    expect((await asRole('viewer', 'POST', `${ofAccount(owner)}${path}`)).status).toBe(403);
    const other = await newOwner(suite);
    expect((await operated('POST', `${ofAccount(other)}${path}`)).status).toBe(404);
    const again = await asRole('support', 'POST', `${ofAccount(owner)}${path}`);
    expect(again).toMatchObject({ status: 200, body: { status: 'pending', event_type: 'webhook.test' } });
    expect(await entriesOf(owner.account_id, 'webhook_delivery_retried')).toMatchObject([
      { details: { delivery_id: delivery.delivery_id, operator_reason: REASON } },
    ]);
  });
});

describe('the address of a customer', () => {
  const change = (owner: Pick<Owner, 'account_id'>, email: string) =>
    operated('POST', `${ofAccount(owner)}/email`, { email });

  test('changes once the new one is confirmed; the owner is told at the present one, and sessions end', async () => {
    const owner = await newOwner(suite);
    const email = `${randomUUID()}@example.com`;
    await openBrowser(suite.account).request('POST', '/password-reset', { email: owner.email });
    const reset = await mailAbout(suite.mailDirectory, owner.email, '[Tollgate] Reset your password');
    const asked = await asRole('support', 'POST', `${ofAccount(owner)}/email`, { email });
    expect(asked).toMatchObject({ status: 200, body: { email: owner.email } });
    expect((await owner.browser.request('GET', '/session')).status).toBe(401);

    const notice = await mailAbout(
      suite.mailDirectory,
      owner.email,
      '[Tollgate] Support was asked to change your email address',
    );
    expect(notice.text).toContain(REASON);
    expect(notice.text).not.toContain(email);
    // Someone else may read mails to the present address.
    const stranger = openBrowser(suite.account);
    const used = await stranger.request('POST', '/password-reset/confirm', {
      token: reset.token,
      password: 'another good one',
    });
    expect(used.status).toBe(400);

    const link = await mailAbout(suite.mailDirectory, email, '[Tollgate] Confirm your new email address');
    expect((await stranger.request('POST', '/verify-email', { token: link.token })).status).toBe(200);
    const { account_id } = owner;
    expect(await suite.database('accounts').where({ account_id }).pluck('email')).toEqual([email]);
    await mailAbout(suite.mailDirectory, owner.email, '[Tollgate] Your email address was changed');
    expect(await entriesOf(account_id, 'email_change_requested')).toMatchObject([
      { details: { email_before: owner.email, email, operator_reason: REASON } },
    ]);
  });

  test('stays if the owner resets the password: the link has ended', async () => {
    const owner = await newOwner(suite);
    const email = `${randomUUID()}@example.com`;
    expect((await change(owner, email)).status).toBe(200);
    const link = await mailAbout(suite.mailDirectory, email, '[Tollgate] Confirm your new email address');
    const browser = openBrowser(suite.account);
    await browser.request('POST', '/password-reset', { email: owner.email });
    const { token } = await mailAbout(suite.mailDirectory, owner.email, '[Tollgate] Reset your password');
    const confirmed = await browser.request('POST', '/password-reset/confirm', {
      token,
      password: 'another good one',
    });
    expect(confirmed.status).toBe(204);
    expect((await browser.request('POST', '/verify-email', { token: link.token })).status).toBe(400);
  });

  test('needs support, a reason, and an address that is free', async () => {
    const [owner, other] = [await newOwner(suite), await newOwner(suite)];
    const path = `${ofAccount(owner)}/email`;
    const email = `${randomUUID()}@example.com`;
    expect((await asRole('finance', 'POST', path, { email })).status).toBe(403);
    const silent = await operatePath(suite.account, 'POST', `/private${path}`, { email }, { 'x-reason': '' });
    expect(silent).toMatchObject({ status: 400, body: { errors: [{ field: 'X-Reason' }] } });
    expect(await change(owner, other.email.toUpperCase())).toMatchObject({
      status: 409,
      body: { code: 'email_taken' },
    });
    expect(await change(owner, owner.email)).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'email' }] },
    });
    expect((await change({ account_id: 999_999_999 }, email)).status).toBe(404);
    const { account_id } = owner;
    await suite.database('accounts').where({ account_id }).update({ deletion_due_at: new Date() });
    expect(await change(owner, email)).toMatchObject({
      status: 403,
      body: { code: 'account_deletion_pending' },
    });
    expect(await entriesOf(account_id, 'email_change_requested')).toEqual([]);
  });
});

describe('a billing period that goes on', () => {
  const second = (sec: number) => secondsFromNow(sec).toISOString().replace('.000Z', 'Z');

  test('gets another end and another plan, and keeps what was used', async () => {
    const { account_id } = await newOwner(suite);
    const period_id = await insertPeriod(suite.database, account_id);
    const plan_id = await makePlan(suite.account, { description: { points_limit: 7 } });
    const ended_at = second(90 * DAY_SEC);
    const path = `/periods/${String(period_id)}`;
    const before = await operated('GET', path);
    expect((await asRole('support', 'PATCH', path, { plan_id })).status).toBe(403);
    const changed = await asRole('finance', 'PATCH', path, { plan_id, ended_at });
    expect(changed).toMatchObject({
      status: 200,
      body: { plan_id, description: { points_limit: 7 }, status: 'active', usage: before.body['usage'] },
    });
    expect(Date.parse(String(changed.body['ended_at']))).toBe(Date.parse(ended_at));
    expect(await entriesOf(account_id, 'period_changed')).toMatchObject([
      {
        details: {
          period_id,
          plan_id_before: before.body['plan_id'],
          plan_id,
          ended_at_before: before.body['ended_at'],
          ended_at: changed.body['ended_at'],
          operator_reason: REASON,
        },
      },
    ]);
  });

  test('is not moved over the next one, into the past, or past a subscription', async () => {
    const { account_id } = await newOwner(suite);
    const period_id = await insertPeriod(suite.database, account_id, {
      started_at: secondsFromNow(-DAY_SEC),
      ended_at: secondsFromNow(DAY_SEC),
    });
    await insertPeriod(suite.database, account_id, {
      started_at: secondsFromNow(2 * DAY_SEC),
      ended_at: secondsFromNow(3 * DAY_SEC),
    });
    const path = `/periods/${String(period_id)}`;
    const codeOf = async (body: unknown, at = path) => (await operated('PATCH', at, body)).body['code'];
    expect(await codeOf({ ended_at: second(2 * DAY_SEC) })).toBe('periods_overlap');
    expect(await codeOf({ ended_at: second(-60) })).toBe('invalid_request');
    expect(await codeOf({ plan_id: 999_999_999 })).toBe('invalid_request');
    const over = await insertPeriod(suite.database, (await newOwner(suite)).account_id, {
      started_at: secondsFromNow(-3 * DAY_SEC),
      ended_at: secondsFromNow(-DAY_SEC),
    });
    expect(await codeOf({ ended_at: second(DAY_SEC) }, `/periods/${String(over)}`)).toBe('period_not_active');
    const { account_id: subscriber } = await subscribe(suite.account, await makePlan(suite.account));
    const { periods } = await done<{ periods: { period_id: number }[] }>(
      suite.account,
      'GET',
      `/private/periods?account_id=${String(subscriber)}`,
    );
    const own = `/periods/${String(periods.at(-1)?.period_id)}`;
    expect(await codeOf({ ended_at: second(90 * DAY_SEC) }, own)).toBe('subscription_exists');
    expect(await entriesOf(account_id, 'period_changed')).toEqual([]);
  });
});
