import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { newOwner } from '../../../test/suite/console.ts';
import { cutsResolved, grantNow } from '../../../test/suite/credits.ts';
import { insertGrant } from '../../../test/suite/database/credits.ts';
import {
  insertAccount,
  insertApplication,
  insertPeriod,
  insertTeam,
  secondsFromNow,
} from '../../../test/suite/database/records.ts';
import { obtainToken } from '../../../test/suite/requests.ts';

const PAGE = 'https://app.example';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount({ settings: { CORS_ALLOWED_ORIGINS: PAGE } });
});

afterAll(() => suite.close());

type Answered = {
  account_id: number;
  payer_id: number;
  credits: { points_remaining: number; grants: Record<string, unknown>[] };
};

async function newCaller(): Promise<{ account_id: number; token: string }> {
  const account_id = await insertAccount(suite.database);
  const application = await insertApplication(suite.database, account_id);
  return { account_id, token: await obtainToken(suite.auth, application) };
}

function ask(headers: Record<string, string>, method = 'GET'): Promise<Response> {
  return fetch(`${suite.account.publicUrl}/api/credits`, { method, headers });
}

async function creditsOf(token: string): Promise<Answered> {
  const response = await ask({ authorization: `Bearer ${token}` });
  expect(response.status).toBe(200);
  return (await response.json()) as Answered;
}

const PAST = { effective_at: secondsFromNow(-100) };

test('grants are in order of use, with what counted usage has left of them', async () => {
  const { account_id, token } = await newCaller();
  const period_id = await insertPeriod(suite.database, account_id, { description: { points_limit: 10 } });
  const later = { effective_at: secondsFromNow(3_600), priority: 0 };
  const expires_at = secondsFromNow(7_200);
  const second = await insertGrant(suite.database, account_id, { ...PAST, points: 50, source: 'purchase' });
  const first = await insertGrant(suite.database, account_id, {
    ...PAST,
    points: 20,
    expires_at,
    note: 'Hi',
  });
  const scheduled = await insertGrant(suite.database, account_id, later);
  await insertGrant(suite.database, account_id, { ...PAST, expires_at: secondsFromNow(-50) });
  expect((await creditsOf(token)).credits).toMatchObject({
    points_remaining: 70,
    grants: [
      { credit_id: scheduled, status: 'scheduled', points_remaining: 100 },
      { credit_id: first, status: 'active', points_remaining: 20, note: 'Hi' },
      { credit_id: second, status: 'active', points_remaining: 50, note: null, expires_at: null },
    ],
  });
  await cutsResolved(suite, account_id);
  const counters = { points: 35, requests: 1, time_ms: 0, traffic_bytes: 0 };
  await suite.database('usage_totals').insert({ period_id, ...counters });
  expect((await creditsOf(token)).credits).toMatchObject({
    points_remaining: 45,
    grants: [{ credit_id: scheduled }, { credit_id: second, points: 50, points_remaining: 45 }],
  });
});

test('what was used before a grant is not taken from it, from its first answer on', async () => {
  const { account_id, token } = await newCaller();
  const period_id = await insertPeriod(suite.database, account_id, { description: { points_limit: 10 } });
  const counters = { points: 35, requests: 1, time_ms: 0, traffic_bytes: 0 };
  await suite.database('usage_totals').insert({ period_id, ...counters });
  const { credit_id } = await grantNow(suite, account_id);
  const whole = { points_remaining: 100, grants: [{ credit_id, points_remaining: 100 }] };
  expect((await creditsOf(token)).credits).toMatchObject(whole);
  await cutsResolved(suite, account_id);
  expect((await creditsOf(token)).credits).toMatchObject(whole);
});

test('a team member sees those of the manager, without notes', async () => {
  const [manager, member] = [await newCaller(), await newCaller()];
  await insertTeam(suite.database, manager.account_id, member.account_id);
  await insertGrant(suite.database, manager.account_id, { ...PAST, note: 'For Ada' });
  await insertGrant(suite.database, member.account_id, { ...PAST, points: 7 });
  const seen = await creditsOf(member.token);
  expect(seen).toMatchObject({
    account_id: member.account_id,
    payer_id: manager.account_id,
    credits: { points_remaining: 100, grants: [{ note: null }] },
  });
  expect((await creditsOf(manager.token)).credits.grants).toMatchObject([{ note: 'For Ada' }]);
});

test('an account without credits or a billing period has none', async () => {
  const { account_id, token } = await newCaller();
  const credits = { points_remaining: 0, overage_points_remaining: 0, overuse_points: 0, grants: [] };
  expect(await creditsOf(token)).toEqual({ account_id, payer_id: account_id, credits });
});

test('a token is required, and a page that is let in may ask', async () => {
  const refused = await ask({ origin: PAGE });
  expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, PAGE]);
  const headers = { origin: PAGE, 'access-control-request-method': 'GET' };
  expect((await ask(headers, 'OPTIONS')).headers.get('access-control-allow-origin')).toBe(PAGE);
});

test('the console shows the same to a signed-in person', async () => {
  const { browser, account_id } = await newOwner(suite);
  await insertGrant(suite.database, account_id, PAST);
  const { status, body } = await browser.request('GET', '/credits');
  expect([status, body]).toMatchObject([200, { account_id, credits: { points_remaining: 100 } }]);
});
