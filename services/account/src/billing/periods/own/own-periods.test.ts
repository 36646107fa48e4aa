import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newOwner } from '../../../../test/suite/console.ts';
import type { Owner } from '../../../../test/suite/console.ts';
import { insertPeriod, secondsFromNow } from '../../../../test/suite/database/records.ts';
import type { PeriodChanges } from '../../../../test/suite/database/records.ts';
import { startPeople } from '../../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../../test/suite/people.ts';
import { joinTeam, makeTeam } from '../../../../test/suite/team.ts';
import { countPastUsage } from '../../../../test/suite/usage/usage-rows.ts';

/** `GET /api/console/periods`: the billing periods of the past and the current one. */

const DAY_SEC = 86_400;

let suite: PeopleUnderTest;

beforeAll(async () => {
  suite = await startPeople();
});

afterAll(async () => {
  await suite.close();
});

const begun = secondsFromNow(0).getTime();

const daysAgo = (days: number, sec = 0) => new Date(begun + (sec - days * DAY_SEC) * 1_000);
const textOf = (instant: Date) => instant.toISOString().replace('.000', '');

/** From `from` to `to` in days before now. */
function insertDays(owner: Owner, from: number, to: number, changes: PeriodChanges = {}): Promise<number> {
  const times = { started_at: daysAgo(from), ended_at: daysAgo(to, -1) };
  return insertPeriod(suite.database, owner.account_id, { ...times, ...changes });
}

type Listed = { period_id: number; status: string; plan_name: string } & Record<string, unknown>;

async function listed({ browser }: Owner, query = '') {
  const { status, text, body } = await browser.request('GET', `/periods${query}`);
  if (status !== 200) throw new Error(`no periods: ${text}`);
  return body as { periods: Listed[]; next_cursor: string | null };
}

const ids = ({ periods }: { periods: readonly Listed[] }) => periods.map(({ period_id }) => period_id);

describe('billing periods', () => {
  test('state what neither the plan nor credits covered', async () => {
    const owner = await newOwner(suite);
    const [earlier, current] = [await insertDays(owner, 40, 10), await insertDays(owner, 10, -10)];
    await suite
      .database('period_credits')
      .insert({ period_id: current, settled_points: 30, overuse_points: 12, carried_points: 0 });
    expect(await listed(owner)).toMatchObject({
      periods: [
        { period_id: current, overuse_points: 12 },
        { period_id: earlier, overuse_points: 0 },
      ],
    });
  });

  test('are listed with plan, times, limits and usage, by their start and not by their id', async () => {
    const owner = await newOwner(suite);
    const current = await insertDays(owner, 10, -10, {
      plan_name: 'Large',
      description: { points_limit: 500, rate_limit: 0, support: 'e-mail' },
      team_slots_limit: 3,
    });
    const earlier = await insertDays(owner, 40, 10, { plan_name: 'Small' });
    const upcoming = await insertDays(owner, -10, -40);
    const { account_id } = owner;
    const event = { payer_id: account_id, account_id, at: daysAgo(2) };
    await countPastUsage(suite.database, [
      { ...event, period_id: current, points: 7, requests: 2, time_ms: 1_900, traffic_bytes: 10 },
      { ...event, period_id: current, points: 1, requests: 1, time_ms: 200, traffic_bytes: 1 },
    ]);
    const shown = await listed(owner);
    expect(ids(shown)).toEqual([current, earlier]);
    expect(ids(shown)).not.toContain(upcoming);
    expect(shown).toMatchObject({
      next_cursor: null,
      periods: [
        {
          plan_name: 'Large',
          status: 'active',
          started_at: textOf(daysAgo(10)),
          ended_at: textOf(daysAgo(-10, -1)),
        },
        {
          plan_name: 'Small',
          status: 'expired',
          started_at: textOf(daysAgo(40)),
          ended_at: textOf(daysAgo(10, -1)),
        },
      ],
    });
    expect(shown.periods[0]).toMatchObject({
      product: null,
      limits: {
        points_limit: 500,
        rate_limit: 0,
        session_limit: null,
        subscription_limit: null,
        time_sec_limit: null,
        traffic_bytes_limit: null,
        team_slots_limit: 3,
      },
      usage: { points_usage: 8, requests_usage: 3, time_sec_usage: 2, traffic_bytes_usage: 11 },
    });
    expect(shown.periods[1]?.['usage']).toEqual({
      points_usage: 0,
      requests_usage: 0,
      time_sec_usage: 0,
      traffic_bytes_usage: 0,
    });
  });

  test('come in pages that neither repeat nor skip one', async () => {
    const owner = await newOwner(suite);
    const inserted: number[] = [];
    for (const days of [30, 20, 40, 10, 50]) inserted.push(await insertDays(owner, days, days - 10));
    const [thirty, twenty, forty, ten, fifty] = inserted;
    const first = await listed(owner, '?limit=2');
    expect(ids(first)).toEqual([ten, twenty]);
    const second = await listed(owner, `?limit=2&cursor=${String(first.next_cursor)}`);
    expect(ids(second)).toEqual([thirty, forty]);
    const third = await listed(owner, `?limit=2&cursor=${String(second.next_cursor)}`);
    expect([ids(third), third.next_cursor]).toEqual([[fifty], null]);
  });

  test('a block of the account is shown for the last one, not for those before it', async () => {
    const owner = await newOwner(suite);
    await insertDays(owner, 60, 30, { blocked_at: daysAgo(50) });
    await insertDays(owner, 30, 10);
    await insertDays(owner, 10, -10);
    await suite
      .database('accounts')
      .where({ account_id: owner.account_id })
      .update({ blocked_at: new Date() });
    const { periods } = await listed(owner);
    expect(periods.map(({ status }) => status)).toEqual(['blocked', 'expired', 'blocked']);
  });

  test('the last one can be in its grace window', async () => {
    const owner = await newOwner(suite);
    await insertDays(owner, 30, 1, { grace_sec: 2 * DAY_SEC });
    expect((await listed(owner)).periods[0]?.status).toBe('grace');
  });

  test('a manager sees what members used; a member sees neither that nor the period', async () => {
    const [manager, member] = [await newOwner(suite), await newOwner(suite)];
    const paying = await insertDays(manager, 10, -10, { team_slots_limit: 5 });
    const own = await insertDays(member, 40, 10);
    await makeTeam(manager);
    await joinTeam(manager, member);
    await countPastUsage(suite.database, [
      {
        at: daysAgo(1),
        payer_id: manager.account_id,
        account_id: member.account_id,
        period_id: paying,
        points: 9,
      },
    ]);
    expect((await listed(manager)).periods).toMatchObject([
      { period_id: paying, usage: { points_usage: 9 } },
    ]);
    expect(ids(await listed(member))).toEqual([own]);
  });

  test('are empty without any, refused without a session, and refused for an invalid page', async () => {
    const owner = await newOwner(suite);
    expect(await listed(owner)).toEqual({ periods: [], next_cursor: null });
    for (const query of ['?limit=0', '?limit=201', '?cursor=x', '?other=1']) {
      const refused = await owner.browser.request('GET', `/periods${query}`);
      expect([refused.status, refused.body['code']]).toEqual([400, 'invalid_request']);
    }
    const anyone = await fetch(`${suite.account.publicUrl}/api/console/periods`);
    expect(anyone.status).toBe(401);
    const posted = await owner.browser.request('POST', '/periods', {});
    expect(posted.status).toBe(405);
  });
});
