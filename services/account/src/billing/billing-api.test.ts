import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { entitlementSchema } from '@tollgate/contracts/entitlement';
import { basicAuthorization } from '@tollgate/http/private-api-credential';
import { serviceCredential } from '@tollgate/testbed/service-process';
import { done, makeAccount, makePlan, periodsOf, subscribe } from '../../test/suite/billing.ts';
import { operatePath } from '../../test/suite/operator.ts';
import { startOperatedAccount } from '../../test/suite/operated-account.ts';
import type { OperatedAccount } from '../../test/suite/operated-account.ts';
import { insertTeam, secondsFromNow } from '../../test/suite/database/records.ts';
import { getPrivate } from '../../test/suite/requests.ts';

let suite: OperatedAccount;

beforeAll(async () => {
  suite = await startOperatedAccount();
});

afterAll(async () => {
  await suite.close();
});

const call = (method: string, path: string, body?: unknown) => operatePath(suite.account, method, path, body);
const plan = (changes?: Record<string, unknown>) => makePlan(suite.account, changes);
const fieldsOf = (body: Record<string, unknown>) =>
  (body['errors'] as { field: string }[]).map(({ field }) => field).toSorted();

async function entitlement(accountId: number) {
  const response = await getPrivate(suite.account, `/private/entitlements/${String(accountId)}`);
  return entitlementSchema.parse(await response.json());
}

async function periodAround(beforeSec: number, afterSec: number, plan_id: number) {
  const account_id = await makeAccount(suite.account);
  const text = (second: Date) => second.toISOString().replace('.000Z', 'Z');
  const wanted = {
    account_id,
    plan_id,
    started_at: text(secondsFromNow(-beforeSec)),
    ended_at: text(secondsFromNow(afterSec)),
  };
  const period = await done<{ period_id: number }>(suite.account, 'POST', '/private/periods', wanted);
  return { ...period, account_id, wanted, path: `/private/periods/${String(period.period_id)}` };
}

test('every path is closed to a service’s credential and to none, and has its methods', async () => {
  for (const [path, allowed] of [
    ['/private/products', 'GET, HEAD, POST'],
    ['/private/products/1', 'GET, HEAD, PATCH'],
    ['/private/plans', 'GET, HEAD, POST'],
    ['/private/plans/1', 'GET, HEAD, PATCH'],
    ['/private/plans/1/archive', 'POST'],
    ['/private/plans/1/restore', 'POST'],
    ['/private/accounts', 'GET, HEAD, POST'],
    ['/private/accounts/1', 'GET, HEAD'],
    ['/private/accounts/1/block', 'POST'],
    ['/private/accounts/1/unblock', 'POST'],
    ['/private/periods', 'GET, HEAD, POST'],
    ['/private/periods/1', 'GET, HEAD, PATCH, DELETE'],
    ['/private/periods/1/end', 'POST'],
    ['/private/periods/1/block', 'POST'],
    ['/private/periods/1/unblock', 'POST'],
    ['/private/periods/1/team-slots', 'POST'],
    ['/private/subscriptions', 'GET, HEAD, POST'],
    ['/private/subscriptions/1', 'GET, HEAD'],
    ['/private/subscriptions/1/change-plan', 'POST'],
    ['/private/subscriptions/1/cancel', 'POST'],
    ['/private/subscriptions/1/resume', 'POST'],
    ['/private/subscriptions/1/team-slots', 'POST'],
    ['/private/teams', 'GET, HEAD, POST'],
    ['/private/teams/1', 'GET, HEAD, DELETE'],
    ['/private/teams/1/members', 'POST'],
    ['/private/teams/1/members/1', 'DELETE'],
    ['/private/applications', 'GET, HEAD, POST'],
    ['/private/applications/1', 'GET, HEAD, PATCH, DELETE'],
    ['/private/audit-log', 'GET, HEAD'],
    ['/private/usage-checks', 'POST'],
    ['/private/usage-rebuilds', 'POST'],
  ]) {
    const url = `${suite.account.privateUrl}${path ?? ''}`;
    const asService = { authorization: basicAuthorization(serviceCredential) };
    const refused = await Promise.all([fetch(url, { headers: asService }), fetch(url)]);
    expect([path, ...refused.map(({ status }) => status)]).toEqual([path, 401, 401]);
    const other = await call('PUT', path ?? '');
    expect([path, other.status, other.headers.get('allow')]).toEqual([path, 405, allowed]);
    expect(other.headers.get('cache-control')).toBe('no-store');
  }
});

describe('plans', () => {
  test('keep any attributes as they were sent, and belong to a product', async () => {
    const name = randomUUID();
    const product = await done<{ product_id: number }>(suite.account, 'POST', '/private/products', { name });
    const { product_id } = product;
    const description = { rate_limit: 60, points_limit: null, 'Ünï 🚪': [1, { a: [] }], on: false };
    const plan_id = await plan({ description, product_id, grace_sec: 0 });
    const path = `/private/plans/${String(plan_id)}`;
    expect(await done(suite.account, 'GET', path)).toMatchObject({
      plan_id,
      product_id,
      description,
      grace_sec: 0,
      archived_at: null,
    });
    const renamed = randomUUID();
    await done(suite.account, 'PATCH', `/private/products/${String(product_id)}`, { name: renamed });
    expect(await done(suite.account, 'GET', `/private/products/${String(product_id)}`)).toMatchObject({
      name: renamed,
    });
    expect((await call('POST', '/private/products', { name: renamed })).body['code']).toBe('name_taken');
  });

  test.each([
    [{ name: ' ', description: [] }, ['description', 'name']],
    [
      { name: 'x', description: { points_limit: -1, rate_limit: 1.5, session_limit: '3' } },
      ['description.points_limit', 'description.rate_limit', 'description.session_limit'],
    ],
    [
      { name: 'x', description: { points_per_call_limit: -1, graphql_introspection: 'off' } },
      ['description.graphql_introspection', 'description.points_per_call_limit'],
    ],
    [{ name: 'x', description: { a: 'NUL \0' } }, ['description']],
    [{ name: 'x', description: { '\ud800': 1 } }, ['description']],
    [{ name: 'x', description: {}, grace_sec: 2_147_483_648 }, ['grace_sec']],
    [{ name: 'x', description: {}, product_id: 999_999 }, ['product_id']],
  ])('that are faulty are refused: %j', async (wanted, fields) => {
    const { status, body } = await call('POST', '/private/plans', wanted);
    expect([status, fieldsOf(body)]).toEqual([400, fields]);
  });

  test('with an attribute that looks like a mistyped limit are refused, unless that is meant', async () => {
    const description = { point_limit: 5, maxSessions: 1, support: 'e-mail', rate_limit: 60 };
    const wanted = { name: randomUUID(), description };
    const errors = [
      ['description.point_limit', 'points_limit'],
      ['description.maxSessions', 'session_limit'],
    ].map(([field = '', limit = '']) => ({
      field,
      message: `is not a limit; did you mean ${limit}? Set allow_unknown to keep it`,
    }));
    const refused = await call('POST', '/private/plans', wanted);
    expect([refused.status, refused.body['errors']]).toEqual([400, errors]);
    const made = await call('POST', '/private/plans', { ...wanted, allow_unknown: true });
    expect([made.status, made.body['description']]).toEqual([201, description]);
    const path = `/private/plans/${String(made.body['plan_id'])}`;
    expect((await call('PATCH', path, { description })).body['errors']).toEqual(errors);
    expect((await call('PATCH', path, { description, allow_unknown: true })).status).toBe(200);
    expect((await call('PATCH', path, { grace_sec: 1 })).status).toBe(200);
  });

  test('that change leave a period that has started as it was sold', async () => {
    const plan_id = await plan({ description: { points_limit: 1 }, grace_sec: 60 });
    const { account_id } = await subscribe(suite.account, plan_id);
    const path = `/private/plans/${String(plan_id)}`;
    const changed = { description: { points_limit: 2 }, grace_sec: 0, product_id: null, name: randomUUID() };
    expect(await done(suite.account, 'PATCH', path, changed)).toMatchObject(changed);
    expect(await periodsOf(suite.account, account_id)).toMatchObject([
      { description: { points_limit: 1 }, grace_sec: 60 },
    ]);
    const later = await subscribe(suite.account, plan_id);
    expect(await periodsOf(suite.account, later.account_id)).toMatchObject([
      { description: { points_limit: 2 }, grace_sec: 0 },
    ]);
  });

  test('whose names meet are refused, also when both come at once, and archived ones can be restored', async () => {
    const wanted = { name: randomUUID(), description: {} };
    const answers = await Promise.all([1, 2].map(() => call('POST', '/private/plans', wanted)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    const path = `/private/plans/${String(await plan())}`;
    expect((await call('PATCH', path, { name: wanted.name })).body['code']).toBe('name_taken');
    const archived = await done<{ archived_at: string }>(suite.account, 'POST', `${path}/archive`);
    expect(Date.parse(archived.archived_at)).toBeLessThanOrEqual(Date.now());
    expect(await done(suite.account, 'POST', `${path}/restore`)).toMatchObject({ archived_at: null });
  });
});

describe('accounts', () => {
  test('are made without a password, found by address in any case, and shown with where they stand', async () => {
    const email = `${randomUUID()}@Example.com`;
    const made = await call('POST', '/private/accounts', { email, name: 'Ada' });
    expect([made.status, JSON.stringify(made.body)]).toEqual([201, expect.not.stringContaining('password')]);
    const account_id = Number(made.body['account_id']);
    const taken = await call('POST', '/private/accounts', { email: email.toUpperCase(), name: 'Eve' });
    expect([taken.status, taken.body['code']]).toEqual([409, 'email_taken']);
    const found = await done(suite.account, 'GET', `/private/accounts?email=${email.toLowerCase()}`);
    expect(found).toMatchObject({ accounts: [{ account_id, name: 'Ada' }], next_cursor: null });

    const path = `/private/accounts/${String(account_id)}`;
    const alone = { team: null, payer_id: account_id, status: 'none', billing_period: null };
    expect(await done(suite.account, 'GET', path)).toMatchObject(alone);
    const manager = await subscribe(suite.account, await plan());
    await insertTeam(suite.database, manager.account_id, account_id);
    const [period] = await periodsOf(suite.account, manager.account_id);
    expect(await done(suite.account, 'GET', path)).toMatchObject({
      team: { role: 'member' },
      payer_id: manager.account_id,
      subscription_id: null,
      status: 'active',
      billing_period: { period_id: period?.period_id },
    });
  });

  test('that are blocked are so at once, and the block can be lifted', async () => {
    const { account_id } = await subscribe(suite.account, await plan());
    const path = `/private/accounts/${String(account_id)}`;
    await done(suite.account, 'POST', `${path}/block`);
    expect((await entitlement(account_id)).status).toBe('blocked');
    const [period] = await periodsOf(suite.account, account_id);
    expect(period).toMatchObject({ status: 'blocked', blocked_at: null });
    await done(suite.account, 'POST', `${path}/unblock`);
    expect((await entitlement(account_id)).status).toBe('active');
    expect((await call('POST', '/private/accounts/999999/block')).status).toBe(404);
  });
});

describe('periods by hand', () => {
  test('may not overlap, nor come beside a subscription, nor end before they begin', async () => {
    const plan_id = await plan();
    const { wanted, account_id } = await periodAround(10, 100, plan_id);
    expect((await call('POST', '/private/periods', wanted)).body['code']).toBe('periods_overlap');
    const subscriber = await subscribe(suite.account, plan_id);
    const beside = { ...wanted, account_id: subscriber.account_id };
    expect((await call('POST', '/private/periods', beside)).body['code']).toBe('subscription_exists');
    const backwards = { ...wanted, started_at: wanted.ended_at, ended_at: wanted.started_at };
    expect(fieldsOf((await call('POST', '/private/periods', backwards)).body)).toEqual(['ended_at']);
    const fuzzy = { ...wanted, started_at: '2026-07-01T00:00:00.5Z', ended_at: '2026-07-01' };
    expect(fieldsOf((await call('POST', '/private/periods', fuzzy)).body)).toEqual([
      'ended_at',
      'started_at',
    ]);
    expect(await periodsOf(suite.account, account_id)).toHaveLength(1);
  });

  test('end now without a grace window, once', async () => {
    const { path, account_id } = await periodAround(100, 100, await plan());
    expect(await done(suite.account, 'POST', `${path}/end`)).toMatchObject({
      status: 'expired',
      grace_sec: 0,
    });
    expect((await entitlement(account_id)).status).toBe('expired');
    expect((await call('POST', `${path}/end`)).body['code']).toBe('period_not_active');
    expect((await call('DELETE', path)).body['code']).toBe('period_started');
  });

  test('can be taken back before they start; those of a subscription cannot', async () => {
    const plan_id = await plan();
    const { path, account_id } = await periodAround(-100, 200, plan_id);
    expect(await done(suite.account, 'GET', path)).toMatchObject({ status: null });
    expect((await call('POST', `${path}/end`)).body['code']).toBe('period_not_active');
    expect((await call('DELETE', path)).status).toBe(204);
    expect(await periodsOf(suite.account, account_id)).toEqual([]);
    const { account_id: subscriber } = await subscribe(suite.account, plan_id);
    const [period] = await periodsOf(suite.account, subscriber);
    const own = await call('POST', `/private/periods/${String(period?.period_id)}/end`);
    expect(own.body['code']).toBe('subscription_exists');
  });

  test('take a block and team slots, which reach the entitlement', async () => {
    const { path, account_id } = await periodAround(100, 100, await plan());
    await done(suite.account, 'POST', `${path}/block`);
    expect((await entitlement(account_id)).status).toBe('blocked');
    await done(suite.account, 'POST', `${path}/unblock`);
    await done(suite.account, 'POST', `${path}/team-slots`, { team_slots_limit: 3 });
    expect(await entitlement(account_id)).toMatchObject({
      status: 'active',
      billing_period: { limits: { team_slots_limit: 3 } },
    });
    expect(fieldsOf((await call('POST', `${path}/team-slots`, { team_slots_limit: -1 })).body)).toEqual([
      'team_slots_limit',
    ]);
  });
});

describe('lists', () => {
  test('show every item once over their pages, newest first', async () => {
    for (const name of ['products', 'plans', 'accounts', 'periods', 'subscriptions', 'audit-log'] as const) {
      const key = name === 'audit-log' ? 'entries' : name;
      const id = { products: 'product_id', plans: 'plan_id', accounts: 'account_id', periods: 'period_id' };
      const idName = { ...id, subscriptions: 'subscription_id', 'audit-log': 'audit_id' }[name];
      const seen: number[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
        const { body } = await call('GET', `/private/${name}?limit=7${query}`);
        const items = body[key] as Record<string, number>[];
        seen.push(...items.map((item) => item[idName] ?? Number.NaN));
        cursor = body['next_cursor'] as string | null;
      }
      const tables: Record<string, string> = { 'audit-log': 'audit_log', periods: 'billing_periods' };
      const table = tables[name] ?? name;
      const stored = await suite.database(table).orderBy(idName, 'desc').pluck<number[]>(idName);
      expect([name, seen]).toEqual([name, stored]);
    }
  });

  test('refuse what is no page, naming all faults', async () => {
    const { status, body } = await call('GET', '/private/periods?limit=0&cursor=x&account_id=-1&odd=1');
    expect([status, fieldsOf(body)]).toEqual([400, ['account_id', 'cursor', 'limit', 'odd']]);
  });

  test('of the audit log go by account, by application and by actor', async () => {
    const { account_id } = await subscribe(suite.account, await plan());
    const entries = async (query: string) =>
      (
        await done<{ entries: Record<string, unknown>[] }>(
          suite.account,
          'GET',
          `/private/audit-log?${query}`,
        )
      ).entries;
    const own = await entries(`account_id=${String(account_id)}`);
    expect(own.map(({ action }) => action)).toEqual(['subscription_created', 'account_created']);
    const both = await entries(`account_id=${String(account_id)}&actor=operator:suite-operator`);
    expect(both).toEqual(own);
    expect(await entries(`account_id=${String(account_id)}&actor=nobody`)).toEqual([]);
    expect(await entries('application_id=999999')).toEqual([]);
  });
});
