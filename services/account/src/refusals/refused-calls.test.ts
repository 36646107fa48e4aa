import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { REFUSED_CALLS_KEY } from '@tollgate/contracts/refused-call';
import { basicAuthorization } from '@tollgate/http/private-api-credential';
import { newRequestId } from '@tollgate/log/request-id';
import { waitFor } from '@tollgate/stack/wait-for';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import { startAccount } from '../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../test/suite/account-under-test.ts';
import { accountMetric } from '../../test/suite/metrics.ts';
import { operatePath, operatorCredentials } from '../../test/suite/operator.ts';
import { insertAccount, insertApplication } from '../../test/suite/database/records.ts';
import { appendRefusals, refusedCall } from '../../test/suite/usage/refused-calls.ts';

let suite: AccountUnderTest;

const ROLES = ['viewer', 'support', 'finance'] as const;
const SECRET = randomBytes(24).toString('base64url');

beforeAll(async () => {
  suite = await startAccount({
    settings: {
      OPERATOR_CREDENTIALS: [operatorCredentials, ...ROLES.map((role) => `${role}:${SECRET}`)].join(' '),
      OPERATOR_CREDENTIAL_ROLES: ROLES.map((role) => `${role}=${role}`).join(),
      HOUSEKEEPING_INTERVAL_SEC: '1',
    },
  });
});

afterAll(async () => {
  await suite.close();
});

const get = (path: string) => operatePath(suite.account, 'GET', path);
const list = async (accountId: number, query = '') =>
  (await get(`/private/accounts/${String(accountId)}/refusals${query}`)).body as {
    refusals: Record<string, unknown>[];
    next_cursor: string | null;
  };

async function stored(): Promise<void> {
  await waitFor(async () => (await suite.store.xlen(REFUSED_CALLS_KEY)) === 0);
}

test('a request id leads to its records, in the order in which they came', async () => {
  const account_id = await insertAccount(suite.database);
  const first = refusedCall({ account_id, payer_id: account_id, application_id: 5, kind: 'operation' });
  const second = refusedCall({ ...first, seq: first.seq + 1_000_000, code: 'upstream_closed', status: null });
  await appendRefusals(suite.store, [first]);
  await appendRefusals(suite.store, [second]);
  await stored();
  const { status, body } = await get(`/private/calls/${first.request_id}`);
  expect(status).toBe(200);
  const { seq: _seq, at_ms, ...shown } = first;
  expect(body).toEqual({
    request_id: first.request_id,
    records: [
      { ...shown, refused_call_id: expect.any(Number), at: new Date(at_ms).toISOString() },
      expect.objectContaining({ code: 'upstream_closed', status: null }),
    ],
  });
  for (const unknown of [newRequestId(), 'no-id']) {
    expect((await get(`/private/calls/${unknown}`)).status).toBe(404);
  }
});

test.each<[(typeof ROLES)[number], string | null]>([
  ['viewer', null],
  ['finance', null],
  ['support', '192.0.2.7'],
])('for the role %s, the address of a call is %j', async (role, address) => {
  const account_id = await insertAccount(suite.database);
  const call = refusedCall({ account_id, address: '192.0.2.7' });
  await appendRefusals(suite.store, [call]);
  await stored();
  const authorization = basicAuthorization({ id: role, secret: SECRET });
  const read = async (path: string) =>
    (await operatePath(suite.account, 'GET', path, undefined, { authorization })).body;
  const { request_id } = call;
  expect(await read(`/private/calls/${request_id}`)).toMatchObject({ records: [{ request_id, address }] });
  expect(await read(`/private/accounts/${String(account_id)}/refusals`)).toMatchObject({
    refusals: [{ request_id, address }],
  });
});

test('an account’s refusals: newest first, by pages, code, application and time', async () => {
  const account_id = await insertAccount(suite.database);
  const at = Date.parse('2026-06-01T12:00:00Z');
  const calls = Array.from({ length: 5 }, (_, index) =>
    refusedCall({
      account_id,
      application_id: index < 2 ? 50 : 51,
      code: index === 4 ? 'unauthorized' : 'rate_limit_exceeded',
      at_ms: at + index * 3_600_000,
    }),
  );
  await appendRefusals(suite.store, [...calls, refusedCall({ account_id: 999_999 })]);
  await stored();
  const ids = calls.map(({ request_id }) => request_id).toReversed();
  const all = await list(account_id);
  expect(all.refusals.map(({ request_id }) => request_id)).toEqual(ids);
  const page = await list(account_id, '?limit=2');
  const next = await list(account_id, `?limit=3&cursor=${page.next_cursor ?? ''}`);
  expect([...page.refusals, ...next.refusals].map(({ request_id }) => request_id)).toEqual(ids);
  expect(next.next_cursor).toBeNull();
  expect((await list(account_id, '?code=unauthorized')).refusals).toHaveLength(1);
  expect((await list(account_id, '?application_id=50')).refusals).toHaveLength(2);
  const between = '?from=2026-06-01T13:00:00Z&to=2026-06-01T15:00:00Z';
  expect((await list(account_id, between)).refusals).toHaveLength(2);
  expect((await get('/private/accounts/987654321/refusals')).status).toBe(404);
  const wrong = await get(`/private/accounts/${String(account_id)}/refusals?code=NO&since=1`);
  expect([wrong.status, wrong.body['code']]).toEqual([400, 'invalid_request']);
});

test('a refused token that names an application is found at its owner', async () => {
  const account_id = await insertAccount(suite.database);
  const { application_id, client_id } = await insertApplication(suite.database, account_id);
  const call = refusedCall({ client_id, code: 'unauthorized', status: 401 });
  await appendRefusals(suite.store, [call, refusedCall({ client_id: crypto.randomUUID() })]);
  await stored();
  expect((await list(account_id)).refusals).toMatchObject([
    { request_id: call.request_id, account_id, application_id, payer_id: null },
  ]);
});

test('a record that comes twice is stored once, by several replicas; what is no record is removed', async () => {
  const replica = await startServiceProcess('account', suite.settings);
  try {
    await becomeReady(replica);
    const account_id = await insertAccount(suite.database);
    const calls = Array.from({ length: 700 }, () => refusedCall({ account_id }));
    await suite.store.xadd(REFUSED_CALLS_KEY, '*', 'call', '{"request_id":"no"}');
    await suite.store.xadd(REFUSED_CALLS_KEY, '*', 'other', 'not JSON');
    for (const detail of ['\0', '\ud83d'])
      await appendRefusals(suite.store, [refusedCall({ account_id, detail })]);
    await appendRefusals(suite.store, [...calls, ...calls]);
    await stored();
    const rows = await suite.database('refused_calls').where({ account_id });
    expect(rows).toHaveLength(700);
  } finally {
    await replica.stop();
  }
});

test('an account has so many records a day, and no more; others go on', async () => {
  const account_id = await insertAccount(suite.database);
  await suite.database('refused_call_days').insert({
    day: suite.database.raw("CAST(now() AT TIME ZONE 'UTC' AS date)"),
    account_id,
    refusals: 49_998,
  });
  const other = await insertAccount(suite.database);
  const calls = Array.from({ length: 5 }, () => refusedCall({ account_id }));
  await appendRefusals(suite.store, [...calls, refusedCall({ account_id: other })]);
  await stored();
  expect(await suite.database('refused_calls').where({ account_id })).toHaveLength(2);
  expect(await suite.database('refused_calls').where({ account_id: other })).toHaveLength(1);
  expect(await accountMetric(suite.account, 'tollgate_refused_calls_beyond_day_total')).toBe(3);
});

test('tokens that anyone can make up take nothing from the records of valid ones', async () => {
  const account_id = await insertAccount(suite.database);
  const { client_id } = await insertApplication(suite.database, account_id);
  await suite.database('refused_call_days').insert({
    day: suite.database.raw("CAST(now() AT TIME ZONE 'UTC' AS date)"),
    account_id: -account_id,
    refusals: 4_999,
  });
  const madeUp = () => refusedCall({ client_id, code: 'unauthorized', status: 401 });
  await appendRefusals(suite.store, [madeUp(), madeUp(), madeUp()]);
  await appendRefusals(suite.store, [refusedCall({ account_id })]);
  await stored();
  const { refusals } = await list(account_id);
  expect(refusals.map(({ code }) => code)).toEqual(['points_limit_exceeded', 'unauthorized']);
});

test('records go when their time is over', async () => {
  const account_id = await insertAccount(suite.database);
  await appendRefusals(suite.store, [refusedCall({ account_id }), refusedCall({ account_id })]);
  await stored();
  const [old] = (await list(account_id)).refusals;
  await suite
    .database('refused_calls')
    .where({ refused_call_id: old?.['refused_call_id'] })
    .update({ recorded_at: suite.database.raw("now() - interval '31 days'") });
  const day = suite.database.raw("CAST(now() - interval '32 days' AS date)");
  await suite.database('refused_call_days').insert({ day, account_id, refusals: 1 });
  await waitFor(async () => (await list(account_id)).refusals.length === 1);
  await waitFor(
    async () =>
      (await suite.database('refused_call_days').where({ account_id }).andWhere({ day })).length === 0,
  );
});
