import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { OperatorRole } from '@tollgate/contracts/operator-roles';
import { basicAuthorization } from '@tollgate/http/private-api-credential';
import { freePort } from '@tollgate/stack/ports';
import { makePlan, subscribe } from '../../../test/suite/billing.ts';
import { startOperatedAccount } from '../../../test/suite/operated-account.ts';
import type { OperatedAccount } from '../../../test/suite/operated-account.ts';
import { operatePath, operatorCredentials } from '../../../test/suite/operator.ts';
import { callConsole, insertOperatorBrowser } from '../../../test/suite/operator-browser.ts';
import type { OperatorBrowser } from '../../../test/suite/operator-browser.ts';
import { insertPerson } from '../../../test/suite/people.ts';

/** docs/operators.md: what one operator asks for and another one must confirm. */

let suite: OperatedAccount;

const exempt = { id: 'suite-exempt', secret: randomUUID() };

beforeAll(async () => {
  const port = String(await freePort());
  suite = await startOperatedAccount({
    settings: {
      PRIVATE_PORT: port,
      OPERATORS_URL: `http://localhost:${port}/operator`,
      OPERATOR_CREDENTIALS: `${operatorCredentials} ${exempt.id}:${exempt.secret}`,
      FOUR_EYES_EXEMPT: exempt.id,
      FOUR_EYES_CREDIT_POINTS: '1000',
    },
  });
});

afterAll(() => suite.close());

beforeEach(() => suite.database('operators').delete());

type Operating = Awaited<ReturnType<typeof insertOperatorBrowser>>;

/** Who can sign in again: with a passkey. */
async function newOperator(role: OperatorRole = 'support'): Promise<Operating> {
  const operator = await insertOperatorBrowser(suite.database, role);
  await suite.database('operator_passkeys').insert({
    credential_id: randomUUID(),
    operator_id: operator.operator_id,
    public_key: Buffer.from('key'),
    sign_count: 0,
  });
  return operator;
}

const call = (browser: OperatorBrowser, method: string, path: string, body?: unknown, headers = {}) =>
  callConsole(suite.account, structuredClone(browser), method, path, body, {
    'x-reason': 'Ticket%207',
    ...headers,
  });

/** A customer with a second factor. */
async function newCustomer(): Promise<number> {
  const { account_id } = await insertPerson(suite.database);
  await suite.database('passkeys').insert({
    account_id,
    credential_id: randomUUID(),
    public_key: Buffer.from('key'),
    sign_count: 0,
    transports: [],
    name: 'Key',
  });
  return account_id;
}

const factorsOf = async (account_id: number) =>
  (await suite.database('passkeys').where({ account_id })).length;

const reset = ({ browser }: Operating, account_id: number) =>
  call(browser, 'POST', `/accounts/${String(account_id)}/reset-two-factor`);

const confirm = ({ browser }: Operating, act_id: unknown) =>
  call(browser, 'POST', `/pending-acts/${String(act_id)}/confirm`);

async function asked() {
  const [ada, grace] = [await newOperator(), await newOperator()];
  const account_id = await newCustomer();
  const { status, body } = await reset(ada, account_id);
  expect(status).toBe(202);
  expect(await factorsOf(account_id)).toBe(1);
  return { ada, grace, account_id, act_id: body['act_id'] };
}

const entriesOf = (account_id: number, action: string) =>
  suite.database('audit_log').where({ account_id, action }).select<Record<string, unknown>[]>();

describe('a second operator', () => {
  test('is needed as soon as there are two who could', async () => {
    const ada = await newOperator();
    await newOperator('viewer');
    await insertOperatorBrowser(suite.database, 'admin');
    const account_id = await newCustomer();
    expect((await reset(ada, account_id)).status).toBe(200);
    expect(await factorsOf(account_id)).toBe(0);
    await newOperator('admin');
    const other = await newCustomer();
    expect((await reset(ada, other)).status).toBe(202);
    expect(await factorsOf(other)).toBe(1);
  });

  test('carries it out, and the audit log has both names and the reason', async () => {
    const { ada, grace, account_id, act_id } = await asked();
    const listed = await call(grace.browser, 'GET', '/pending-acts');
    expect(listed.body['acts']).toMatchObject([
      {
        act_id,
        operation: 'resetTwoFactor',
        account_id,
        requested_by: ada.name,
        reason: 'Ticket 7',
        is_own: false,
      },
    ]);
    expect((await confirm(grace, act_id)).status).toBe(200);
    expect(await factorsOf(account_id)).toBe(0);
    expect(await entriesOf(account_id, 'two_factor_reset')).toMatchObject([
      {
        actor: `operator:person/${String(grace.operator_id)}`,
        details: {
          operator: { name: grace.name },
          requested_by: { operator_id: ada.operator_id, name: ada.name, issuer: null },
          operator_reason: 'Ticket 7',
        },
      },
    ]);
    expect(await entriesOf(account_id, 'operator_act_requested')).toMatchObject([
      { actor: `operator:person/${String(ada.operator_id)}`, details: { operation: 'resetTwoFactor' } },
    ]);
    expect((await confirm(grace, act_id)).status).toBe(404);
    expect((await call(grace.browser, 'GET', '/pending-acts')).body['acts']).toEqual([]);
  });

  test('and a third at once: one of them carries it out', async () => {
    const { grace, act_id, account_id } = await asked();
    const third = await newOperator('admin');
    const answers = await Promise.all([grace, third].map((one) => confirm(one, act_id)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    expect(await entriesOf(account_id, 'two_factor_reset')).toHaveLength(1);
  });

  test('declines it, or the first withdraws it', async () => {
    for (const who of ['ada', 'grace'] as const) {
      const { act_id, account_id, ...operators } = await asked();
      const declined = await call(operators[who].browser, 'DELETE', `/pending-acts/${String(act_id)}`);
      expect(declined.status).toBe(204);
      expect((await confirm(operators.grace, act_id)).status).toBe(404);
      expect(await factorsOf(account_id)).toBe(1);
      expect(await entriesOf(account_id, 'operator_act_declined')).toHaveLength(1);
    }
  });

  test('has a day', async () => {
    const { grace, act_id } = await asked();
    const [row] = await suite.database('pending_acts').where({ act_id }).select<Record<string, Date>[]>();
    expect(Number(row?.['expires_at']) - Number(row?.['requested_at'])).toBe(86_400_000);
    await suite.database('pending_acts').where({ act_id }).update({ expires_at: new Date() });
    expect((await confirm(grace, act_id)).status).toBe(404);
  });

  test('grants what one may not grant alone', async () => {
    const [ada, grace] = [await newOperator('finance'), await newOperator('admin')];
    await newOperator('support');
    const account_id = await newCustomer();
    const grant = (points: number) =>
      call(
        ada.browser,
        'POST',
        '/credits',
        { account_id, points, source: 'promotion' },
        {
          'idempotency-key': randomUUID(),
        },
      );
    expect((await grant(1_000)).status).toBe(201);
    const { status, body } = await grant(1_001);
    expect(status).toBe(202);
    expect(body).toMatchObject({ body: { points: 1_001 } });
    expect((await confirm(grace, body['act_id'])).status).toBe(201);
    expect(await entriesOf(account_id, 'credits_granted')).toMatchObject([
      { details: { points: 1_000 } },
      { details: { points: 1_001, requested_by: { name: ada.name } } },
    ]);
  });
});

describe('the limits of a plan that someone has', () => {
  async function newPlan(isUsed = true) {
    const plan_id = await makePlan(suite.account, {
      description: { points_limit: 1_000, rate_limit: 60, tier: 'gold' },
    });
    if (isUsed) await subscribe(suite.account, plan_id);
    const [row] = await suite
      .database('plans')
      .where({ plan_id })
      .select<Record<string, string>[]>('key', 'name');
    return { plan_id, key: row?.['key'] ?? '', name: row?.['name'] ?? '', path: `/plans/${String(plan_id)}` };
  }

  const described = async (plan_id: number) =>
    (await suite.database('plans').where({ plan_id }).pluck<Record<string, unknown>[]>('description'))[0];

  test.each([
    ['lowered', { points_limit: 999, rate_limit: 60 }],
    ['removed', { points_limit: 1_000 }],
    ['set where there was none', { points_limit: 1_000, rate_limit: 60, session_limit: 5 }],
  ])('are %s by two', async (_, description) => {
    const [ada, grace] = [await newOperator('admin'), await newOperator('admin')];
    const { plan_id, path } = await newPlan();
    const { status, body } = await call(ada.browser, 'PATCH', path, { description });
    expect([status, body['account_id'], body['plan_id']]).toEqual([202, null, plan_id]);
    expect(await described(plan_id)).toMatchObject({ points_limit: 1_000, rate_limit: 60 });
    expect((await confirm(grace, body['act_id'])).status).toBe(200);
    expect(await described(plan_id)).toEqual(description);
    const entries = await suite
      .database('audit_log')
      .where({ action: 'plan_changed' })
      .orderBy('audit_id', 'desc')
      .limit(1)
      .select<Record<string, unknown>[]>();
    expect(entries).toMatchObject([
      {
        actor: `operator:person/${String(grace.operator_id)}`,
        details: { plan_id, description, requested_by: { name: ada.name } },
      },
    ]);
  });

  test('are raised, and those of a plan without customers lowered, by one', async () => {
    const ada = await newOperator('admin');
    await newOperator('admin');
    const used = await newPlan();
    const raised = { description: { points_limit: 2_000, rate_limit: 60 }, name: used.name };
    expect((await call(ada.browser, 'PATCH', used.path, raised)).status).toBe(200);
    expect((await call(ada.browser, 'PATCH', used.path, { grace_sec: 0 })).status).toBe(200);
    const unused = await newPlan(false);
    expect((await call(ada.browser, 'PATCH', unused.path, { description: {} })).status).toBe(200);
  });

  test('are lowered by a file only by two, and not by a credential', async () => {
    const [ada, grace] = [await newOperator('admin'), await newOperator('admin')];
    const { plan_id, key } = await newPlan();
    const source = JSON.stringify({ plans: { [key]: { description: { points_limit: 5 } } } });
    const { status, body } = await call(ada.browser, 'POST', '/plans-as-code/apply', { source });
    expect([status, body['body']]).toEqual([202, { source }]);
    const path = '/private/plans-as-code/apply';
    expect(await operatePath(suite.account, 'POST', path, { source })).toMatchObject({
      status: 409,
      body: { code: 'second_operator_required' },
    });
    expect((await confirm(grace, body['act_id'])).status).toBe(200);
    expect(await described(plan_id)).toMatchObject({ points_limit: 5 });
    const lower = JSON.stringify({ plans: { [key]: { description: { points_limit: 4 } } } });
    const authorization = basicAuthorization(exempt);
    const exempted = await operatePath(suite.account, 'POST', path, { source: lower }, { authorization });
    expect(exempted.status).toBe(200);
  });

  test('are not lowered by a file that is too long for the second operator to read', async () => {
    const ada = await newOperator('admin');
    await newOperator('admin');
    const { plan_id, key } = await newPlan();
    const plans = JSON.stringify({ plans: { [key]: { description: { points_limit: 5 } } } });
    const source = `# ${'x'.repeat(20_000)}\n${plans}`;
    expect(await call(ada.browser, 'POST', '/plans-as-code/apply', { source })).toMatchObject({
      status: 413,
      body: { code: 'payload_too_large' },
    });
    expect(await suite.database('pending_acts')).toEqual([]);
    expect(await described(plan_id)).toMatchObject({ points_limit: 1_000 });
  });

  test('are not lowered once any plan has changed: it must be asked for again', async () => {
    const [ada, grace] = [await newOperator('admin'), await newOperator('admin')];
    const { plan_id, path } = await newPlan();
    const wanted = { description: { points_limit: 1 } };
    const { body } = await call(ada.browser, 'PATCH', path, wanted);
    await newPlan(false);
    expect(await confirm(grace, body['act_id'])).toMatchObject({
      status: 409,
      body: { code: 'act_outdated' },
    });
    expect(await described(plan_id)).toMatchObject({ points_limit: 1_000 });
    const again = await call(ada.browser, 'PATCH', path, wanted);
    expect((await confirm(grace, again.body['act_id'])).status).toBe(200);
  });
});

describe('an attack', () => {
  test('by the one who asked, also with another sign-in of theirs', async () => {
    const { ada, grace, act_id, account_id } = await asked();
    expect(await confirm(ada, act_id)).toMatchObject({ status: 403, body: { code: 'own_act' } });
    const { operator_id } = ada;
    const [email = ''] = await suite.database('operators').where({ operator_id }).pluck<string[]>('email');
    await suite
      .database('operators')
      .where({ operator_id: grace.operator_id })
      .update({ local_role: null, email: email.toUpperCase() });
    expect(await confirm(grace, act_id)).toMatchObject({ status: 403, body: { code: 'own_act' } });
    expect(await factorsOf(account_id)).toBe(1);
  });

  test('by the one who asked, with an identity of the provider that tells no address', async () => {
    const { ada, grace, act_id } = await asked();
    const ofProvider = { local_role: null, email: null };
    await suite.database('operators').where({ operator_id: grace.operator_id }).update(ofProvider);
    expect(await confirm(grace, act_id)).toMatchObject({ status: 403, body: { code: 'own_act' } });
    // Two whom the provider knows are two people.
    await suite.database('operators').where({ operator_id: ada.operator_id }).update(ofProvider);
    expect((await confirm(grace, act_id)).status).toBe(200);
  });

  test.each<OperatorRole>(['viewer', 'finance'])('by a %s, who may not do it', async (role) => {
    const { act_id, account_id } = await asked();
    const other = await newOperator(role);
    expect(await confirm(other, act_id)).toMatchObject({ status: 403, body: { code: 'insufficient_role' } });
    expect(await factorsOf(account_id)).toBe(1);
  });

  test('on an address: a second operator must confirm the change', async () => {
    const [ada, grace] = [await newOperator(), await newOperator()];
    const account_id = await newCustomer();
    const email = `${randomUUID()}@example.com`;
    const path = `/accounts/${String(account_id)}/email`;
    const { status, body } = await call(ada.browser, 'POST', path, { email });
    expect([status, body['body']]).toEqual([202, { email }]);
    expect(await suite.database('mail_outbox').where({ account_id })).toEqual([]);
    expect((await confirm(grace, body['act_id'])).status).toBe(200);
    expect(await entriesOf(account_id, 'email_change_requested')).toMatchObject([
      { details: { email, requested_by: { name: ada.name } } },
    ]);
  });

  test('by a credential: it neither confirms nor goes past it, unless it is exempt', async () => {
    const { act_id, account_id } = await asked();
    const path = `/private/accounts/${String(account_id)}/reset-two-factor`;
    expect(await operatePath(suite.account, 'POST', path)).toMatchObject({
      status: 409,
      body: { code: 'second_operator_required' },
    });
    for (const room of ['/private', '/operator/api']) {
      const tried = await operatePath(
        suite.account,
        'POST',
        `${room}/pending-acts/${String(act_id)}/confirm`,
      );
      expect([401, 404]).toContain(tried.status);
    }
    expect(await factorsOf(account_id)).toBe(1);
    const authorization = basicAuthorization(exempt);
    expect((await operatePath(suite.account, 'POST', path, undefined, { authorization })).status).toBe(200);
  });

  test('after the customer has changed: it is refused, and must be asked for again', async () => {
    const { ada, grace, act_id, account_id } = await asked();
    await suite.database('accounts').where({ account_id }).update({ name: 'Another' });
    expect(await confirm(grace, act_id)).toMatchObject({ status: 409, body: { code: 'act_outdated' } });
    expect(await factorsOf(account_id)).toBe(1);
    const again = await reset(ada, account_id);
    expect((await confirm(grace, again.body['act_id'])).status).toBe(200);
  });

  test('where the act fails, it waits on: both happen, or neither', async () => {
    const [ada, grace] = [await newOperator('admin'), await newOperator('admin')];
    const account_id = await newCustomer();
    const path = `/accounts/${String(account_id)}/deletion/carry-out`;
    const { status, body } = await call(ada.browser, 'POST', path);
    expect(status).toBe(202);
    expect((await confirm(grace, body['act_id'])).status).toBe(404);
    expect(await suite.database('pending_acts').where({ act_id: body['act_id'] })).toHaveLength(1);
  });

  test('by an admin who removes the others: the last second operator stays, unless the command removes them', async () => {
    const [ada, grace, joan] = [await newOperator('admin'), await newOperator(), await newOperator()];
    const pathOf = ({ operator_id }: Operating) => `/operators/${String(operator_id)}`;
    const remove = (one: Operating) => call(ada.browser, 'DELETE', pathOf(one));
    const answers = await Promise.all([grace, joan].map(remove));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 409]);
    const left = answers[0]?.status === 409 ? grace : joan;
    expect(await remove(left)).toMatchObject({ status: 409, body: { code: 'second_operator_required' } });
    expect((await remove(await newOperator('viewer'))).status).toBe(204);
    expect((await reset(ada, await newCustomer())).status).toBe(202);
    expect((await operatePath(suite.account, 'DELETE', `/private${pathOf(left)}`)).status).toBe(204);
    expect((await reset(ada, await newCustomer())).status).toBe(200);
  });

  test('with the removal of the one who asked, it no longer waits', async () => {
    const { ada, grace, act_id } = await asked();
    await suite.database('operators').where({ operator_id: ada.operator_id }).delete();
    expect((await confirm(grace, act_id)).status).toBe(404);
  });
});
