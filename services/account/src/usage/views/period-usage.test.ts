import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { insertPeriod } from '../../../test/suite/database/records.ts';
import { startPeople } from '../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../test/suite/people.ts';
import { joinTeam, makeTeam } from '../../../test/suite/team.ts';
import { countPastUsage } from '../../../test/suite/usage/usage-rows.ts';
import { dayAgo, fetchUsage, pointsByBucket, shownUsage } from '../../../test/suite/usage/usage-views.ts';

/** Usage of a billing period, whose first and last hour other periods share. */

const NO_USAGE = { points_usage: 0, requests_usage: 0, time_sec_usage: 0, traffic_bytes_usage: 0 };

let suite: PeopleUnderTest;

beforeAll(async () => {
  suite = await startPeople();
});

afterAll(async () => {
  await suite.close();
});

const isoSecond = (instant: Date) => instant.toISOString().replace('.000Z', 'Z');

/** Two periods that meet at 14:37 ten days ago, with usage before, at and after that moment. */
async function newPayer() {
  const owner = await newOwner(suite);
  const { account_id } = owner;
  const end = new Date(`${dayAgo(10)}T14:36:59Z`);
  const start = new Date(end.getTime() + 1_000);
  const earlier = await insertPeriod(suite.database, account_id, {
    started_at: new Date(`${dayAgo(38)}T14:37:00Z`),
    ended_at: end,
    grace_sec: 3 * 86_400,
  });
  const later = await insertPeriod(suite.database, account_id, {
    started_at: start,
    ended_at: new Date(start.getTime() + 30 * 86_400_000),
  });
  const event = { account_id, payer_id: account_id, time_ms: 700, traffic_bytes: 10, requests: 1 };
  await countPastUsage(suite.database, [
    { ...event, period_id: earlier, at: `${dayAgo(38)}T14:37:00Z`, points: 1 },
    { ...event, period_id: earlier, at: `${dayAgo(20)}T03:00:00Z`, points: 2 },
    { ...event, period_id: earlier, at: `${dayAgo(10)}T14:36:59Z`, points: 4 },
    { ...event, period_id: later, at: `${dayAgo(10)}T14:37:00Z`, points: 8 },
    // Charged late to the period that is over.
    { ...event, period_id: earlier, at: `${dayAgo(9)}T01:00:00Z`, points: 16 },
    { ...event, period_id: later, at: `${dayAgo(1)}T12:00:00Z`, points: 32 },
  ]);
  return { ...owner, earlier, later, start, end };
}

async function listedUsage({ browser }: Owner, periodId: number): Promise<object | undefined> {
  const { body } = await browser.request('GET', '/periods');
  return (body['periods'] as { period_id: number; usage: object }[]).find(
    ({ period_id }) => period_id === periodId,
  )?.usage;
}

async function csvSums(owner: Owner, query: string): Promise<number[]> {
  const text = await (await fetchUsage(suite.account, owner, `${query}&format=csv`)).text();
  const lines = text.trim().split('\r\n').slice(1);
  const figures = lines.map((line) => line.split(',').slice(-4).map(Number));
  return [0, 1, 2, 3].map((column) => figures.reduce((sum, line) => sum + (line[column] ?? 0), 0));
}

describe('usage of a billing period', () => {
  test.each(['day', 'hour'])(
    'by %s is what the list of periods says, and so is the CSV',
    async (interval) => {
      const payer = await newPayer();
      for (const period_id of [payer.earlier, payer.later]) {
        const query = `period_id=${String(period_id)}&interval=${interval}`;
        const shown = await shownUsage(payer, query);
        expect(shown.usage).toEqual(await listedUsage(payer, period_id));
        const { points_usage, requests_usage, traffic_bytes_usage } = shown.usage;
        const [points, requests, , traffic] = await csvSums(payer, query);
        expect([points, requests, traffic]).toEqual([points_usage, requests_usage, traffic_bytes_usage]);
        const buckets = Object.values(pointsByBucket(shown));
        expect(buckets.reduce((sum, value) => sum + value, 0)).toBe(points_usage);
      }
    },
  );

  test('has its instants, and only its own part of a day that two periods share', async () => {
    const payer = await newPayer();
    const shared = `${dayAgo(10)}T00:00:00Z`;
    const earlier = await shownUsage(payer, `period_id=${String(payer.earlier)}`);
    expect(earlier).toMatchObject({
      from: `${dayAgo(38)}T00:00:00Z`,
      to: `${dayAgo(8)}T00:00:00Z`,
      billing_period: {
        period_id: payer.earlier,
        started_at: `${dayAgo(38)}T14:37:00Z`,
        ended_at: isoSecond(payer.end),
      },
    });
    expect(pointsByBucket(earlier)[shared]).toBe(4);
    const later = await shownUsage(payer, `period_id=${String(payer.later)}`);
    expect([later.from, later.billing_period?.started_at]).toEqual([shared, isoSecond(payer.start)]);
    expect(pointsByBucket(later)[shared]).toBe(8);
  });

  test('by group adds up to the same total', async () => {
    const payer = await newPayer();
    const shown = await shownUsage(payer, `period_id=${String(payer.earlier)}&group_by=application`);
    const points = shown.groups.map(({ usage }) => usage.points_usage);
    expect(points.reduce((sum, value) => sum + value, 0)).toBe(23);
  });

  test('is a member’s own part of the manager’s period, and the whole one only for its payer', async () => {
    const [manager, member] = [await newPayer(), await newOwner(suite)];
    await suite
      .database('billing_periods')
      .where({ period_id: manager.later })
      .update({ team_slots_limit: 2 });
    await makeTeam(manager);
    await joinTeam(manager, member);
    const period_id = manager.later;
    const { account_id } = member;
    const event = { payer_id: manager.account_id, period_id, account_id, at: `${dayAgo(2)}T12:00:00Z` };
    await countPastUsage(suite.database, [{ ...event, points: 5 }]);
    const query = `period_id=${String(period_id)}`;
    const own = await shownUsage(member, query);
    expect([own.view, own.usage.points_usage]).toEqual(['own', 5]);
    expect((await shownUsage(manager, query)).usage.points_usage).toBe(45);
    const refused = await member.browser.request('GET', `/usage?${query}&view=billed`);
    expect([refused.status, refused.body['code']]).toEqual([400, 'invalid_request']);
  });

  test('of another account, of one ahead or of one long ago is refused, and so is a range beside it', async () => {
    const [payer, stranger] = [await newPayer(), await newOwner(suite)];
    const { account_id } = stranger;
    const ahead = await insertPeriod(suite.database, account_id, {
      started_at: new Date(Date.now() + 86_400_000),
      ended_at: new Date(Date.now() + 2 * 86_400_000),
    });
    const old = await insertPeriod(suite.database, account_id, {
      started_at: new Date('2020-01-01T00:00:00Z'),
      ended_at: new Date('2020-01-31T23:59:59Z'),
    });
    const long = await insertPeriod(suite.database, account_id, {
      started_at: new Date(`${dayAgo(50)}T00:00:00Z`),
      ended_at: new Date(Date.now() + 10_000),
    });
    for (const [query, field] of [
      [`period_id=${String(payer.later)}`, 'period_id'],
      [`period_id=${String(ahead)}`, 'period_id'],
      [`period_id=${String(old)}`, 'period_id'],
      [`period_id=${String(long)}&from=${dayAgo(3)}`, 'from'],
      [`period_id=${String(long)}&to=${dayAgo(3)}`, 'to'],
      [`period_id=${String(long)}&interval=hour`, 'interval'],
      ['period_id=x', 'period_id'],
    ]) {
      const { status, body } = await stranger.browser.request('GET', `/usage?${String(query)}`);
      expect([query, status, (body['errors'] as { field: string }[])[0]?.field]).toEqual([query, 400, field]);
    }
    expect((await shownUsage(stranger, `period_id=${String(long)}`)).usage).toEqual(NO_USAGE);
  });
});
