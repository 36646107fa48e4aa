import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { usageShard, usageStreamKey } from '@tollgate/contracts/usage-stream';
import { basicAuthorization } from '@tollgate/http/private-api-credential';
import { waitFor } from '@tollgate/stack/wait-for';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { done } from '../../../test/suite/billing.ts';
import { insertGrant, insertMovement } from '../../../test/suite/database/credits.ts';
import { insertAccount, insertPeriod, secondsFromNow } from '../../../test/suite/database/records.ts';
import { askForCredits, grantTo } from '../../../test/suite/granting.ts';
import type { ShownCredit } from '../../../test/suite/granting.ts';
import { operatePath, operatorCredentials } from '../../../test/suite/operator.ts';
import { sessionsOf } from '../../../test/suite/database/sessions.ts';

let suite: AccountUnderTest;

/** Another of the operators' credentials. */
const other = { id: 'other-operator', secret: 'another-secret-of-32-characters.' };

beforeAll(async () => {
  const settings = { OPERATOR_CREDENTIALS: `${operatorCredentials} ${other.id}:${other.secret}` };
  suite = await startAccount({ settings });
});

afterAll(() => suite.close());

const newAccount = () => insertAccount(suite.database);
const ask = (body: unknown, key?: string) => askForCredits(suite.account, body, key);
const grant = (account_id: number, changes?: Record<string, unknown>) =>
  grantTo(suite.account, account_id, changes);
const get = (credit_id: number) =>
  done<ShownCredit>(suite.account, 'GET', `/private/credits/${String(credit_id)}`);
const voidIt = (credit_id: number) =>
  operatePath(suite.account, 'POST', `/private/credits/${String(credit_id)}/void`);
const text = (second: Date) => second.toISOString().replace('.000Z', 'Z');
/** As answers write it. */
const written = (second: string) => new Date(second).toISOString();
const fieldsOf = (body: Record<string, unknown>) =>
  (body['errors'] as { field: string }[]).map(({ field }) => field);

describe('a grant', () => {
  test('is answered as it was made, has its path, and issues its points', async () => {
    const account_id = await newAccount();
    const expires_at = text(secondsFromNow(3_600));
    const before = Date.now();
    const wanted = {
      account_id,
      points: 500,
      source: 'purchase',
      priority: 10,
      expires_at,
      note: 'Spring sale',
    };
    const made = await ask(wanted);
    expect(made.status).toBe(201);
    const { credit_id, effective_at } = made.body as ShownCredit;
    expect(made.headers.get('location')).toBe(`/private/credits/${String(credit_id)}`);
    const shown = { ...wanted, expires_at: written(expires_at) };
    expect(made.body).toMatchObject({ ...shown, status: 'active', points_remaining: 500 });
    expect(Math.abs(Date.parse(effective_at) - before)).toBeLessThan(5_000);
    expect(Date.parse(effective_at) % 1_000).toBe(0);
    expect(await get(credit_id)).toEqual(made.body);
    const movements = await done(suite.account, 'GET', `/private/credits/${String(credit_id)}/movements`);
    expect(movements).toMatchObject({
      movements: [
        {
          from_ledger: 'issued',
          to_ledger: 'grant',
          points: 500,
          reason: 'granted',
          actor: 'operator:suite-operator',
        },
      ],
      next_cursor: null,
    });
  });

  test('by the same key and body is answered again, in its present state', async () => {
    const account_id = await newAccount();
    const key = randomUUID();
    const wanted = { account_id, points: 100, source: 'promotion' };
    const made = await ask(wanted, key);
    const { credit_id } = made.body as ShownCredit;
    await insertMovement(
      suite.database,
      { credit_id, account_id },
      { from_ledger: 'grant', to_ledger: 'expired', points: 30 },
    );
    const repeated = await ask(
      { source: 'promotion', points: 100, account_id, priority: 50, note: null },
      key,
    );
    // It becomes active within a second, which may have passed.
    const status: unknown = expect.stringMatching(/^(?:scheduled|active)$/);
    expect([repeated.status, repeated.body]).toEqual([200, { ...made.body, points_remaining: 70, status }]);
    const others = await ask({ ...wanted, points: 101 }, key);
    expect([others.status, others.body['code']]).toEqual([409, 'idempotency_conflict']);
  });

  test('by the same key of another credential is another one', async () => {
    const account_id = await newAccount();
    const key = randomUUID();
    const wanted = { account_id, points: 100, source: 'promotion' };
    const headers = { authorization: basicAuthorization(other), 'idempotency-key': key };
    const answers = [
      await ask(wanted, key),
      await operatePath(suite.account, 'POST', '/private/credits', wanted, headers),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(new Set(answers.map(({ body }) => body['credit_id'])).size).toBe(2);
  });

  test('is made once by twenty requests at a time', async () => {
    const account_id = await newAccount();
    const key = randomUUID();
    const wanted = { account_id, points: 100, source: 'promotion' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(wanted, key)));
    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([...Array<number>(19).fill(200), 201]);
    expect(new Set(answers.map(({ body }) => body['credit_id'])).size).toBe(1);
    expect(await suite.database('credit_grants').where({ account_id })).toHaveLength(1);
  });

  test('by one key for two accounts at a time is made for one of them', async () => {
    const key = randomUUID();
    const accounts = await Promise.all([newAccount(), newAccount()]);
    const answers = await Promise.all(
      accounts.map((account_id) => ask({ account_id, points: 1, source: 'promotion' }, key)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409]);
  });

  test('needs a key', async () => {
    const wanted = { account_id: await newAccount(), points: 100, source: 'promotion' };
    const { status, body } = await operatePath(suite.account, 'POST', '/private/credits', wanted);
    expect([status, body['code'], fieldsOf(body)]).toEqual([400, 'invalid_request', ['Idempotency-Key']]);
  });

  test('that is refused is not remembered', async () => {
    const key = randomUUID();
    const account_id = await newAccount();
    const refused = await ask(
      { account_id, points: 100, source: 'promotion', effective_at: '2020-01-01T00:00:00Z' },
      key,
    );
    expect([refused.status, fieldsOf(refused.body)]).toEqual([400, ['effective_at']]);
    expect((await ask({ account_id, points: 100, source: 'promotion' }, key)).status).toBe(201);
  });

  test.each([
    ['points', 0],
    ['points', -1],
    ['points', 1.5],
    ['points', 2 ** 53],
    ['points', '100'],
    ['source', 'carry_over'],
    ['source', 'gift'],
    ['priority', 101],
    ['priority', -1],
    ['effective_at', '2126-07-01T00:00:00.5Z'],
    ['effective_at', '2026-07-01T00:00:00Z'],
    ['expires_at', '2026-07-01T00:00:00Z'],
    ['note', ''],
    ['note', 'x'.repeat(1_001)],
    ['account_id', 999_999_999],
    ['points_remaining', 1],
  ])('with the %s %j is refused', async (field, value) => {
    const wanted = { account_id: await newAccount(), points: 100, source: 'promotion', [field]: value };
    const { status, body } = await ask(wanted);
    expect([status, fieldsOf(body)]).toEqual([400, [field]]);
  });

  test('can begin later, and must end after it begins', async () => {
    const account_id = await newAccount();
    const [begins, ends] = [text(secondsFromNow(60)), text(secondsFromNow(61))];
    const scheduled = await grant(account_id, { effective_at: begins, expires_at: ends });
    const times = { effective_at: written(begins), expires_at: written(ends) };
    expect(scheduled).toMatchObject({ status: 'scheduled', ...times });
    const wanted = { account_id, points: 1, source: 'promotion', effective_at: ends, expires_at: ends };
    const refused = await ask(wanted);
    expect([refused.status, fieldsOf(refused.body)]).toEqual([400, ['expires_at']]);
  });

  test('that would raise the points of the account above 2^53 - 1 is refused', async () => {
    const account_id = await newAccount();
    await insertPeriod(suite.database, account_id, { description: { points_limit: 1_000 } });
    await grant(account_id, { points: Number.MAX_SAFE_INTEGER - 1_001 });
    const refused = await ask({ account_id, points: 2, source: 'promotion' });
    expect([refused.status, refused.body['code']]).toEqual([409, 'total_too_large']);
    expect((await ask({ account_id, points: 1, source: 'promotion' })).status).toBe(201);
  });

  test('that starts now cuts the usage of its account at an instant of Redis’ clock, while nothing is counted', async () => {
    const account_id = await newAccount();
    const stream = usageStreamKey(usageShard(account_id));
    const held = await suite.database.transaction();
    await held('usage_stream_positions').where({ stream }).forUpdate();
    const asked = grant(account_id);
    const waiting = () =>
      sessionsOf(suite.database)
        .where({ wait_event_type: 'Lock' })
        .whereLike('query', '%usage_stream_positions%');
    await waitFor(async () => (await waiting()).length > 0, { what: 'the grant to wait for the reader' });
    const { rows } = await suite.database.raw<{ rows: { now: Date }[] }>('SELECT clock_timestamp() AS now');
    await held.commit();
    await asked;
    const cuts = await suite.database('credit_cuts').where({ account_id }).pluck<Date[]>('at');
    expect(cuts).toHaveLength(1);
    expect(+(cuts[0] ?? 0)).toBeGreaterThanOrEqual(+(rows[0]?.now ?? Infinity) - 1);
  });
});

describe('the list', () => {
  test('has the grants of an account, newest first, with their status, in pages', async () => {
    const account_id = await newAccount();
    const { database } = suite;
    const past = { effective_at: secondsFromNow(-100) };
    const used = await insertGrant(database, account_id, { ...past, points: 5 });
    const own = { credit_id: used, account_id };
    const period_id = await insertPeriod(database, account_id);
    await insertMovement(database, own, { from_ledger: 'grant', to_ledger: 'used', points: 5, period_id });
    await insertGrant(database, account_id, { ...past, expires_at: secondsFromNow(-10) });
    await insertGrant(database, account_id, { ...past, source: 'purchase' });
    await insertGrant(database, account_id, { effective_at: secondsFromNow(100) });
    await insertGrant(database, await newAccount());
    type List = { credits: ShownCredit[]; next_cursor: string | null };
    const list = (query: string) =>
      done<List>(suite.account, 'GET', `/private/credits?account_id=${String(account_id)}${query}`);
    const all = await list('');
    expect(all.credits.map(({ status }) => status)).toEqual(['scheduled', 'active', 'expired', 'used']);
    const first = await list('&limit=3');
    const second = await list(`&limit=3&cursor=${String(first.next_cursor)}`);
    // What is left of the expired one is settled meanwhile.
    const ids = (lists: List[]) => lists.flatMap(({ credits }) => credits.map(({ credit_id }) => credit_id));
    expect(ids([first, second])).toEqual(ids([all]));
    expect(second.next_cursor).toBeNull();
    expect((await list('&source=purchase')).credits).toHaveLength(1);
  });
});

describe('a void', () => {
  test('takes effect at once, and again changes nothing', async () => {
    const { credit_id } = await grant(await newAccount());
    const voided = await voidIt(credit_id);
    expect(voided).toMatchObject({ status: 200, body: { status: expect.stringMatching(/^void/) } });
    const requestedAt = voided.body['void_requested_at'];
    expect(Math.abs(Date.parse(String(requestedAt)) - Date.now())).toBeLessThan(5_000);
    const again = await voidIt(credit_id);
    expect([again.status, again.body['void_requested_at']]).toEqual([200, requestedAt]);
    const entries = await suite
      .database('audit_log')
      .where({ action: 'credits_voided' })
      .whereRaw("details ->> 'credit_id' = ?", [String(credit_id)]);
    expect(entries).toHaveLength(1);
  });

  test('of a grant with nothing left, or that has expired, changes nothing', async () => {
    const account_id = await newAccount();
    const past = { effective_at: secondsFromNow(-100) };
    const expired = await insertGrant(suite.database, account_id, {
      ...past,
      expires_at: secondsFromNow(-10),
    });
    expect((await voidIt(expired)).body).toMatchObject({ status: 'expired', void_requested_at: null });
    const used = await insertGrant(suite.database, account_id, past);
    const own = { credit_id: used, account_id };
    const period_id = await insertPeriod(suite.database, account_id);
    await insertMovement(suite.database, own, {
      from_ledger: 'grant',
      to_ledger: 'used',
      points: 100,
      period_id,
    });
    expect((await voidIt(used)).body).toMatchObject({ status: 'used', void_requested_at: null });
  });

  test('of what does not exist is not found', async () => {
    expect((await voidIt(999_999_999)).status).toBe(404);
    const path = '/private/credits/999999999';
    expect((await operatePath(suite.account, 'GET', path)).status).toBe(404);
    expect((await operatePath(suite.account, 'GET', `${path}/movements`)).status).toBe(404);
  });
});

test('no change of a plan or subscription changes a grant', async () => {
  const account_id = await newAccount();
  const made = await grant(account_id, { source: 'purchase' });
  const description = { points_limit: 10 };
  const { plan_id } = await done<{ plan_id: number }>(suite.account, 'POST', '/private/plans', {
    name: randomUUID(),
    description,
  });
  const plan = `/private/plans/${String(plan_id)}`;
  const wanted = { account_id, plan_id, billing_interval: 'month' };
  const { subscription_id } = await done<{ subscription_id: number }>(
    suite.account,
    'POST',
    '/private/subscriptions',
    wanted,
  );
  const subscription = `/private/subscriptions/${String(subscription_id)}`;
  await done(suite.account, 'PATCH', plan, { description: { points_limit: 20 } });
  await done(suite.account, 'POST', `${subscription}/change-plan`, {
    plan_id,
    billing_interval: 'year',
    effective: 'now',
  });
  await done(suite.account, 'POST', `${subscription}/cancel`, { effective: 'now' });
  await done(suite.account, 'POST', `${plan}/archive`);
  expect(await get(made.credit_id)).toEqual(made);
});
