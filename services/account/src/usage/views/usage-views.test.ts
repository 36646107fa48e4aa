import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeOwnApplication, newOwner } from '../../../test/suite/console.ts';
import { operatePath, operatorCredentials } from '../../../test/suite/operator.ts';
import { openBrowser, startPeople } from '../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../test/suite/people.ts';
import { insertPeriod } from '../../../test/suite/database/records.ts';
import { getPrivate } from '../../../test/suite/requests.ts';
import { countPastUsage } from '../../../test/suite/usage/usage-rows.ts';
import { dayAgo, pointsByBucket, shownUsage } from '../../../test/suite/usage/usage-views.ts';

/** Usage over time, in days and hours of UTC wherever process and database are. */

let suite: PeopleUnderTest;

beforeAll(async () => {
  suite = await startPeople({ OPERATOR_CREDENTIALS: operatorCredentials, TZ: 'America/New_York' });
  // Of the connections to come, those for usage included: nobody has asked for any yet.
  await suite.database.raw(`DO $$ BEGIN EXECUTE format(
    'ALTER DATABASE %I SET timezone TO ''America/New_York''', current_database()); END $$`);
});

afterAll(async () => {
  await suite.close();
});

/** Someone with periods that meet in the middle of an hour, ten days ago; the first has a grace window. */
async function newPayer() {
  const owner = await newOwner(suite);
  const { account_id } = owner;
  const change = `${dayAgo(10)}T14:36:59Z`;
  const earlier = await insertPeriod(suite.database, account_id, {
    started_at: new Date(`${dayAgo(400)}T00:00:00Z`),
    ended_at: new Date(change),
  });
  const later = await insertPeriod(suite.database, account_id, {
    started_at: new Date(Date.parse(change) + 1_000),
    ended_at: new Date(Date.now() + 86_400_000 * 20),
  });
  const event = { account_id, payer_id: account_id, period_id: later };
  return { ...owner, earlier, later, event };
}

describe('usage by day', () => {
  test('has every day of the range, the figures of GET /api/usage, and their sum', async () => {
    const payer = await newPayer();
    const event = { ...payer.event, traffic_bytes: 10, points: 3, requests: 1 };
    await countPastUsage(suite.database, [
      { ...event, at: `${dayAgo(4)}T00:00:00Z`, time_ms: 1_500 },
      { ...event, at: `${dayAgo(4)}T23:59:59.999Z`, time_ms: 400 },
      { ...event, at: `${dayAgo(3)}T00:00:00Z`, time_ms: 1_900, points: 0 },
      { ...event, at: `${dayAgo(6)}T23:59:59Z` },
      { ...event, at: `${dayAgo(1)}T00:00:00Z` },
    ]);
    const shown = await shownUsage(payer, `from=${dayAgo(5)}&to=${dayAgo(2)}`);
    const none = { points_usage: 0, requests_usage: 0, time_sec_usage: 0, traffic_bytes_usage: 0 };
    const bucket = (days: number, usage: object) => ({
      started_at: `${dayAgo(days)}T00:00:00Z`,
      usage: { ...none, ...usage },
      groups: [],
    });
    expect(shown).toEqual({
      account_id: payer.account_id,
      payer_id: payer.account_id,
      view: 'billed',
      group_by: 'none',
      interval: 'day',
      from: `${dayAgo(5)}T00:00:00Z`,
      to: `${dayAgo(1)}T00:00:00Z`,
      billing_period: null,
      // Seconds are rounded down in the end: 1.9 and 1.9 are 3.8.
      usage: { points_usage: 6, requests_usage: 3, time_sec_usage: 3, traffic_bytes_usage: 30 },
      groups: [],
      buckets: [
        bucket(5, {}),
        bucket(4, { points_usage: 6, requests_usage: 2, time_sec_usage: 1, traffic_bytes_usage: 20 }),
        bucket(3, { requests_usage: 1, time_sec_usage: 1, traffic_bytes_usage: 10 }),
        bucket(2, {}),
      ],
    });
  });

  test('reaches back fourteen months, over several periods, and has 30 days unless more is asked for', async () => {
    const payer = await newPayer();
    await countPastUsage(suite.database, [
      { ...payer.event, period_id: payer.earlier, at: `${dayAgo(390)}T12:00:00Z`, points: 1 },
      { ...payer.event, period_id: payer.earlier, at: `${dayAgo(20)}T12:00:00Z`, points: 2 },
      { ...payer.event, at: `${dayAgo(2)}T12:00:00Z`, points: 4 },
      { ...payer.event, at: new Date(), points: 8 },
    ]);
    const whole = await shownUsage(payer, `from=${dayAgo(400)}`);
    expect(whole.usage.points_usage).toBe(15);
    expect(Object.values(pointsByBucket(whole))).toEqual([1, 2, 4, 8]);
    const usual = await shownUsage(payer, '');
    expect([usual.buckets.length, usual.usage.points_usage]).toEqual([30, 14]);
  });

  test('goes by UTC, also on the days on which clocks elsewhere are changed', async () => {
    const payer = await newPayer();
    const days = [dayAgo(390), dayAgo(389)];
    // New York's clocks go forward and back within any year.
    for (let days_ago = 388; days_ago > 20; days_ago -= 1) days.push(dayAgo(days_ago));
    await countPastUsage(
      suite.database,
      days.flatMap((day) =>
        ['00:00:00Z', '23:59:59Z'].map((time) => ({
          ...payer.event,
          period_id: payer.earlier,
          at: `${day}T${time}`,
          points: 1,
        })),
      ),
    );
    const shown = await shownUsage(payer, `from=${String(days[0])}&to=${String(days.at(-1))}`);
    expect(shown.buckets.map(({ started_at, usage }) => [started_at, usage.points_usage])).toEqual(
      days.map((day) => [`${day}T00:00:00Z`, 2]),
    );
  });
});

describe('usage by hour', () => {
  test('adds up what two periods have of the hour in which they meet, and of a grace window', async () => {
    const payer = await newPayer();
    const before = { ...payer.event, period_id: payer.earlier };
    await countPastUsage(suite.database, [
      { ...before, at: `${dayAgo(10)}T14:36:59Z`, points: 1 },
      { ...payer.event, at: `${dayAgo(10)}T14:37:00Z`, points: 2 },
      { ...before, at: `${dayAgo(8)}T14:00:00Z`, points: 4 },
      { ...payer.event, at: `${dayAgo(8)}T15:00:00Z`, points: 8 },
    ]);
    const shown = await shownUsage(payer, `interval=hour&from=${dayAgo(11)}&to=${dayAgo(7)}`);
    expect(shown.buckets).toHaveLength(5 * 24);
    expect(pointsByBucket(shown)).toEqual({
      [`${dayAgo(10)}T14:00:00Z`]: 3,
      [`${dayAgo(8)}T14:00:00Z`]: 4,
      [`${dayAgo(8)}T15:00:00Z`]: 8,
    });
  });

  test('is widened to whole hours, whatever the offset of the times', async () => {
    const payer = await newPayer();
    await countPastUsage(suite.database, [
      { ...payer.event, at: `${dayAgo(3)}T09:00:00Z`, points: 1 },
      { ...payer.event, at: `${dayAgo(3)}T11:59:59Z`, points: 2 },
      { ...payer.event, at: `${dayAgo(3)}T12:00:00Z`, points: 4 },
    ]);
    const query = new URLSearchParams({
      interval: 'hour',
      from: `${dayAgo(3)}T11:30:00+02:00`,
      to: `${dayAgo(3)}T11:00:00.001Z`,
    });
    const shown = await shownUsage(payer, query.toString());
    expect([shown.from, shown.to]).toEqual([`${dayAgo(3)}T09:00:00Z`, `${dayAgo(3)}T12:00:00Z`]);
    expect(shown.usage.points_usage).toBe(3);
  });
});

describe('a query', () => {
  const fieldsOf = (body: Record<string, unknown>) =>
    (body['errors'] as { field: string }[]).map(({ field }) => field).toSorted();

  test.each([
    ['from=2026-02-30&to=never&interval=week&group_by=x', ['from', 'group_by', 'interval', 'to']],
    [
      'view=all&application_id=0&account_id=-1&api_version=v3&format=xml&odd=1',
      ['account_id', 'api_version', 'application_id', 'format', 'odd', 'view'],
    ],
    ['from=2999-01-01&to=2000-01-01&group_by=x', ['from', 'group_by', 'to']],
    ['from=2000-01-01', ['from']],
    ['to=2999-01-01', ['to']],
    [`from=${dayAgo(2)}&to=${dayAgo(3)}`, ['to']],
    [`interval=hour&from=${dayAgo(40)}`, ['from']],
    [`from=${dayAgo(2)}&from=${dayAgo(3)}`, ['from']],
    [`from=${dayAgo(2)}T00:00:00`, ['from']],
  ])('with faults names them all: %s', async (query, fields) => {
    const payer = await newOwner(suite);
    const { status, body } = await payer.browser.request('GET', `/usage?${query}`);
    expect([status, body['code'], fieldsOf(body)]).toEqual([400, 'invalid_request', fields]);
  });

  test('needs a session, and a path has its methods', async () => {
    const stranger = openBrowser(suite.account);
    const payer = await newOwner(suite);
    for (const path of ['/usage', '/usage/pace']) {
      expect([path, (await stranger.request('GET', path)).status]).toEqual([path, 401]);
      const other = await payer.browser.request('PUT', path);
      expect([path, other.status, other.headers.get('allow')]).toEqual([path, 405, 'GET, HEAD']);
      expect(other.headers.get('cache-control')).toBe('no-store');
    }
    expect((await payer.browser.request('GET', '/usage/other')).status).toBe(404);
  });
});

describe('operators', () => {
  test('see what the account sees', async () => {
    const payer = await newPayer();
    const { application_id } = await makeOwnApplication(payer.browser);
    await countPastUsage(suite.database, [{ ...payer.event, application_id, at: `${dayAgo(3)}T12:00:00Z` }]);
    const query = `from=${dayAgo(5)}&to=${dayAgo(1)}&group_by=application`;
    const path = `/private/accounts/${String(payer.account_id)}/usage?${query}`;
    const { status, headers, body } = await operatePath(suite.account, 'GET', path);
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(body).toEqual(await shownUsage(payer, query));
    expect(body['groups']).toMatchObject([{ application_id, name: 'App' }]);
  });

  test('alone may ask, in the right way, for an account that is there', async () => {
    const path = '/private/accounts/999999999/usage';
    expect((await operatePath(suite.account, 'GET', path)).status).toBe(404);
    expect((await operatePath(suite.account, 'GET', '/private/accounts/x/usage')).status).toBe(404);
    expect((await operatePath(suite.account, 'GET', `${path}?from=x`)).status).toBe(400);
    expect((await operatePath(suite.account, 'POST', path)).headers.get('allow')).toBe('GET, HEAD');
    expect((await getPrivate(suite.account, path)).status).toBe(401);
    expect((await getPrivate(suite.account, path, {})).status).toBe(401);
  });
});
