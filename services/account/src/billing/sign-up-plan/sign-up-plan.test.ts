import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { waitFor } from '@tollgate/stack/wait-for';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import { done, makePlan, periodsOf } from '../../../test/suite/billing.ts';
import { newOwner } from '../../../test/suite/console.ts';
import { operatorCredentials } from '../../../test/suite/operator.ts';
import { nthMail, openBrowser, startPeople } from '../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../test/suite/people.ts';
import { inviteTo, makeTeam } from '../../../test/suite/team.ts';

/** The plan of SIGN_UP_PLAN starts when a signed-up account's address is verified, once. */

const TRIAL_DAYS = 14;
const PASSWORD = 'a good long one';

let suite: PeopleUnderTest;
let planId: number;

beforeAll(async () => {
  suite = await startPeople({
    OPERATOR_CREDENTIALS: operatorCredentials,
    SIGN_UP_PLAN: 'Trial of the suite',
    SIGN_UP_PLAN_DAYS: String(TRIAL_DAYS),
    MAIL_REQUESTS_PER_ADDRESS: '1000',
  });
  planId = await makePlan(suite.account, { name: 'Trial of the suite' });
});

afterAll(async () => {
  await suite.close();
});

const verifyBody = (token: string | undefined) => ({ token, password: PASSWORD });

async function signedUp(): Promise<{ email: string; token: string | undefined }> {
  const email = `new-${randomUUID()}@example.com`;
  await openBrowser(suite.account).request('POST', '/sign-up', { email, name: 'Ada' });
  return { email, token: (await nthMail(suite.mailDirectory, email)).token };
}

async function verified(account: Parameters<typeof openBrowser>[0] = suite.account) {
  const person = await signedUp();
  const { status } = await openBrowser(account).request('POST', '/verify-email', verifyBody(person.token));
  expect(status).toBe(200);
  return { ...person, account_id: await accountOf(person.email) };
}

async function accountOf(email: string): Promise<number> {
  const row = await suite.database('accounts').where({ email }).first<{ account_id: number } | undefined>();
  if (row === undefined) throw new Error('no account');
  return row.account_id;
}

/** Lets what waits for its next attempt have it now. */
const retryNow = () =>
  suite
    .database('sign_up_plans')
    .whereNull('settled_at')
    .update({ next_attempt_at: new Date(0) });

const settled = (account_id: number) =>
  waitFor(
    async () => {
      await retryNow();
      return suite.database('sign_up_plans').where({ account_id }).whereNotNull('settled_at').first<object>();
    },
    { what: 'the sign-up plan to be settled' },
  );

test('the plan is active at once, for the days of the setting, with an audit entry', async () => {
  const { account_id, email } = await verified();
  const [period, ...others] = await periodsOf(suite.account, account_id);
  expect([others, period]).toEqual([
    [],
    expect.objectContaining({ plan_id: planId, status: 'active', subscription_id: null }),
  ]);
  const lengthMs = Date.parse(period?.ended_at ?? '') - Date.parse(period?.started_at ?? '');
  expect(lengthMs).toBe(TRIAL_DAYS * 86_400_000 - 1_000);
  expect(
    await suite.database('audit_log').where({ account_id, action: 'period_created' }).select('actor'),
  ).toEqual([{ actor: 'sign-up' }]);
  const browser = openBrowser(suite.account);
  await browser.request('POST', '/session', { email, password: PASSWORD });
  expect((await browser.request('GET', '/subscription')).body).toMatchObject({
    status: 'active',
    subscription: null,
    billing_period: { plan_id: planId, is_trial: true },
  });
});

test('is offered at the sign-up, as it is sold', async () => {
  const offered = async () => (await openBrowser(suite.account).request('GET', '/sign-up')).body;
  const offer = { plan_name: 'Trial of the suite', points_limit: 1_000, days: TRIAL_DAYS };
  expect(await offered()).toEqual({ enabled: true, offer });
  await done(suite.account, 'POST', `/private/plans/${String(planId)}/archive`);
  try {
    expect(await offered()).toEqual({ enabled: true, offer: null });
  } finally {
    await done(suite.account, 'POST', `/private/plans/${String(planId)}/restore`);
  }
});

test('a link used twice, at two replicas at once, starts one plan', async () => {
  const replica = await startServiceProcess('account', suite.settings);
  try {
    await becomeReady(replica);
    for (let round = 0; round < 3; round += 1) {
      const { email, token } = await signedUp();
      const answers = await Promise.all(
        [suite.account, replica, suite.account, replica].map((account) =>
          openBrowser(account).request('POST', '/verify-email', verifyBody(token)),
        ),
      );
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400]);
      const account_id = await accountOf(email);
      await settled(account_id);
      expect(await periodsOf(suite.account, account_id)).toHaveLength(1);
    }
  } finally {
    await replica.stop();
  }
});

test('a change of address, or a second look by the worker, starts nothing again', async () => {
  const { account_id, email } = await verified();
  await suite.database('billing_periods').where({ account_id }).delete();
  const browser = openBrowser(suite.account);
  await browser.request('POST', '/session', { email, password: PASSWORD });
  const changed = `changed-${randomUUID()}@example.com`;
  const wanted = { email: changed, current_password: PASSWORD };
  expect((await browser.request('POST', '/account/email', wanted)).status).toBe(202);
  const { token } = await nthMail(suite.mailDirectory, changed);
  expect((await browser.request('POST', '/verify-email', { token })).status).toBe(200);
  // Another account that gets its plan shows that the worker has looked.
  await settled((await verified()).account_id);
  expect(await periodsOf(suite.account, account_id)).toEqual([]);
});

test('an invited account waits: declining starts the plan, accepting does not', async () => {
  const manager = await newOwner(suite);
  await makeTeam(manager);
  const [declining, accepting] = [await signedUp(), await signedUp()];
  for (const { email } of [declining, accepting]) await inviteTo(manager, { email });
  for (const [{ email, token }, answer] of [
    [declining, 'decline'],
    [accepting, 'accept'],
  ] as const) {
    const browser = openBrowser(suite.account);
    await browser.request('POST', '/verify-email', verifyBody(token));
    const account_id = await accountOf(email);
    expect(await periodsOf(suite.account, account_id)).toEqual([]);
    await browser.request('POST', '/session', { email, password: PASSWORD });
    const { body } = await browser.request('GET', '/invitations');
    const [invitation] = body['invitations'] as { invitation_id: number }[];
    await browser.request('POST', `/invitations/${String(invitation?.invitation_id)}/${answer}`);
    await settled(account_id);
    expect(await periodsOf(suite.account, account_id)).toHaveLength(answer === 'decline' ? 1 : 0);
  }
});

test('an account that operators made, and one that signed up before the setting, get none', async () => {
  const made = await newOwner(suite);
  await settled((await verified()).account_id);
  expect(await periodsOf(suite.account, made.account_id)).toEqual([]);
});

describe('a plan that is missing', () => {
  let plan: string;
  beforeEach(() => {
    plan = `Later ${randomUUID()}`;
  });

  test('is logged at start and counted, breaks no verification, and starts once it is there', async () => {
    const settings = { ...suite.settings, SIGN_UP_PLAN: plan, SIGN_UP_PLAN_DAYS: '0' };
    const late = await startServiceProcess('account', settings);
    try {
      await becomeReady(late);
      await waitFor(() => late.logs().includes('the plan of SIGN_UP_PLAN does not exist'), {
        what: 'the log of the missing plan',
      });
      const metrics = await (await fetch(`${late.privateUrl}/metrics`)).text();
      expect(metrics).toMatch(/^tollgate_sign_up_plan_missing(\{.*\})? 1$/m);
      // The suite's own process would start its plan, which exists.
      await done(suite.account, 'POST', `/private/plans/${String(planId)}/archive`);
      const { account_id } = await verified(late);
      expect(await periodsOf(suite.account, account_id)).toEqual([]);
      const later = await makePlan(suite.account, { name: plan });
      await settled(account_id);
      expect(await periodsOf(suite.account, account_id)).toMatchObject([
        { plan_id: later, subscription_id: expect.any(Number) },
      ]);
    } finally {
      await done(suite.account, 'POST', `/private/plans/${String(planId)}/restore`);
      await late.stop();
    }
  });
});
