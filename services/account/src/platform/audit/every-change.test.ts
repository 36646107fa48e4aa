import { hash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accessTokenHash, clientIdOf } from '@tollgate/credentials/access-token';
import { basicAuthorization } from '@tollgate/http/private-api-credential';
import { waitFor } from '@tollgate/stack/wait-for';
import { serviceCredential } from '@tollgate/testbed/service-process';
import type { Described } from '@tollgate/operation';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import {
  connect,
  newActingApplication,
  obtainCode,
  verificationOf,
} from '../../../test/suite/authorization.ts';
import { done, makeAccount, makePlan, makePublicPlan, subscribe } from '../../../test/suite/billing.ts';
import { makeOwnApplication, newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { ownContract } from '../../../test/suite/contract/contract.ts';
import { callerOf } from '../../../test/suite/contract/fuzz-caller.ts';
import { goodRequest, send } from '../../../test/suite/contract/fuzz-request.ts';
import { expectNoSecret, expectTrue, readSource, sourceOf } from '../../../test/suite/audited-change.ts';
import type { Change } from '../../../test/suite/audited-change.ts';
import { grantTo } from '../../../test/suite/granting.ts';
import { insertPeriod, secondsFromNow } from '../../../test/suite/database/records.ts';
import { makeApplication, operatePath, operatorCredentials } from '../../../test/suite/operator.ts';
import type { Answer, MadeApplication } from '../../../test/suite/operator.ts';
import { newAuthenticator } from '../../../test/suite/stand-ins/authenticator.ts';
import { PUBLIC_URL, addPasskey, enrol, totpCode } from '../../../test/suite/stand-ins/two-factor.ts';
import { nthMail, openBrowser } from '../../../test/suite/people.ts';
import { inviteTo, makeTeam } from '../../../test/suite/team.ts';
import { makeToken } from '../../../test/suite/tokens.ts';
import { OPERATOR_API } from '../../api/operator.ts';
import { REPORTER_API, SERVICE_API } from '../../api/services.ts';

/**
 * Every operation that changes something, or that hands out a secret, leaves an entry in the audit log. Those of
 * operators state what was changed, before and after.
 */

let suite: AccountUnderTest;
let mails: string;

const DAY_SEC = 86_400;

const UNLIMITED = String(1_000_000);

beforeAll(async () => {
  mails = await mkdtemp(join(tmpdir(), 'tollgate-mail-'));
  suite = await startAccount({
    settings: {
      PUBLIC_URL,
      OPERATOR_CREDENTIALS: operatorCredentials,
      OPERATORS_URL: 'http://localhost:4102/operator',
      SELF_SERVICE: 'subscribe change cancel slots',
      SIGN_IN_FAILURES_PER_ADDRESS: UNLIMITED,
      MAIL_REQUESTS_PER_ADDRESS: UNLIMITED,
      MAIL_DIR: mails,
      TRUSTED_PROXIES: '127.0.0.0/8 ::1/128',
    },
  });
});

afterAll(async () => {
  await suite.close();
  await rm(mails, { recursive: true });
});

type Answered = { status: number; headers: Headers };

/** The actions that the log has of a request. */
function recorded({ headers }: Answered): Promise<string[]> {
  const request_id = headers.get('x-request-id');
  return suite.database('audit_log').where({ request_id }).pluck<string[]>('action');
}

async function expectRecorded(answered: Answered): Promise<void> {
  expect(answered.status).toBeLessThan(300);
  await waitFor(async () => (await recorded(answered)).length > 0, { what: 'an entry of the audit log' });
}

describe('the console', () => {
  /** Why these leave nothing. */
  const UNRECORDED: Readonly<Record<string, string>> = {
    signUp: 'there is no account yet; account_created is recorded once its address is confirmed',
    resendSignUp: 'there is no account yet',
    lookUpInvitation: 'reads',
    checkTeamDomain: 'asks DNS; domains.test.ts has the entry of a proof',
    beginSso: 'the row of a sign-in alone',
    testTeamSso: 'the row of a sign-in alone',
    signInBySso: 'needs an identity provider; sso.test.ts has its entries',
    setTeamSso: 'needs an identity provider; sso.test.ts has its entry',
    removeTeamSso: 'needs an identity provider; sso.test.ts has its entry',
    requireTeamSso: 'needs an identity provider; sso.test.ts has its entry',
    stopRequiringTeamSso: 'needs an identity provider; sso.test.ts has its entry',
    beginPurchase: 'payments are off here; purchases.test.ts has its entry',
    setTopUp: 'payments are off here; top-ups.test.ts has its entry',
    setOverage: 'payments are off here; overage.test.ts has its entry',
    stopTopUp: 'payments are off here; top-ups.test.ts has its entry',
    beginSubscription: 'payments are off here; paid-subscriptions.test.ts has its entry',
    upgradePlan: 'payments are off here; plan-changes.test.ts has its entry',
    buyTeamSlots: 'payments are off here; team-slots.test.ts has its entry',
    openPaymentPortal: 'a link alone',
    linkInvoice: 'a link alone',
    getPasskeySignInOptions: 'a challenge alone; the sign-in is recorded',
    getConfirmationOptions: 'a challenge alone; the confirmation is recorded',
    getPasskeyOptions: 'a challenge alone; passkey_added is recorded',
    allowAuthorizationRequest: 'a code alone; connection_made is recorded when it is used',
    denyAuthorizationRequest: 'nothing has changed',
    setUpTotp: 'a secret that counts for nothing until totp_added',
  };

  const BY_HAND: Readonly<Record<string, () => Promise<Answered>>> = {
    verifyEmail: async () => {
      const person = { email: `${randomUUID()}@example.com`, name: 'Ada' };
      const { request } = openBrowser(suite.account);
      await request('POST', '/sign-up', person);
      const { token } = await nthMail(mails, person.email);
      return request('POST', '/verify-email', { token, password: 'a good password' });
    },
    resetPassword: async () => {
      const { email } = await newOwner(suite);
      const { request } = openBrowser(suite.account);
      await request('POST', '/password-reset', { email });
      const { token } = await nthMail(mails, email);
      return request('POST', '/password-reset/confirm', { token, password: 'another good one' });
    },
    requestPasswordReset: async () => {
      const { email } = await newOwner(suite);
      return openBrowser(suite.account).request('POST', '/password-reset', { email });
    },
    acceptInvitationByToken: () => byInvitation('accept'),
    declineInvitationByToken: () => byInvitation('decline'),
    signInWithTotp: () =>
      secondStep(async (owner, request, sign_in_token) =>
        request('POST', '/session/totp', { sign_in_token, code: totpCode(owner.secret, 1) }),
      ),
    signInWithRecoveryCode: () =>
      secondStep(async ({ codes }, request, sign_in_token) =>
        request('POST', '/session/recovery-code', { sign_in_token, code: codes[0] }),
      ),
    signInWithPasskey: async () => {
      const { browser } = await newOwner(suite);
      const authenticator = await addPasskey(browser);
      const { request } = openBrowser(suite.account);
      const { body: options } = await request('POST', '/session/passkey/options', {});
      return request('POST', '/session/passkey', { credential: authenticator.get(options) });
    },
    confirmSessionWithTotp: async () => {
      const { browser, secret } = await withApp();
      return browser.request('POST', '/session/confirm/totp', { code: totpCode(secret, 1) });
    },
    confirmSessionWithRecoveryCode: async () => {
      const { browser, codes } = await withApp();
      return browser.request('POST', '/session/confirm/recovery-code', { code: codes[0] });
    },
    confirmSessionWithPasskey: async () => {
      const { browser } = await newOwner(suite);
      const authenticator = await addPasskey(browser);
      const { body: options } = await browser.request('POST', '/session/confirm/passkey/options');
      const credential = authenticator.get(options);
      return browser.request('POST', '/session/confirm/passkey', { credential });
    },
    confirmTotp: async () => {
      const { browser } = await newOwner(suite);
      const { body } = await browser.request('POST', '/two-factor/totp');
      const code = totpCode(String(body['secret']));
      return browser.request('POST', '/two-factor/totp/confirm', { code });
    },
    addPasskey: async () => {
      const { browser } = await newOwner(suite);
      const { body: options } = await browser.request('POST', '/two-factor/passkeys/options');
      const credential = newAuthenticator(PUBLIC_URL).create(options);
      return browser.request('POST', '/two-factor/passkeys', { name: 'Laptop', credential });
    },
    endPreviousApplicationSecret: async () => {
      const { browser } = await newOwner(suite);
      const { path } = await makeOwnApplication(browser);
      await browser.request('POST', `${path}/rotate-secret`, { overlap_sec: 60 });
      return browser.request('DELETE', `${path}/previous-secret`);
    },
    revokeTemporaryToken: async () => {
      const { browser } = await newOwner(suite);
      await browser.request('POST', '/temporary-token');
      return browser.request('DELETE', '/temporary-token');
    },
    renameTeam: async () => {
      const manager = await newOwner(suite);
      await makeTeam(manager);
      return manager.browser.request('PATCH', '/team', { name: 'Another' });
    },
    dissolveTeam: async () => {
      const manager = await newOwner(suite);
      await makeTeam(manager);
      return manager.browser.request('DELETE', '/team');
    },
    resumeSubscription: async () => {
      const owner = await newOwner(suite);
      const { account_id } = owner;
      await subscribe(suite.account, await makePublicPlan(suite.account, {}), { account_id });
      await owner.browser.request('POST', '/subscription/cancel');
      return owner.browser.request('POST', '/subscription/resume');
    },
    changeWebhook: () => webhook('PATCH', '', { description: 'Another' }),
    endPreviousWebhookSecret: () => webhook('DELETE', '/previous-secret'),
  };

  const changing = ownContract().operations.filter(
    ({ method, path }) => method !== 'GET' && path.startsWith('/api/console/'),
  );

  test.each(changing.map((operation) => [operation.operationId, operation] as const))(
    '%s',
    async (operationId, operation) => {
      const byHand = BY_HAND[operationId];
      const answered =
        byHand === undefined
          ? await send(suite.account.publicUrl, goodRequest(operation, await callerOf(operation, suite)))
          : await byHand();
      if (UNRECORDED[operationId] === undefined) await expectRecorded(answered);
      else expect(await recorded(answered)).toEqual([]);
    },
  );

  test('reading a temporary token that is there already', async () => {
    const { browser } = await newOwner(suite);
    await browser.request('POST', '/temporary-token');
    const again = await browser.request('POST', '/temporary-token');
    expect(await recorded(again)).toEqual(['token_copied']);
    const seen = await browser.request('GET', '/temporary-token');
    expect(await recorded(seen)).toEqual([]);
  });

  test.each([
    ['PUT', '/account/password', { new_password: 'another good one' }],
    ['POST', '/account/email', { email: 'new@example.com' }],
    ['POST', '/account/deletion', {}],
  ])('a wrong current password at %s %s', async (method, path, body) => {
    const { browser, email } = await newOwner(suite);
    const wanted = { email, ...body, current_password: 'wrong' };
    if (path === '/account/password') Reflect.deleteProperty(wanted, 'email');
    const refused = await browser.request(method, path, wanted);
    expect([refused.status, await recorded(refused)]).toEqual([400, ['confirmation_failed']]);
  });

  test('a wrong password, and a wrong code, at the confirmation of a session', async () => {
    const { browser } = await newOwner(suite);
    const password = await browser.request('POST', '/session/confirm', { password: 'wrong' });
    expect([password.status, await recorded(password)]).toEqual([400, ['confirmation_failed']]);
    const owner = await withApp();
    const code = await owner.browser.request('POST', '/session/confirm/recovery-code', { code: 'wrong' });
    expect([code.status, await recorded(code)]).toEqual([400, ['confirmation_failed']]);
  });

  test('a request for a reset says where it came from, and for an unknown address leaves nothing', async () => {
    const { email, account_id } = await newOwner(suite);
    const browser = openBrowser(suite.account);
    const unknown = await browser.request('POST', '/password-reset', {
      email: `${randomUUID()}@example.com`,
    });
    await browser.request('POST', '/password-reset', { email });
    // The outbox is worked off in order.
    await nthMail(mails, email);
    expect(await recorded(unknown)).toEqual([]);
    const entries = await suite
      .database('audit_log')
      .where({ account_id, action: 'password_reset_requested' })
      .select('actor', 'address');
    expect(entries).toEqual([{ actor: 'unknown', address: browser.address }]);
  });
});

/** Of a webhook whose secret was rotated. */
async function webhook(method: string, path: string, body?: unknown): Promise<Answered> {
  const { browser } = await newOwner(suite);
  const made = await browser.request('POST', '/webhooks', { url: 'https://hooks.invalid/' });
  const own = `/webhooks/${String(made.body['webhook_id'])}`;
  await browser.request('POST', `${own}/rotate-secret`, { overlap_sec: 60 });
  return browser.request(method, `${own}${path}`, body);
}

type WithApp = Owner & { secret: string; codes: string[] };

async function withApp(): Promise<WithApp> {
  const owner = await newOwner(suite);
  const { body } = await owner.browser.request('POST', '/two-factor/totp');
  const secret = String(body['secret']);
  const code = totpCode(secret);
  const confirmed = await owner.browser.request('POST', '/two-factor/totp/confirm', { code });
  return { ...owner, secret, codes: confirmed.body['recovery_codes'] as string[] };
}

async function secondStep(
  complete: (owner: WithApp, request: Owner['browser']['request'], signInToken: string) => Promise<Answered>,
): Promise<Answered> {
  const owner = await withApp();
  const { request } = openBrowser(suite.account);
  const { email, password } = owner;
  const { body } = await request('POST', '/session', { email, password });
  return complete(owner, request, String(body['sign_in_token']));
}

async function byInvitation(act: 'accept' | 'decline'): Promise<Answered> {
  const manager = await newOwner(suite);
  await insertPeriod(suite.database, manager.account_id, { description: { team_slots_limit: 5 } });
  await makeTeam(manager);
  const member = await newOwner(suite);
  await inviteTo(manager, member);
  const { token } = await nthMail(mails, member.email);
  return member.browser.request('POST', `/invitations/${act}`, { token });
}

describe('the private listener', () => {
  const NO_PERSON = 'a service’s own message, of no change that a person made';

  /** Why these leave nothing. */
  const UNRECORDED: Readonly<Record<string, string>> = {
    'POST /private/usage-checks': 'reads',
    'POST /private/credit-checks': 'reads',
    'POST /private/plans-as-code/diff': 'reads',
    'POST /private/manual-tokens/uses': NO_PERSON,
    'POST /private/grants/refresh': 'rotates alone; refresh.test.ts has the entry of an end',
    'POST /private/usage-reports': NO_PERSON,
    'POST /private/payments/sync': 'creates at Stripe what it lacks, and changes nothing here',
    'POST /private/payments/reconcile': 'payments are off here; reconcile.test.ts has its entry',
    'POST /private/usage-unassigned/{unassigned_id}/count': 'recorded; usage-unassigned.test.ts shows it',
  };

  type Made = { path: string; body?: unknown; headers?: Record<string, string>; authorization?: string };

  const operated = (method: string, path: string, body?: unknown) =>
    done<Record<string, number>>(suite.account, method, path, body);

  async function product(): Promise<string> {
    const { product_id } = await operated('POST', '/private/products', { name: randomUUID() });
    return `/private/products/${String(product_id)}`;
  }

  const operatorBody = () => ({ name: 'Grace', email: `${randomUUID()}@example.com`, role: 'admin' });
  async function operatorPath(): Promise<string> {
    const { operator } = await done<{ operator: { operator_id: number } }>(
      suite.account,
      'POST',
      '/private/operators',
      operatorBody(),
    );
    return `/private/operators/${String(operator.operator_id)}`;
  }

  const plan = async () => `/private/plans/${String(await makePlan(suite.account))}`;
  const publicPlan = async () => `/private/plans/${String(await makePublicPlan(suite.account, {}))}`;
  const account = async () => `/private/accounts/${String(await makeAccount(suite.account))}`;

  const inDays = (days: number) =>
    secondsFromNow(days * DAY_SEC)
      .toISOString()
      .replace('.000Z', 'Z');

  async function wantedPeriod(startInDays: number) {
    return {
      account_id: await makeAccount(suite.account),
      plan_id: await makePlan(suite.account),
      started_at: inDays(startInDays),
      ended_at: inDays(startInDays + 30),
    };
  }

  async function period(startInDays = -1): Promise<string> {
    const { period_id } = await operated('POST', '/private/periods', await wantedPeriod(startInDays));
    return `/private/periods/${String(period_id)}`;
  }

  /** Its totals are more than its hourly rows. */
  async function periodWithLostUsage(): Promise<number> {
    const period_id = await insertPeriod(suite.database, await makeAccount(suite.account));
    const totals = { points: 5, requests: 1, time_ms: 10, traffic_bytes: 100 };
    await suite.database('usage_totals').insert({ period_id, ...totals });
    return period_id;
  }

  async function subscription(): Promise<string> {
    return (await subscribe(suite.account, await makePlan(suite.account))).path;
  }

  async function team(): Promise<string> {
    const account_id = await makeAccount(suite.account);
    await insertPeriod(suite.database, account_id, { team_slots_limit: 5 });
    const { team_id } = await operated('POST', '/private/teams', { account_id, name: 'Team' });
    return `/private/teams/${String(team_id)}`;
  }

  async function application(): Promise<MadeApplication> {
    const made = await makeApplication(suite.account, await makeAccount(suite.account));
    return { ...made, path: `/private/applications${made.path}` };
  }

  async function token(): Promise<string> {
    const { path } = await makeApplication(suite.account, await makeAccount(suite.account));
    return `/private/applications${(await makeToken(suite.account, path)).path}`;
  }

  async function deleting(): Promise<string> {
    const { browser, email, password, account_id } = await newOwner(suite);
    await browser.request('POST', '/account/deletion', { email, current_password: password });
    return `/private/accounts/${String(account_id)}/deletion`;
  }

  const ofService = basicAuthorization(serviceCredential);

  const MADE: Readonly<Record<string, () => Promise<Made>>> = {
    'POST /private/products': () =>
      Promise.resolve({ path: '/private/products', body: { name: randomUUID() } }),
    'PATCH /private/products/{product_id}': async () => ({
      path: await product(),
      body: { name: randomUUID() },
    }),
    'POST /private/plans': () =>
      Promise.resolve({ path: '/private/plans', body: { name: randomUUID(), description: {} } }),
    'POST /private/applications/{application_id}/verify': async () => {
      const made = await newActingApplication(suite);
      const path = `/private/applications/${String(made.application_id)}/verify`;
      return { path, body: await verificationOf(suite, made) };
    },
    'DELETE /private/applications/{application_id}/verification': async () => {
      const made = await newActingApplication(suite);
      const path = `/private/applications/${String(made.application_id)}`;
      await operated('POST', `${path}/verify`, await verificationOf(suite, made));
      return { path: `${path}/verification` };
    },
    'PUT /private/applications/{application_id}/budget': async () => ({
      path: `${(await application()).path}/budget`,
      body: { points_per_day: 5 },
    }),
    'POST /private/applications/{application_id}/trusted-documents': async () => ({
      path: `${(await application()).path}/trusted-documents`,
      body: { documents: [{ text: '{ a }' }] },
    }),
    'PUT /private/applications/{application_id}/trusted-documents': async () => ({
      path: `${(await application()).path}/trusted-documents`,
      body: { enforced: true },
    }),
    'DELETE /private/applications/{application_id}/trusted-documents/{sha256}': async () => {
      const path = `${(await application()).path}/trusted-documents`;
      await operated('POST', path, { documents: [{ text: '{ a }' }] });
      return { path: `${path}/${hash('sha256', '{ a }')}` };
    },
    'PUT /private/members/{account_id}/budget': async () => {
      const member = await makeAccount(suite.account);
      await operated('POST', `${await team()}/members`, { account_id: member });
      return { path: `/private/members/${String(member)}/budget`, body: { points_per_day: 5 } };
    },
    'PATCH /private/plans/{plan_id}': async () => ({ path: await plan(), body: { grace_sec: 5 } }),
    'POST /private/plans/{plan_id}/archive': async () => ({ path: `${await plan()}/archive` }),
    'POST /private/plans/{plan_id}/restore': async () => {
      const path = await plan();
      await operated('POST', `${path}/archive`);
      return { path: `${path}/restore` };
    },
    'POST /private/plans/{plan_id}/publish': async () => ({
      path: `${await plan()}/publish`,
      body: { price_month: '€1' },
    }),
    'POST /private/plans/{plan_id}/unpublish': async () => ({ path: `${await publicPlan()}/unpublish` }),
    'POST /private/plans-as-code/apply': () =>
      Promise.resolve({
        path: '/private/plans-as-code/apply',
        body: { source: `products: { key-${randomUUID()}: { name: ${randomUUID()} } }` },
      }),
    'POST /private/packs': () =>
      Promise.resolve({
        path: '/private/packs',
        body: { name: 'Pack', points: 10, currency: 'eur', unit_amount: 100 },
      }),
    'POST /private/packs/{pack_id}/withdraw': async () => {
      const pack = { name: 'Pack', points: 10, currency: 'eur', unit_amount: 100 };
      const { pack_id } = await operated('POST', '/private/packs', pack);
      return { path: `/private/packs/${String(pack_id)}/withdraw` };
    },
    'PUT /private/plans/{plan_id}/prices/{billing_interval}': async () => ({
      path: `${await plan()}/prices/month`,
      body: { currency: 'eur', unit_amount: 4_900 },
    }),
    'DELETE /private/plans/{plan_id}/prices/{billing_interval}': async () => {
      const path = `${await plan()}/prices/month`;
      await operated('PUT', path, { currency: 'eur', unit_amount: 4_900 });
      return { path };
    },
    'PUT /private/plans/{plan_id}/team-slot-prices/{billing_interval}': async () => ({
      path: `${await plan()}/team-slot-prices/month`,
      body: { currency: 'eur', unit_amount: 500 },
    }),
    'DELETE /private/plans/{plan_id}/team-slot-prices/{billing_interval}': async () => {
      const path = `${await plan()}/team-slot-prices/month`;
      await operated('PUT', path, { currency: 'eur', unit_amount: 500 });
      return { path };
    },
    'POST /private/accounts/{account_id}/payment-block/postpone': async () => {
      const account_id = await makeAccount(suite.account);
      const period_id = await insertPeriod(suite.database, account_id, {});
      await suite.database('payment_blocks').insert({
        account_id,
        reason: 'renewal',
        period_id,
        grace_at: new Date(),
        blocks_at: new Date(),
      });
      const path = `/private/accounts/${String(account_id)}/payment-block/postpone`;
      return { path, body: { until: inDays(1) } };
    },
    'POST /private/payments/issues/{issue_id}/resolve': async () => {
      const [issue] = await suite
        .database('payment_issues')
        .insert({ kind: 'dispute', object_id: randomUUID() })
        .returning<{ issue_id: number }[]>('issue_id');
      return { path: `/private/payments/issues/${String(issue?.issue_id)}/resolve` };
    },
    'POST /private/operators': () => Promise.resolve({ path: '/private/operators', body: operatorBody() }),
    'DELETE /private/operators/{operator_id}': async () => ({ path: await operatorPath() }),
    'POST /private/operators/{operator_id}/enrolment-link': async () => ({
      path: `${await operatorPath()}/enrolment-link`,
    }),
    'POST /private/operators/{operator_id}/sign-in-link': async () => ({
      path: `${await operatorPath()}/sign-in-link`,
    }),
    'POST /private/accounts': () =>
      Promise.resolve({
        path: '/private/accounts',
        body: { email: `${randomUUID()}@example.com`, name: 'Ada' },
      }),
    'POST /private/accounts/{account_id}/block': async () => ({ path: `${await account()}/block` }),
    'POST /private/accounts/{account_id}/unblock': async () => {
      const path = await account();
      await operated('POST', `${path}/block`);
      return { path: `${path}/unblock` };
    },
    'POST /private/accounts/{account_id}/reset-two-factor': async () => {
      const owner = await newOwner(suite);
      await enrol(owner, suite.database);
      return { path: `/private/accounts/${String(owner.account_id)}/reset-two-factor` };
    },
    'POST /private/accounts/{account_id}/deletion/cancel': async () => ({
      path: `${await deleting()}/cancel`,
    }),
    'POST /private/accounts/{account_id}/deletion/carry-out': async () => ({
      path: `${await deleting()}/carry-out`,
    }),
    'POST /private/accounts/{account_id}/temporary-token': async () => ({
      path: `${await account()}/temporary-token`,
    }),
    'DELETE /private/accounts/{account_id}/temporary-token': async () => {
      const path = `${await account()}/temporary-token`;
      await operated('POST', path);
      return { path };
    },
    'POST /private/periods': async () => ({ path: '/private/periods', body: await wantedPeriod(0) }),
    'PATCH /private/periods/{period_id}': async () => ({
      path: await period(),
      body: { ended_at: inDays(40) },
    }),
    'DELETE /private/periods/{period_id}': async () => ({ path: await period(10) }),
    'POST /private/periods/{period_id}/end': async () => ({ path: `${await period()}/end` }),
    'POST /private/periods/{period_id}/block': async () => ({ path: `${await period()}/block` }),
    'POST /private/periods/{period_id}/unblock': async () => {
      const path = await period();
      await operated('POST', `${path}/block`);
      return { path: `${path}/unblock` };
    },
    'POST /private/periods/{period_id}/team-slots': async () => ({
      path: `${await period()}/team-slots`,
      body: { team_slots_limit: 7 },
    }),
    'POST /private/subscriptions': async () => ({
      path: '/private/subscriptions',
      body: {
        account_id: await makeAccount(suite.account),
        plan_id: await makePlan(suite.account),
        billing_interval: 'month',
      },
    }),
    'POST /private/subscriptions/{subscription_id}/change-plan': async () => ({
      path: `${await subscription()}/change-plan`,
      body: { plan_id: await makePlan(suite.account), effective: 'now' },
    }),
    'POST /private/subscriptions/{subscription_id}/cancel': async () => ({
      path: `${await subscription()}/cancel`,
      body: { effective: 'period_end' },
    }),
    'POST /private/subscriptions/{subscription_id}/resume': async () => {
      const path = await subscription();
      await operated('POST', `${path}/cancel`, { effective: 'period_end' });
      return { path: `${path}/resume` };
    },
    'POST /private/subscriptions/{subscription_id}/team-slots': async () => ({
      path: `${await subscription()}/team-slots`,
      body: { team_slots_limit: 7 },
    }),
    'POST /private/credits': async () => ({
      path: '/private/credits',
      body: { account_id: await makeAccount(suite.account), points: 100, source: 'promotion' },
      headers: { 'idempotency-key': randomUUID() },
    }),
    'POST /private/credits/{credit_id}/void': async () => {
      const { credit_id } = await grantTo(suite.account, await makeAccount(suite.account));
      return { path: `/private/credits/${String(credit_id)}/void` };
    },
    'POST /private/credits/{credit_id}/transfer': async () => {
      const source = 'purchase';
      const { credit_id } = await grantTo(suite.account, await makeAccount(suite.account), { source });
      const body = { account_id: await makeAccount(suite.account) };
      return { path: `/private/credits/${String(credit_id)}/transfer`, body };
    },
    'POST /private/teams': async () => ({
      path: '/private/teams',
      body: { account_id: await makeAccount(suite.account), name: 'Team' },
    }),
    'DELETE /private/teams/{team_id}': async () => ({ path: await team() }),
    'POST /private/teams/{team_id}/members': async () => ({
      path: `${await team()}/members`,
      body: { account_id: await makeAccount(suite.account) },
    }),
    'DELETE /private/teams/{team_id}/members/{account_id}': async () => {
      const path = `${await team()}/members`;
      const account_id = await makeAccount(suite.account);
      await operated('POST', path, { account_id });
      return { path: `${path}/${String(account_id)}` };
    },
    'DELETE /private/teams/{team_id}/sso/requirement': async () => {
      const path = await team();
      const sealed = { sealing_key_id: 'k1', sealed_nonce: randomBytes(12), sealed_secret: randomBytes(40) };
      const team_id = Number(path.split('/').at(-1));
      const provider = { team_id, issuer: 'https://login.example', client_id: 'x', required_at: new Date() };
      await suite.database('team_sso_providers').insert({ ...provider, ...sealed });
      return { path: `${path}/sso/requirement` };
    },
    'POST /private/accounts/{account_id}/email': async () => ({
      path: `${await account()}/email`,
      body: { email: `${randomUUID()}@example.com` },
    }),
    'DELETE /private/accounts/{account_id}/sessions': async () => ({
      path: `/private/accounts/${String((await newOwner(suite)).account_id)}/sessions`,
    }),
    'DELETE /private/accounts/{account_id}/sessions/{session_id}': async () => {
      const { account_id } = await newOwner(suite);
      const [session_id] = await suite
        .database('sessions')
        .where({ account_id })
        .pluck<number[]>('session_id');
      return { path: `/private/accounts/${String(account_id)}/sessions/${String(session_id)}` };
    },
    'POST /private/accounts/{account_id}/mails/{mail_id}/send-again': async () => {
      const { account_id, email } = await newOwner(suite);
      await openBrowser(suite.account).request('POST', '/password-reset', { email });
      await nthMail(mails, email);
      const sent = () => suite.database('sent_mails').where({ account_id }).pluck<number[]>('mail_id');
      const [mail_id] = await waitFor(async () => {
        const found = await sent();
        return found.length > 0 ? found : undefined;
      });
      return { path: `/private/accounts/${String(account_id)}/mails/${String(mail_id)}/send-again` };
    },
    'POST /private/accounts/{account_id}/webhooks/{webhook_id}/deliveries/{delivery_id}/retry': async () => {
      const { account_id, browser } = await newOwner(suite);
      const made = await browser.request('POST', '/webhooks', { url: 'https://hooks.invalid/' });
      const webhook_id = Number(made.body['webhook_id']);
      const own = `/webhooks/${String(webhook_id)}`;
      // Attempts change it, too.
      await suite
        .database('webhooks')
        .where({ webhook_id })
        .update({ leased_until: inDays(1) });
      const { body } = await browser.request('POST', `${own}/test`);
      const failed = { status: 'failed', next_attempt_at: null };
      await suite.database('webhook_deliveries').where({ webhook_id }).update(failed);
      const path = `/private/accounts/${String(account_id)}${own}/deliveries/${String(body['delivery_id'])}/retry`;
      return { path };
    },
    'POST /private/usage-rebuilds': async () => ({
      path: '/private/usage-rebuilds',
      body: { period_id: await periodWithLostUsage() },
    }),
    'POST /private/audit-log/export': () =>
      Promise.resolve({
        path: '/private/audit-log/export',
        body: { format: 'ndjson', actor: 'operator:nothing' },
      }),
    'POST /private/usage-repairs': () => Promise.resolve({ path: '/private/usage-repairs', body: {} }),
    'POST /private/applications': async () => ({
      path: '/private/applications',
      body: {
        account_id: await makeAccount(suite.account),
        name: 'App',
        type: 'automatic',
        token_lifespan_sec: 3_600,
      },
    }),
    'PATCH /private/applications/{application_id}': async () => ({
      path: (await application()).path,
      body: { name: 'Other' },
    }),
    'DELETE /private/applications/{application_id}': async () => ({ path: (await application()).path }),
    'POST /private/applications/{application_id}/revoke': async () => ({
      path: `${(await application()).path}/revoke`,
    }),
    'POST /private/applications/{application_id}/rotate-secret': async () => ({
      path: `${(await application()).path}/rotate-secret`,
      body: { overlap_sec: 60 },
    }),
    'DELETE /private/applications/{application_id}/previous-secret': async () => {
      const { path } = await application();
      await operated('POST', `${path}/rotate-secret`, { overlap_sec: 60 });
      return { path: `${path}/previous-secret` };
    },
    'POST /private/applications/{application_id}/tokens': async () => ({
      path: `${(await application()).path}/tokens`,
      body: { name: 'Token' },
    }),
    'POST /private/applications/{application_id}/tokens/{token_id}/copy': async () => ({
      path: `${await token()}/copy`,
    }),
    'POST /private/applications/{application_id}/tokens/{token_id}/revoke': async () => ({
      path: `${await token()}/revoke`,
    }),
    'POST /private/clients/{client_id}/revoked-tokens': async () => {
      const { path, client_id } = await application();
      const made = await operated('POST', `${path}/tokens`, { name: 'Token' });
      const token_hash = accessTokenHash(String(made['access_token']));
      return {
        path: `/private/clients/${client_id}/revoked-tokens`,
        body: { token_hash, address: '192.0.2.1' },
        authorization: ofService,
      };
    },
    'POST /private/grants/exchange': async () => {
      const acting = await newActingApplication(suite);
      const { code, verifier } = await obtainCode(suite.account, acting, (await newOwner(suite)).browser);
      return {
        path: '/private/grants/exchange',
        body: {
          client_id: acting.client_id,
          code_hash: accessTokenHash(code),
          redirect_uri: acting.redirect_uri,
          code_challenge: accessTokenHash(verifier),
          connection_client_id: randomUUID(),
          refresh_token_hash: accessTokenHash(randomUUID()),
          address: '192.0.2.1',
        },
        authorization: ofService,
      };
    },
    'POST /private/client-registrations': () =>
      Promise.resolve({
        path: '/private/client-registrations',
        body: {
          redirect_uris: ['http://127.0.0.1/callback'],
          is_trusted: true,
          address: '192.0.2.1',
        },
        authorization: ofService,
      }),
    'POST /private/grants/end': async () => {
      const acting = await newActingApplication(suite);
      const { access_token } = await connect(suite, acting, (await newOwner(suite)).browser);
      return {
        path: '/private/grants/end',
        body: {
          client_id: acting.client_id,
          connection_client_id: clientIdOf(access_token.split('_')[1] ?? ''),
          address: '192.0.2.1',
        },
        authorization: ofService,
      };
    },
    'POST /private/clients/{client_id}/lost-revocation': async () => ({
      path: `/private/clients/${(await application()).client_id}/lost-revocation`,
      body: { revocation_epoch: 3 },
      authorization: ofService,
    }),
  };

  test('every route that changes something is here', () => {
    const changing = [...OPERATOR_API, ...SERVICE_API, ...REPORTER_API]
      .flatMap(({ operations }): readonly Described[] => operations)
      .filter(({ method }) => method !== 'GET')
      .map(({ method, path }) => `${method} ${path}`);
    const known = [...Object.keys(MADE), ...Object.keys(UNRECORDED)];
    expect(changing.toSorted()).toEqual(known.toSorted());
  });

  const DECLARED = new Map(
    OPERATOR_API.flatMap(({ operations }): readonly Described[] => operations).map((each) => [
      `${each.method} ${each.path}`,
      each,
    ]),
  );

  const REASON = 'Forged invoices: ticket 7, “büro” 🧾';

  /** Why these have neither before nor after. */
  const CHANGES_NOTHING: Readonly<Record<string, string>> = {
    'POST /private/applications/{application_id}/tokens/{token_id}/copy': 'hands out a secret',
    'POST /private/audit-log/export': 'reads',
    'POST /private/usage-repairs': 'nothing was lost here; `details` has what a repair recovered',
  };

  /** What no operation reads. */
  const STATED: Readonly<Record<string, Change>> = {
    'POST /private/accounts/{account_id}/email': {
      before: null,
      after: { requested_email: expect.stringContaining('@example.com') },
    },
    'POST /private/accounts/{account_id}/reset-two-factor': {
      before: { second_factors: expect.arrayContaining(['totp']) },
      after: { second_factors: [] },
    },
    // The erasure follows at once.
    'POST /private/accounts/{account_id}/deletion/carry-out': {
      before: { deletion_due_at: expect.stringContaining('T') },
      after: { deletion_due_at: expect.stringContaining('T') },
    },
    'DELETE /private/accounts/{account_id}/temporary-token': {
      before: { revoked_at: null },
      after: { revoked_at: expect.stringContaining('T') },
    },
    'POST /private/plans-as-code/apply': {
      before: null,
      after: { key: expect.stringContaining('key-'), name: expect.any(String) },
    },
  };

  const READ_PATHS = [...DECLARED.values()].flatMap(({ method, path }) => (method === 'GET' ? [path] : []));

  test.each(Object.entries(MADE))('%s', async (route, make) => {
    const { path, body, authorization, headers: sent } = await make();
    const [method = ''] = route.split(' ');
    const headers = { ...sent, ...(authorization === undefined ? {} : { authorization }) };
    const ask = (reason: string) =>
      operatePath(suite.account, method, path, body, { ...headers, 'x-reason': reason });
    if (DECLARED.get(route)?.needsReason === true) await expectRefused(await ask(''));
    const declared = DECLARED.get(route);
    const isCreation = declared !== undefined && '201' in declared.answers;
    const source =
      declared === undefined ? undefined : sourceOf({ path, body }, isCreation ? [] : READ_PATHS);
    const before = source === undefined ? undefined : await readSource(suite.account, source);
    const answered = await ask(encodeURIComponent(REASON));
    await expectRecorded(answered);
    const request_id = answered.headers.get('x-request-id');
    const entries = await suite
      .database('audit_log')
      .where({ request_id })
      .orderBy('audit_id')
      .select<(Change & { details: Record<string, unknown> })[]>('details', 'before', 'after');
    const reasons = new Set(entries.map(({ details }) => details['operator_reason']));
    expect([...reasons]).toEqual([declared === undefined ? undefined : REASON]);
    if (declared === undefined) return;
    const changes = entries
      .map((entry) => ({ before: entry.before, after: entry.after }))
      .filter((change) => change.before !== null || change.after !== null);
    expectNoSecret(changes, answered);
    const stated = STATED[route];
    if (CHANGES_NOTHING[route] !== undefined) expect(changes).toEqual([]);
    else if (stated !== undefined) expect(changes).toContainEqual(stated);
    else {
      const read =
        source === undefined ? undefined : { before, after: await readSource(suite.account, source) };
      expectTrue({ changes, read, answer: answered });
    }
  });

  test.each(['no', ' '.repeat(500), 'x'.repeat(501), '%', 'a%00bc'])(
    'the reason %j is refused',
    async (reason) => {
      const path = `${await account()}/block`;
      const headers = { 'x-reason': reason };
      await expectRefused(await operatePath(suite.account, 'POST', path, undefined, headers));
    },
  );

  async function expectRefused(answered: Answer): Promise<void> {
    expect({ ...answered, headers: undefined }).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ field: 'X-Reason' }] },
    });
    expect(await recorded(answered)).toEqual([]);
  }

  test('these need a reason', () => {
    const needing = [...DECLARED].filter(([, { needsReason }]) => needsReason === true);
    expect(needing.map(([route]) => route)).toEqual([
      'POST /private/accounts/{account_id}/email',
      'POST /private/accounts/{account_id}/reset-two-factor',
      'POST /private/accounts/{account_id}/deletion/carry-out',
      'POST /private/applications/{application_id}/verify',
      'DELETE /private/teams/{team_id}/sso/requirement',
      'DELETE /private/operators/{operator_id}',
    ]);
  });
});
