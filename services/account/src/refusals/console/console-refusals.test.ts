import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { REFUSAL_COUNTS_KEY, REFUSED_CALLS_KEY } from '@tollgate/contracts/refused-call';
import { newRequestId } from '@tollgate/log/request-id';
import { waitFor } from '@tollgate/stack/wait-for';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { makeOwnApplication, newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { insertPeriod } from '../../../test/suite/database/records.ts';
import { joinTeam, makeTeam } from '../../../test/suite/team.ts';
import {
  appendCounts,
  appendRefusals,
  countBatch,
  refusalCount,
  refusedCall,
} from '../../../test/suite/usage/refused-calls.ts';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount({ settings: { TRUSTED_PROXIES: '127.0.0.0/8 ::1/128' } });
});

afterAll(async () => {
  await suite.close();
});

async function stored(): Promise<void> {
  await waitFor(
    async () =>
      (await suite.store.xlen(REFUSED_CALLS_KEY)) + (await suite.store.xlen(REFUSAL_COUNTS_KEY)) === 0,
  );
}

type Listed = { refusals: Record<string, unknown>[]; next_cursor: string | null; view: string };

async function listed({ browser }: Pick<Owner, 'browser'>, query = ''): Promise<Listed> {
  const { status, text, body } = await browser.request('GET', `/refusals${query}`);
  if (status !== 200) throw new Error(text);
  return body as unknown as Listed;
}

async function countsOf({ browser }: Pick<Owner, 'browser'>, query = '') {
  const { status, text, body } = await browser.request('GET', `/refusals/counts${query}`);
  if (status !== 200) throw new Error(text);
  return body as unknown as {
    view: string;
    calls: number;
    codes: { code: string; calls: number; last_at: string }[];
    applications: Record<string, unknown>[];
    buckets: { started_at: string; calls: number; codes: { code: string; calls: number }[] }[];
  };
}

test('a call with everything its caller needs, and nothing that only operators may see', async () => {
  const owner = await newOwner(suite);
  const { account_id } = owner;
  const { application_id } = await makeOwnApplication(owner.browser, { name: 'Reports' });
  const call = refusedCall({
    account_id,
    payer_id: account_id,
    application_id,
    kind: 'operation',
    code: 'upstream_timeout',
    status: 504,
    points: 3,
    operation_name: 'Ticks',
    unrecorded_before: 12,
  });
  await appendRefusals(suite.store, [call]);
  await stored();
  expect(await listed(owner)).toEqual({
    account_id,
    payer_id: account_id,
    view: 'billed',
    next_cursor: null,
    refusals: [
      {
        refusal_id: expect.any(Number),
        at: new Date(call.at_ms).toISOString(),
        request_id: call.request_id,
        transport: 'websocket',
        kind: 'operation',
        code: 'upstream_timeout',
        status: 504,
        account_id,
        account_name: expect.any(String),
        application_id,
        application_name: 'Reports',
        application_type: 'automatic',
        operation_name: 'Ticks',
        api_version: 'v2',
        duration_ms: 3,
        points: 3,
        detail: call.detail,
        unrecorded_before: 12,
      },
    ],
  });
});

test('filters by code, application, time and request id; pages are stable while calls come', async () => {
  const owner = await newOwner(suite);
  const { account_id } = owner;
  const at = Date.now() - 3 * 3_600_000;
  const calls = Array.from({ length: 6 }, (_, index) =>
    refusedCall({
      account_id,
      application_id: index < 2 ? 50 : 51,
      code: index === 5 ? 'upstream_error' : 'rate_limit_exceeded',
      at_ms: at + index * 60_000,
    }),
  );
  await appendRefusals(suite.store, calls);
  await stored();
  const ids = calls.map(({ request_id }) => request_id).toReversed();
  const first = await listed(owner, '?limit=4');
  await appendRefusals(suite.store, [refusedCall({ account_id })]);
  await stored();
  const second = await listed(owner, `?limit=4&cursor=${first.next_cursor ?? ''}`);
  expect([...first.refusals, ...second.refusals].map(({ request_id }) => request_id)).toEqual(ids);
  expect(second.next_cursor).toBeNull();
  const found = async (query: string) =>
    (await listed(owner, query)).refusals.map(({ request_id }) => request_id);
  expect(await found('?code=upstream_error')).toEqual([ids[0]]);
  expect(await found('?application_id=50')).toEqual(ids.slice(4));
  expect(await found(`?request_id=${ids[2] ?? ''}`)).toEqual([ids[2]]);
  expect(await found(`?request_id=${newRequestId()}`)).toEqual([]);
  const [from, to] = [at + 60_000, at + 180_000].map((time) => new Date(time).toISOString());
  expect(await found(`?from=${from ?? ''}&to=${to ?? ''}`)).toEqual([ids[3], ids[4]]);
  const wrong = await owner.browser.request('GET', '/refusals?request_id=x&code=NO&since=1');
  expect(wrong.status).toBe(400);
  expect((wrong.body['errors'] as { field: string }[]).map(({ field }) => field).toSorted()).toEqual([
    'code',
    'request_id',
    'since',
  ]);
});

test('exact numbers by code and hour, for the same filters', async () => {
  const owner = await newOwner(suite);
  const { account_id } = owner;
  const { application_id } = await makeOwnApplication(owner.browser, { name: 'Reports' });
  const own = { account_id, payer_id: account_id, application_id };
  const earlier = Date.now() - 5 * 3_600_000;
  await appendCounts(
    suite.store,
    countBatch([
      refusalCount({ ...own, calls: 1_000 }),
      refusalCount({ ...own, calls: 30, last_at_ms: earlier }),
      refusalCount({ ...own, calls: 4, code: 'broken', application_id: null }),
      refusalCount({ ...own, calls: 9, last_at_ms: Date.now() - 3 * 86_400_000 }),
    ]),
  );
  await stored();
  const day = await countsOf(owner);
  expect(day.calls).toBe(1_034);
  expect(day.codes).toMatchObject([
    { code: 'points_limit_exceeded', calls: 1_030 },
    { code: 'broken', calls: 4 },
  ]);
  expect(day.applications).toEqual([{ application_id, name: 'Reports', type: 'automatic', calls: 1_030 }]);
  expect(day.buckets).toHaveLength(24);
  expect(day.buckets.at(-6)).toMatchObject({
    calls: 30,
    codes: [{ code: 'points_limit_exceeded', calls: 30 }],
  });
  expect((await countsOf(owner, `?application_id=${String(application_id)}`)).calls).toBe(1_030);
  expect((await countsOf(owner, '?code=broken')).calls).toBe(4);
  const days = await countsOf(owner, '?interval=day');
  expect([days.calls, days.buckets.length]).toEqual([1_043, 30]);
  const wrong = await owner.browser.request('GET', '/refusals/counts?from=2001-01-01');
  expect([wrong.status, wrong.body['code']]).toEqual([400, 'invalid_request']);
});

describe('in a team', () => {
  test('a member sees own calls, the manager all that the plan was to pay for, and nobody else’s', async () => {
    const [manager, member, stranger] = [await newOwner(suite), await newOwner(suite), await newOwner(suite)];
    const period_id = await insertPeriod(suite.database, manager.account_id);
    await suite.database('billing_periods').where({ period_id }).update({ team_slots_limit: 5 });
    await makeTeam(manager);
    await joinTeam(manager, member);
    const payer_id = manager.account_id;
    const calls = [
      refusedCall({ account_id: manager.account_id, payer_id }),
      refusedCall({ account_id: member.account_id, payer_id }),
      refusedCall({ account_id: member.account_id, payer_id: member.account_id }),
      refusedCall({ account_id: stranger.account_id, payer_id: stranger.account_id }),
    ];
    const ids = calls.map(({ request_id }) => request_id);
    // One after the other: pages are in the order of storing.
    for (const call of calls) {
      await appendRefusals(suite.store, [call]);
      await stored();
    }
    await appendCounts(
      suite.store,
      countBatch(
        calls.map(({ account_id, payer_id: payer }) => refusalCount({ account_id, payer_id: payer })),
      ),
    );
    await stored();
    const seenBy = async (owner: Owner, query = '') => {
      const { view, refusals } = await listed(owner, query);
      const counts = await countsOf(owner, query);
      expect([counts.view, counts.calls]).toEqual([view, refusals.length]);
      return [view, refusals.map(({ request_id }) => request_id)];
    };
    expect(await seenBy(manager)).toEqual(['billed', [ids[1], ids[0]]]);
    expect(await seenBy(manager, '?view=own')).toEqual(['own', [ids[0]]]);
    expect(await seenBy(manager, `?account_id=${String(member.account_id)}`)).toEqual(['billed', [ids[1]]]);
    expect(await seenBy(member)).toEqual(['own', [ids[2], ids[1]]]);
    const foreign = await member.browser.request('GET', `/refusals?account_id=${String(payer_id)}`);
    expect([foreign.status, foreign.body['code']]).toEqual([403, 'forbidden']);
    expect((await listed(manager, `?request_id=${ids[3] ?? ''}`)).refusals).toEqual([]);
  });
});

test('without a session: 401', async () => {
  for (const path of ['/refusals', '/refusals/counts']) {
    expect((await fetch(`${suite.account.publicUrl}/api/console${path}`)).status).toBe(401);
  }
});

test('the newest page is read by an index, whatever the filter', async () => {
  const owner = await newOwner(suite);
  await suite.database.raw('SET enable_seqscan = off');
  for (const condition of ['', 'AND code = ?']) {
    const { rows } = await suite.database.raw<{ rows: Record<string, string>[] }>(
      `EXPLAIN SELECT * FROM refused_calls WHERE coalesce(payer_id, account_id) = ? ${condition}
       AND refused_call_id < 9007199254740991 ORDER BY refused_call_id DESC LIMIT 51`,
      condition === '' ? [owner.account_id] : [owner.account_id, 'broken'],
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/Index Scan Backward using refused_calls_seen_by_/);
  }
});
