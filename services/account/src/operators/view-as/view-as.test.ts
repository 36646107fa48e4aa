import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { OperatorRole } from '@tollgate/contracts/operator-roles';
import type { Described } from '@tollgate/operation';
import { freePort } from '@tollgate/stack/ports';
import { waitFor } from '@tollgate/stack/wait-for';
import { makeOwnApplication } from '../../../test/suite/console.ts';
import { insertTeam } from '../../../test/suite/database/records.ts';
import { startOperatedAccount } from '../../../test/suite/operated-account.ts';
import type { OperatedAccount } from '../../../test/suite/operated-account.ts';
import { callConsole, insertOperatorBrowser } from '../../../test/suite/operator-browser.ts';
import type { OperatorBrowser } from '../../../test/suite/operator-browser.ts';
import { insertPerson, mailAbout, mailsTo, signedInBrowser } from '../../../test/suite/people.ts';
import type { Browser, Person } from '../../../test/suite/people.ts';
import { CUSTOMER_VIEW, NOT_VIEWED } from '../../api/customer-view.ts';
import { OPERATOR_CONSOLE_API } from '../../api/operator-console.ts';
import { OWNER_API } from '../../api/owner.ts';

/** docs/operators.md: viewing as a customer reads, and nothing else. */

let suite: OperatedAccount;
let origin: string;
let directory: string;
let mails: string;

beforeAll(async () => {
  const port = String(await freePort());
  origin = `http://localhost:${port}`;
  directory = mkdtempSync(join(tmpdir(), 'tollgate-view-'));
  mails = join(directory, 'mails');
  mkdirSync(mails);
  suite = await startOperatedAccount({
    settings: {
      PRIVATE_PORT: port,
      OPERATORS_URL: `${origin}/operator`,
      HOUSEKEEPING_INTERVAL_SEC: '1',
      MAIL_DIR: mails,
      TRUSTED_PROXIES: '127.0.0.0/8 ::1/128',
    },
  });
});

afterAll(async () => {
  await suite.close();
  rmSync(directory, { recursive: true });
});

type Customer = Person & { browser: Browser };

async function newCustomer(): Promise<Customer> {
  const person = await insertPerson(suite.database);
  return { ...person, browser: await signedInBrowser(suite.account, person) };
}

type Operating = Awaited<ReturnType<typeof insertOperatorBrowser>>;

const newOperator = (role: OperatorRole = 'support') => insertOperatorBrowser(suite.database, role);

const call = (
  browser: OperatorBrowser,
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => callConsole(suite.account, structuredClone(browser), method, path, body, headers);

const begin = (
  { browser }: Pick<Operating, 'browser'>,
  { account_id }: Pick<Person, 'account_id'>,
  { override = false, ...headers }: { override?: boolean } & Record<string, string | boolean> = {},
) =>
  call(
    browser,
    'POST',
    `/accounts/${String(account_id)}/view`,
    { override },
    {
      'x-reason': 'Ticket%207',
      ...(headers as Record<string, string>),
    },
  );

/** A request with the view's token. */
type Viewing = {
  operator: Operating;
  token: string;
  get: (path: string, headers?: Record<string, string>) => ReturnType<typeof call>;
};

async function view(customer: Customer, operator?: Operating): Promise<Viewing> {
  const by = operator ?? (await newOperator());
  const begun = await begin(by, customer);
  expect(begun.status).toBe(201);
  const token = String(begun.body['token']);
  return {
    operator: by,
    token,
    get: (path, headers) =>
      call(by.browser, 'GET', `/view${path}`, undefined, { 'x-view-token': token, ...headers }),
  };
}

const entriesOf = ({ account_id }: Pick<Person, 'account_id'>, action: string) =>
  suite
    .database('audit_log')
    .where({ account_id, action })
    .orderBy('audit_id')
    .select<Record<string, unknown>[]>();

const activityOf = async ({ browser }: Customer) =>
  (await browser.request('GET', '/activity')).body['activity'] as Record<string, unknown>[];

const ended = { status: 403, body: { code: 'view_ended' } };
const readOnly = { status: 403, body: { code: 'read_only' } };

describe('what an operator sees', () => {
  test('is what the customer sees, with beginning and end in their activity and each read in the audit log', async () => {
    const customer = await newCustomer();
    await makeOwnApplication(customer.browser, { name: 'ETL' });
    const { operator, get, token } = await view(customer);
    for (const path of ['/applications', '/two-factor', '/periods', '/invitations', '/alerts']) {
      const [seen, own] = await Promise.all([get(path), customer.browser.request('GET', path)]);
      expect(seen.status).toBe(200);
      expect(seen.body).toEqual(own.body);
    }
    expect((await get('/session')).body).toMatchObject({ account_id: customer.account_id });
    const actor = `operator:person/${String(operator.operator_id)}`;
    expect(await entriesOf(customer, 'customer_viewed')).toMatchObject([
      ...[
        'listApplications',
        'getTwoFactor',
        'listPeriods',
        'listInvitations',
        'getAlertSettings',
        'getSession',
      ].map((operation) => ({ actor, details: { operation, viewed_as: customer.account_id } })),
    ]);
    const own = await call(operator.browser, 'GET', '/view', undefined, { 'x-view-token': token });
    expect(own.body).toMatchObject({ account_id: customer.account_id, email: customer.email });
    expect(
      await call(operator.browser, 'DELETE', '/view', undefined, { 'x-view-token': token }),
    ).toMatchObject({
      status: 204,
    });
    expect(await get('/applications')).toMatchObject(ended);
    expect(await entriesOf(customer, 'customer_view_begun')).toMatchObject([
      { actor, details: { operator_reason: 'Ticket 7', viewed_as: customer.account_id, is_override: false } },
    ]);
    expect(await entriesOf(customer, 'customer_view_ended')).toMatchObject([
      { actor, details: { operator: { name: operator.name, issuer: null }, viewed_as: customer.account_id } },
    ]);
    const [last, first] = await activityOf(customer);
    expect([last, first]).toMatchObject([
      { action: 'customer_view_ended', by: 'operator', address: null },
      {
        action: 'customer_view_begun',
        by: 'operator',
        details: { expires_at: expect.any(String) as unknown },
      },
    ]);
  });

  test('leaves no trace in what the customer is told of sign-ins and use', async () => {
    const customer = await newCustomer();
    const of = { account_id: customer.account_id };
    const before = await suite.database('sessions').where(of);
    const { get } = await view(customer);
    for (const path of ['/session', '/sessions', '/applications', '/usage/operations', '/refusals']) {
      expect((await get(path)).status).toBe(200);
    }
    const listed = (await get('/sessions')).body['sessions'] as { current: boolean }[];
    expect(listed.map(({ current }) => current)).toEqual([false]);
    expect(await suite.database('sessions').where(of)).toEqual(before);
    expect(await entriesOf(customer, 'signed_in')).toHaveLength(1);
    expect(mailsTo(mails, customer.email)).toEqual([]);
    expect(
      await suite.database('audit_log').where({ actor: `account:${String(customer.account_id)}` }),
    ).toHaveLength(1);
  });

  test('contains no secret, in any read', async () => {
    const customer = await newCustomer();
    const { client_secret, application_id } = await makeOwnApplication(customer.browser);
    // Paths and parameters often hold a receiver's secret.
    const url = 'https://hooks.example.com/services/of-the-receiver?key=of-the-receiver';
    const { body: webhook } = await customer.browser.request('POST', '/webhooks', { url });
    expect(webhook).toMatchObject({ url });
    const { get, operator } = await view(customer);
    let answered = 0;
    for (const { path } of CUSTOMER_VIEW[0].operations) {
      const { status, body } = await get(
        path
          .replace('/operator/api/view', '')
          .replaceAll('{application_id}', String(application_id))
          .replaceAll('{webhook_id}', String(webhook['webhook_id']))
          .replaceAll(/\{\w+\}/g, '1'),
      );
      expect([200, 400, 404, 409]).toContain(status);
      if (status === 200) answered += 1;
      const text = JSON.stringify(body);
      expect(text).not.toContain(client_secret);
      expect(text).not.toContain('of-the-receiver');
      expect(text).not.toContain(operator.browser.cookies['tollgate_operator'] ?? '');
      expect(text).not.toMatch(/"(?:client_secret|access_token|refresh_token|secret|password_hash|token)":"/);
    }
    expect(answered).toBeGreaterThan(25);
    expect((await get('/webhooks')).body).toMatchObject({ webhooks: [{ url: 'https://hooks.example.com' }] });
  });
});

describe('an attack', () => {
  const routeOf = ({ method, path }: Described) => `${method} ${path}`;
  const ofCustomers: readonly Described[] = OWNER_API.flatMap(
    ({ operations }): readonly Described[] => operations,
  ).filter(({ path }) => path.startsWith('/api/console/'));
  const viewed = new Set(CUSTOMER_VIEW[0].operations.map(({ operationId }) => operationId));

  test('with an operation that isn’t in the list is read_only, whatever it is', async () => {
    const customer = await newCustomer();
    const { operator, token } = await view(customer);
    const others = ofCustomers.filter(({ operationId }) => !viewed.has(operationId));
    expect(others.length).toBeGreaterThan(100);
    for (const operation of others) {
      const path = operation.path.replace('/api/console/', '/view/').replaceAll(/\{\w+\}/g, '1');
      const body = operation.method === 'GET' ? undefined : {};
      const answer = await call(operator.browser, operation.method, path, body, { 'x-view-token': token });
      // A path can have a read in the list beside the change.
      expect({ route: routeOf(operation), ...answer }).toMatchObject(readOnly);
    }
    expect(Object.keys(NOT_VIEWED)).toEqual(
      expect.arrayContaining(
        others.filter(({ method }) => method === 'GET').map(({ operationId }) => operationId),
      ),
    );
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      for (const { path } of CUSTOMER_VIEW[0].operations) {
        const url = path.replace('/operator/api', '').replaceAll(/\{\w+\}/g, '1');
        expect(await call(operator.browser, method, url, {}, { 'x-view-token': token })).toMatchObject(
          readOnly,
        );
      }
    }
    expect(await entriesOf(customer, 'customer_viewed')).toEqual([]);
  });

  test('with the view’s token as a session of the customer, or as anything else there, is refused', async () => {
    const customer = await newCustomer();
    const { token, operator } = await view(customer);
    for (const headers of [
      { cookie: `tollgate_session=${token}` },
      { cookie: `__Host-tollgate_session=${token}` },
      { authorization: `Bearer ${token}` },
      {
        'x-view-token': token,
        cookie: `tollgate_operator=${operator.browser.cookies['tollgate_operator'] ?? ''}`,
      },
    ]) {
      const response = await fetch(`${suite.account.publicUrl}/api/console/session`, { headers });
      expect(response.status).toBe(401);
    }
  });

  test('from another origin is refused, beginning and reading', async () => {
    const customer = await newCustomer();
    const operator = await newOperator();
    for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
      expect((await begin(operator, customer, headers)).body).toMatchObject({ code: 'forbidden' });
    }
    const { get } = await view(customer, operator);
    for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'same-site' }]) {
      expect((await get('/applications', headers)).body).toMatchObject({ code: 'forbidden' });
    }
    expect((await begin(operator, customer, { 'x-csrf-token': 'x' })).body).toMatchObject({
      code: 'csrf_token_required',
    });
    expect((await get('/applications', { 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  });

  test.each<[OperatorRole, number]>([
    ['viewer', 403],
    ['finance', 403],
    ['support', 201],
    ['admin', 201],
  ])('by a %s is answered %i', async (role, status) => {
    const customer = await newCustomer();
    const operator = await newOperator(role);
    const { body, ...answer } = await begin(operator, customer);
    expect(answer.status).toBe(status);
    if (status === 201) return;
    expect(body).toMatchObject({ code: 'insufficient_role' });
    const stolen = await view(customer);
    for (const path of ['', '/applications']) {
      const headers = { 'x-view-token': stolen.token };
      expect((await call(operator.browser, 'GET', `/view${path}`, undefined, headers)).body).toMatchObject({
        code: 'insufficient_role',
      });
    }
  });

  test('without a session, with another operator’s, or without the token is refused', async () => {
    const { token, operator } = await view(await newCustomer());
    const headers = { 'x-view-token': token };
    expect((await call({}, 'GET', '/view/applications', undefined, headers)).status).toBe(401);
    const other = await newOperator('admin');
    expect(await call(other.browser, 'GET', '/view/applications', undefined, headers)).toMatchObject(ended);
    for (const wrong of [undefined, 'short', `${token.slice(0, -2)}AA`]) {
      const sent = wrong === undefined ? {} : { 'x-view-token': wrong };
      expect(await call(operator.browser, 'GET', '/view/applications', undefined, sent)).toMatchObject(ended);
    }
  });

  test('needs a reason', async () => {
    const answer = await begin(await newOperator(), await newCustomer(), { 'x-reason': '' });
    expect(answer.body).toMatchObject({ code: 'invalid_request' });
  });
});

describe('a view ends', () => {
  test('after 15 minutes, with an entry of that time', async () => {
    const customer = await newCustomer();
    const { get, operator } = await view(customer);
    const row = { operator_id: operator.operator_id };
    const found: unknown = await suite.database('operator_views').where(row).first();
    const { began_at, expires_at } = found as { began_at: Date; expires_at: Date };
    expect(expires_at.getTime() - began_at.getTime()).toBe(900_000);
    const past = new Date(Date.now() - 1_000);
    await suite.database('operator_views').where(row).update({ expires_at: past });
    expect(await get('/applications')).toMatchObject(ended);
    await waitFor(async () => (await entriesOf(customer, 'customer_view_ended')).length === 1);
    expect(await entriesOf(customer, 'customer_view_ended')).toMatchObject([{ at: past }]);
  });

  test('with the session that began it, and with the operator', async () => {
    const customer = await newCustomer();
    const { get, operator } = await view(customer);
    expect((await call(operator.browser, 'DELETE', '/session')).status).toBe(200);
    expect((await get('/applications')).status).toBe(401);
    expect(await entriesOf(customer, 'customer_view_ended')).toHaveLength(1);
    const second = await view(customer);
    await suite.database('operators').where({ operator_id: second.operator.operator_id }).delete();
    expect((await second.get('/applications')).status).toBe(401);
    expect(await entriesOf(customer, 'customer_view_ended')).toHaveLength(2);
  });

  test('when the operator begins it again; of two at a time, one goes on', async () => {
    const customer = await newCustomer();
    const first = await view(customer);
    const answers = await Promise.all([1, 2].map(() => begin(first.operator, customer)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    const statuses = await Promise.all(
      [first.token, ...answers.map(({ body }) => String(body['token']))].map(
        async (token) =>
          (await call(first.operator.browser, 'GET', '/view', undefined, { 'x-view-token': token })).status,
      ),
    );
    expect(statuses.toSorted()).toEqual([200, 403, 403]);
    expect(await entriesOf(customer, 'customer_view_ended')).toHaveLength(2);
    // Another customer's, and another operator's, go on beside it.
    await view(await newCustomer(), first.operator);
    await view(customer);
    expect(await entriesOf(customer, 'customer_view_ended')).toHaveLength(2);
  });
});

describe('a customer', () => {
  const forbid = ({ browser }: Customer, is_allowed = false) =>
    browser.request('PUT', '/operator-views', { is_allowed });

  test('can forbid it, which ends a view at once; support is refused', async () => {
    const customer = await newCustomer();
    const { get, operator } = await view(customer);
    expect((await forbid(customer)).body).toEqual({ is_allowed: false, is_allowed_by_manager: true });
    expect(await get('/applications')).toMatchObject(ended);
    for (const override of [false, true]) {
      expect(await begin(operator, customer, { override })).toMatchObject({
        status: 403,
        body: { code: 'view_forbidden' },
      });
    }
    expect((await activityOf(customer))[0]).toMatchObject({ action: 'operator_views_set', by: 'you' });
    await forbid(customer, true);
    expect((await begin(operator, customer)).status).toBe(201);
    expect(mailsTo(mails, customer.email)).toEqual([]);
  });

  test('is told by mail when an admin overrides it, with the reason', async () => {
    const customer = await newCustomer();
    await forbid(customer);
    const admin = await newOperator('admin');
    expect((await begin(admin, customer)).body).toMatchObject({ code: 'view_forbidden' });
    const begun = await begin(admin, customer, { override: true });
    expect(begun.status).toBe(201);
    const headers = { 'x-view-token': String(begun.body['token']) };
    expect((await call(admin.browser, 'GET', '/view/applications', undefined, headers)).status).toBe(200);
    const mail = await mailAbout(mails, customer.email, '[Tollgate] Support viewed your account');
    expect(mail.text).toContain('Ticket 7');
    expect(await entriesOf(customer, 'customer_view_begun')).toMatchObject([
      { details: { is_override: true } },
    ]);
  });

  test('who manages a team can forbid it for its members', async () => {
    const [manager, member] = [await newCustomer(), await newCustomer()];
    await insertTeam(suite.database, manager.account_id, member.account_id);
    const { get } = await view(member);
    await forbid(manager);
    expect(await get('/applications')).toMatchObject(ended);
    expect((await member.browser.request('GET', '/operator-views')).body).toEqual({
      is_allowed: true,
      is_allowed_by_manager: false,
    });
    expect((await begin(await newOperator(), member)).body).toMatchObject({ code: 'view_forbidden' });
  });
});

describe('only admins view', () => {
  const operators = async () => [await newOperator('support'), await newOperator('admin')];

  test('an account that is being deleted', async () => {
    const customer = await newCustomer();
    const { get } = await view(customer);
    await suite
      .database('accounts')
      .where({ account_id: customer.account_id })
      .update({ deletion_requested_at: new Date(), deletion_due_at: new Date(Date.now() + 3_600_000) });
    expect((await get('/session')).body).toMatchObject({ code: 'insufficient_role' });
    const answers = await Promise.all((await operators()).map((one) => begin(one, customer)));
    expect(answers.map(({ status }) => status)).toEqual([403, 201]);
  });

  test('the account of an operator, which has their address', async () => {
    const customer = await newCustomer();
    const email = customer.email.toUpperCase();
    await suite.database('operators').insert({ name: 'Of an identity provider', email });
    const answers = await Promise.all((await operators()).map((one) => begin(one, customer)));
    expect(answers.map(({ status }) => status)).toEqual([403, 201]);
    expect((await begin(await newOperator('admin'), { account_id: 1_000_000 })).status).toBe(404);
  });
});

test('the reads of a view are no operations of the documented console', () => {
  const documented = new Set(
    OPERATOR_CONSOLE_API.flatMap(({ operations }) => operations.map(({ path }) => path)),
  );
  for (const { path } of CUSTOMER_VIEW[0].operations) expect(documented.has(path)).toBe(false);
});
