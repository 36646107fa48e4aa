import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { insertApplication, insertPeriod, insertTeam } from '../../../test/suite/database/records.ts';
import { obtainToken } from '../../../test/suite/requests.ts';
import { usedOperation } from '../../../test/suite/usage/usage-streams.ts';
import { countPastUsage } from '../../../test/suite/usage/usage-rows.ts';
import { dayAgo } from '../../../test/suite/usage/usage-views.ts';

const PAGE = 'https://app.example';
const READ = usedOperation(1, { name: 'Read' });

let suite: AccountUnderTest;
let owner: Owner;
let used: Pick<UsageEvent, 'payer_id' | 'account_id' | 'period_id'>;

beforeAll(async () => {
  suite = await startAccount({ settings: { CORS_ALLOWED_ORIGINS: PAGE } });
});

beforeEach(async () => {
  owner = await newOwner(suite);
  const { account_id } = owner;
  const period_id = await insertPeriod(suite.database, account_id);
  used = { payer_id: account_id, account_id, period_id };
});

afterAll(() => suite.close());

type Calls = { points_usage: number; requests_usage: number; errors: number };
type Shown = Omit<Calls, 'errors'> & {
  view: string;
  operations: (Calls & { name: string | null; hash: string })[];
  others: Calls;
};

async function shown({ browser }: Pick<Owner, 'browser'>, query = ''): Promise<Shown> {
  const { status, body, text } = await browser.request('GET', `/usage/operations?${query}`);
  if (status !== 200) throw new Error(text);
  return body as unknown as Shown;
}

async function tokenOf(account_id: number): Promise<string> {
  return obtainToken(suite.auth, await insertApplication(suite.database, account_id));
}

function ask(query: string, headers: Record<string, string>): Promise<Response> {
  return fetch(`${suite.account.publicUrl}/api/usage/operations${query}`, { headers });
}

describe('usage by operation', () => {
  test('has the operations with the most points first, their figures, and what is left of the total', async () => {
    const slow = usedOperation(2, { points: 9, errors: 1, durations: [[20, 1]] });
    await suite.database('operation_documents').insert({ hash: READ.hash, document: 'query Read {\n  a\n}' });
    await countPastUsage(suite.database, [
      { ...used, at: `${dayAgo(1)}T10:00:00Z`, operations: [READ] },
      { ...used, at: `${dayAgo(1)}T12:00:00Z`, operations: [READ] },
      { ...used, at: `${dayAgo(2)}T10:00:00Z`, operations: [READ] },
      { ...used, at: `${dayAgo(2)}T10:00:00Z`, points: 12, operations: [slow] },
      { ...used, at: `${dayAgo(2)}T10:00:00Z`, points: 7 },
      { ...used, at: `${dayAgo(40)}T10:00:00Z`, operations: [READ] },
    ]);
    expect(await shown(owner)).toEqual({
      account_id: owner.account_id,
      payer_id: owner.account_id,
      view: 'billed',
      from: expect.any(String),
      to: expect.any(String),
      points_usage: 28,
      requests_usage: 5,
      operations: [
        {
          hash: READ.hash,
          name: 'Read',
          points_usage: 9,
          requests_usage: 3,
          errors: 0,
          p50_ms: 108,
          p95_ms: 126,
          document: 'query Read {\n  a\n}',
          days: [
            { day: dayAgo(2), points_usage: 3 },
            { day: dayAgo(1), points_usage: 6 },
          ],
        },
        {
          hash: slow.hash,
          name: null,
          points_usage: 9,
          requests_usage: 1,
          errors: 1,
          p50_ms: 1_218,
          p95_ms: 1_423,
          document: null,
          days: [{ day: dayAgo(2), points_usage: 9 }],
        },
      ],
      others: { points_usage: 10, requests_usage: 1, errors: 0 },
    });
  });

  test('of one day and one application', async () => {
    const at = `${dayAgo(3)}T10:00:00Z`;
    await countPastUsage(suite.database, [
      { ...used, at, operations: [READ], application_id: 11 },
      { ...used, at, operations: [READ], application_id: 12 },
      { ...used, at: `${dayAgo(2)}T00:00:00Z`, operations: [READ], application_id: 11 },
    ]);
    expect(await shown(owner, `application_id=11&from=${dayAgo(3)}&to=${dayAgo(3)}`)).toMatchObject({
      points_usage: 3,
      operations: [{ points_usage: 3 }],
    });
  });

  test('lists a hundred, and the rest among the others', async () => {
    const at = `${dayAgo(3)}T10:00:00Z`;
    const events = Array.from({ length: 120 }, (_, index) => ({
      ...used,
      at: index % 2 === 0 ? at : `${dayAgo(2)}T10:00:00Z`,
      operations: [usedOperation(index)],
    }));
    await countPastUsage(suite.database, events);
    const { operations, others, points_usage } = await shown(owner);
    expect([operations.length, others.points_usage, points_usage]).toEqual([100, 60, 360]);
  });

  test('as CSV has a line for each, and one for the others', async () => {
    const read = usedOperation(3, { name: 'Read' });
    await countPastUsage(suite.database, [
      { ...used, at: `${dayAgo(1)}T10:00:00Z`, operations: [read], points: 5 },
    ]);
    const token = await tokenOf(owner.account_id);
    const answer = await ask('?format=csv', { authorization: `Bearer ${token}` });
    expect(answer.headers.get('content-disposition')).toMatch(
      /^attachment; filename=operations-.*-to-.*\.csv$/,
    );
    expect(await answer.text()).toBe(
      'operation_name,hash,points_usage,requests_usage,errors,p50_ms,p95_ms,document\r\n' +
        `Read,${read.hash},3,1,0,108,126,\r\n` +
        '(others),,2,0,0,,,\r\n',
    );
  });
});

describe('by access token', () => {
  test('is that of the token’s account, also for pages of other origins', async () => {
    await countPastUsage(suite.database, [
      { ...used, at: `${dayAgo(1)}T10:00:00Z`, operations: [READ] },
      { ...used, at: `${dayAgo(1)}T10:00:00Z`, account_id: 987_654, payer_id: 987_654 },
    ]);
    const headers = { authorization: `Bearer ${await tokenOf(owner.account_id)}`, origin: PAGE };
    const answer = await ask('', headers);
    expect([answer.headers.get('access-control-allow-origin'), answer.headers.get('cache-control')]).toEqual([
      PAGE,
      'no-store',
    ]);
    expect(await answer.json()).toMatchObject({ operations: [{ name: 'Read', points_usage: 3 }] });
  });

  test.each([
    ['without a token', '', {}, 401],
    ['from the future', '?from=2999-01-01', undefined, 400],
    ['with an unknown parameter', '?group_by=none', undefined, 400],
  ])('%s is refused', async (_what, query, given, status) => {
    const headers = given ?? { authorization: `Bearer ${await tokenOf(owner.account_id)}` };
    expect((await ask(query, headers)).status).toBe(status);
  });
});

test('a member sees what they used, and the manager what the team used', async () => {
  const member = await newOwner(suite);
  await insertTeam(suite.database, owner.account_id, member.account_id);
  await countPastUsage(suite.database, [
    { ...used, at: `${dayAgo(1)}T10:00:00Z`, operations: [READ] },
    {
      ...used,
      account_id: member.account_id,
      at: `${dayAgo(1)}T10:00:00Z`,
      operations: [usedOperation(2)],
    },
  ]);
  expect(await shown(member)).toMatchObject({ view: 'own', operations: [{ points_usage: 3 }] });
  expect((await shown(owner)).operations).toHaveLength(2);
  expect((await shown(owner, 'view=own')).operations).toHaveLength(1);
  // A member pays for nothing.
  expect(await shown(member, 'view=billed')).toMatchObject({ operations: [], points_usage: 0 });
});
