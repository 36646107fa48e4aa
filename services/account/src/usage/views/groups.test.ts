import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { ANY_DOOR, createApiDocument } from '../../api/owner.ts';
import { makeOwnApplication, newOwner } from '../../../test/suite/console.ts';
import { openContract } from '../../../test/suite/contract/contract.ts';
import type { OpenApi } from '../../../test/suite/contract/contract.ts';
import { startPeople } from '../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../test/suite/people.ts';
import { insertApplication } from '../../../test/suite/database/records.ts';
import { countPastUsage } from '../../../test/suite/usage/usage-rows.ts';
import {
  FOUR_DAYS,
  THIRD_DAY_NOON,
  dayAgo,
  fetchUsage,
  insertCoveringPeriod,
  shownUsage,
} from '../../../test/suite/usage/usage-views.ts';

/** Usage by application and API version: under which names, as JSON and CSV. */

let suite: PeopleUnderTest;
/** What no test changes. */
let user: Awaited<ReturnType<typeof newUser>>;

beforeAll(async () => {
  suite = await startPeople();
  user = await newUser();
});

afterAll(async () => {
  await suite.close();
});

/** Someone who has used applications of every kind, one of them deleted since. */
async function newUser() {
  const owner = await newOwner(suite);
  const period_id = await insertCoveringPeriod(suite, owner);
  const { account_id } = owner;
  const [kept, deleted] = [
    await makeOwnApplication(owner.browser, { name: '=HYPERLINK("http://evil.example";"x"), "App"' }),
    await makeOwnApplication(owner.browser, { name: 'Gone' }),
  ];
  await owner.browser.request('DELETE', deleted.path);
  const temporary = await insertApplication(suite.database, account_id);
  await suite
    .database('applications')
    .where({ application_id: temporary.application_id })
    .update({ type: 'temporary', name: 'Temporary token' });
  const event = { at: THIRD_DAY_NOON, payer_id: account_id, period_id, account_id };
  await countPastUsage(suite.database, [
    { ...event, application_id: kept.application_id, points: 8 },
    { ...event, application_id: kept.application_id, points: 8, at: `${dayAgo(4)}T00:00:00Z` },
    { ...event, application_id: deleted.application_id, points: 4, api_version: 'v1' },
    { ...event, application_id: temporary.application_id, points: 2 },
    { ...event, application_id: 0, points: 1, api_version: 'v1' },
  ]);
  return { owner, kept, deleted, temporary };
}

describe('by application', () => {
  test('deleted ones, the temporary token’s and unknown ones are told as what they are', async () => {
    const { owner, kept, deleted, temporary } = user;
    const { groups } = await shownUsage(owner, `${FOUR_DAYS}&group_by=application`);
    const { account_id } = owner;
    expect(groups).toMatchObject([
      {
        application_id: kept.application_id,
        account_id,
        type: 'automatic',
        status: 'active',
        usage: { points_usage: 16 },
      },
      { application_id: deleted.application_id, name: 'Gone', status: 'deleted' },
      { application_id: temporary.application_id, name: 'Temporary token', type: 'temporary' },
      { application_id: 0, account_id: null, name: null, type: null, status: null },
    ]);
  });

  test('one can be asked for; another account’s is as one without usage', async () => {
    const { owner, deleted } = user;
    const stranger = await newOwner(suite);
    const query = `${FOUR_DAYS}&group_by=application&application_id=${String(deleted.application_id)}`;
    expect((await shownUsage(owner, query)).usage.points_usage).toBe(4);
    for (const view of ['billed', 'own']) {
      const shown = await shownUsage(stranger, `${query}&view=${view}`);
      expect([shown.usage.points_usage, shown.groups]).toEqual([0, []]);
      expect(JSON.stringify(shown)).not.toContain('Gone');
    }
  });
});

test('by API version, and of one', async () => {
  const { owner } = user;
  const { groups } = await shownUsage(owner, `${FOUR_DAYS}&group_by=api_version`);
  expect(groups).toMatchObject([
    { api_version: 'v2', usage: { points_usage: 18 } },
    { api_version: 'v1', usage: { points_usage: 5 } },
  ]);
  expect((await shownUsage(owner, `${FOUR_DAYS}&api_version=v1`)).usage.points_usage).toBe(5);
});

test('each answer is as the API’s document says', async () => {
  const { owner } = user;
  const contract = openContract(createApiDocument(ANY_DOOR) as unknown as OpenApi);
  const paths = ['none', 'application', 'member', 'api_version'].flatMap((by) => [
    `/usage?${FOUR_DAYS}&group_by=${by}`,
    `/usage?group_by=${by}&view=own&interval=hour`,
  ]);
  for (const path of [...paths, '/usage/pace', '/usage?from=x']) {
    const answer = await owner.browser.request('GET', path);
    expect([path, contract.faultsOfAnswer('GET', `/api/console${path}`, answer)]).toEqual([path, []]);
  }
});

describe('as CSV', () => {
  test('by format or by Accept, as a file, with nothing that a spreadsheet would run', async () => {
    const { owner, kept, deleted } = user;
    const query = `${FOUR_DAYS}&group_by=application`;
    for (const response of [
      await fetchUsage(suite.account, owner, `${query}&format=csv`),
      await fetchUsage(suite.account, owner, query, { accept: 'text/csv, application/json;q=0.5' }),
      await fetchUsage(suite.account, owner, `${query}&format=csv`, { accept: 'application/json' }),
    ]) {
      const name = `usage-${dayAgo(5)}-to-${dayAgo(2)}-by-day-and-application.csv`;
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
      expect(response.headers.get('content-disposition')).toBe(`attachment; filename=${name}`);
      expect([response.headers.get('vary'), response.headers.get('cache-control')]).toEqual([
        expect.stringMatching(/accept/i),
        'no-store',
      ]);
      const lines: Record<string, string>[] = parse(await response.text(), { columns: true });
      expect(lines.map((line) => [line['started_at'], line['application_id'], line['points_usage']])).toEqual(
        [
          [`${dayAgo(4)}T00:00:00Z`, String(kept.application_id), '8'],
          ...[
            ['0', '1'],
            [String(kept.application_id), '8'],
            [String(deleted.application_id), '4'],
          ].map(([id, points]) => [`${dayAgo(3)}T00:00:00Z`, id, points]),
          [`${dayAgo(3)}T00:00:00Z`, expect.any(String), '2'],
        ],
      );
      expect(lines[0]?.['application_name']).toBe('\'=HYPERLINK("http://evil.example";"x"), "App"');
    }
  });

  test('is not what one gets who doesn’t ask for it', async () => {
    const { owner } = user;
    for (const init of [
      {},
      { accept: '*/*' },
      { accept: 'application/json, text/csv' },
      { accept: 'image/png' },
    ]) {
      const response = await fetchUsage(suite.account, owner, FOUR_DAYS, init);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    }
    const asked = await fetchUsage(suite.account, owner, `${FOUR_DAYS}&format=json`, { accept: 'text/csv' });
    expect(asked.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const head = await fetchUsage(suite.account, owner, `${FOUR_DAYS}&format=csv`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  test('holds more than JSON does, and what is too much for JSON is refused', async () => {
    const owner = await newOwner(suite);
    const period_id = await insertCoveringPeriod(suite, owner);
    const hours = Array.from(
      { length: 48 },
      (_, hour) => Date.parse(`${dayAgo(4)}T00:00:00Z`) + hour * 3_600_000,
    );
    await countPastUsage(
      suite.database,
      hours.flatMap((at) =>
        Array.from({ length: 210 }, (_, application_id) => ({
          at: new Date(at),
          payer_id: owner.account_id,
          account_id: owner.account_id,
          period_id,
          application_id,
        })),
      ),
    );
    const query = `${FOUR_DAYS}&interval=hour&group_by=application`;
    const refused = await owner.browser.request('GET', `/usage?${query}`);
    expect([refused.status, refused.body['errors']]).toEqual([
      400,
      [{ field: 'group_by', message: expect.stringContaining('more than 10000') }],
    ]);
    const response = await fetchUsage(suite.account, owner, `${query}&format=csv`);
    expect(parse(await response.text(), { columns: true })).toHaveLength(48 * 210);
    expect((await shownUsage(owner, `${FOUR_DAYS}&interval=hour`)).usage.requests_usage).toBe(48 * 210);
  });
});
