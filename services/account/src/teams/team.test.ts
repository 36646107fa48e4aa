import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newOwner } from '../../test/suite/console.ts';
import type { Owner } from '../../test/suite/console.ts';
import { mailAbout, openBrowser, startPeople } from '../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../test/suite/people.ts';
import { insertPeriod } from '../../test/suite/database/records.ts';
import { getPrivate } from '../../test/suite/requests.ts';
import { inviteTo, joinTeam, makeTeam } from '../../test/suite/team.ts';
import { ensurePartitions } from '../counting/retention/partitions.ts';

let suite: PeopleUnderTest;

beforeAll(async () => {
  suite = await startPeople();
});

afterAll(async () => {
  await suite.close();
});

const person = () => newOwner(suite);

async function payerOf({ account_id }: Owner): Promise<unknown> {
  const answer = await getPrivate(suite.account, `/private/entitlements/${String(account_id)}`);
  return ((await answer.json()) as { payer_id: number }).payer_id;
}

async function team(members = 1): Promise<[Owner, ...Owner[]]> {
  const [manager, ...others] = await Promise.all(Array.from({ length: members + 1 }, person));
  if (manager === undefined) throw new Error('nobody');
  await makeTeam(manager);
  await joinTeam(manager, ...others);
  return [manager, ...others];
}

const view = async ({ browser }: Owner) => (await browser.request('GET', '/team')).body;

describe('a team', () => {
  test('is made by its manager, and a second one by nobody who is in one', async () => {
    const manager = await person();
    const { account_id, email } = manager;
    expect((await manager.browser.request('GET', '/team')).status).toBe(404);
    const made = await manager.browser.request('POST', '/team', { name: 'Ünï' });
    expect([made.status, made.body]).toEqual([
      201,
      {
        team_id: expect.any(Number),
        name: 'Ünï',
        created_at: expect.any(String),
        allows_applications: true,
        role: 'manager',
        payer_id: account_id,
        billing_status: 'none',
        slots: { used: 1, limit: null },
        members: [
          {
            account_id,
            name: 'Someone',
            email,
            role: 'manager',
            member_role: null,
            joined_at: expect.any(String),
            usage: null,
            budget: null,
          },
        ],
        former_members_usage: null,
        invitations: [],
      },
    ]);
    const again = await manager.browser.request('POST', '/team', { name: 'Other' });
    expect([again.status, again.body['code']]).toEqual([409, 'already_in_team']);
    const renamed = await manager.browser.request('PATCH', '/team', { name: 'New' });
    expect(renamed.body).toMatchObject({ name: 'New', team_id: made.body['team_id'] });
    for (const method of ['POST', 'PATCH']) {
      const { status, body } = await manager.browser.request(method, '/team', { name: ' ', more: 1 });
      expect(status).toBe(400);
      expect((body['errors'] as { field: string }[]).map(({ field }) => field)).toEqual(['name', 'more']);
    }
  });

  test('shows the manager each member’s usage of the payer’s current period, and that of who has left', async () => {
    const [manager, member, leaver] = await team(2);
    const period_id = await insertPeriod(suite.database, manager.account_id, {
      description: { team_slots_limit: 5 },
    });
    const hour = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000);
    await ensurePartitions(suite.database, [+hour]);
    const used = (account_id: number | undefined, points: number, period = period_id) => ({
      hour,
      period_id: period,
      account_id,
      application_id: points,
      api_version: 'v2',
      points,
      requests: 1,
      time_ms: 1_500,
      traffic_bytes: 10,
    });
    await suite
      .database('usage_hourly')
      .insert([
        used(manager.account_id, 3),
        used(member?.account_id, 4),
        used(member?.account_id, 5),
        used(leaver?.account_id, 6),
        used(member?.account_id, 7, period_id + 1_000),
      ]);
    await leaver?.browser.request('POST', '/team/leave');
    const usage = (points: number, requests: number) => ({
      points_usage: points,
      requests_usage: requests,
      time_sec_usage: Math.floor(requests * 1.5),
      traffic_bytes_usage: requests * 10,
    });
    expect(await view(manager)).toMatchObject({
      billing_status: 'active',
      slots: { used: 2, limit: 5 },
      members: [
        { account_id: manager.account_id, usage: usage(3, 1) },
        { account_id: member?.account_id, usage: usage(9, 2) },
      ],
      former_members_usage: usage(6, 1),
    });
    const seen = JSON.stringify(member && (await view(member)));
    expect(seen).toContain(manager.email);
    expect(seen).not.toMatch(/usage|invitations/);
  });

  test('bills its members’ calls to the manager from joining to leaving, or being removed, or the end', async () => {
    const [manager, leaver, removed, last] = await team(3);
    if (leaver === undefined || removed === undefined || last === undefined) throw new Error('nobody');
    for (const each of [manager, leaver, removed, last]) expect(await payerOf(each)).toBe(manager.account_id);
    expect((await leaver.browser.request('POST', '/team/leave')).status).toBe(204);
    expect(await payerOf(leaver)).toBe(leaver.account_id);
    const path = (account_id: number) => `/team/members/${String(account_id)}`;
    expect((await manager.browser.request('DELETE', path(removed.account_id))).status).toBe(204);
    expect(await payerOf(removed)).toBe(removed.account_id);
    for (const nobody of [removed.account_id, manager.account_id, 999_999_999]) {
      expect((await manager.browser.request('DELETE', path(nobody))).status).toBe(404);
    }
    expect((await manager.browser.request('DELETE', '/team')).status).toBe(204);
    expect(await payerOf(last)).toBe(last.account_id);
    for (const each of [manager, last]) expect((await each.browser.request('GET', '/team')).status).toBe(404);

    const log = async ({ account_id }: Owner) =>
      (await suite.database('audit_log').where({ account_id }).orderBy('audit_id'))
        .filter(({ action }) => String(action).startsWith('team_'))
        .map(({ action, actor }) => [action as string, actor as string]);
    const by = ({ account_id }: Owner) => `account:${String(account_id)}`;
    expect(await log(leaver)).toEqual([
      ['team_joined', by(leaver)],
      ['team_left', by(leaver)],
    ]);
    expect(await log(removed)).toEqual([
      ['team_joined', by(removed)],
      ['team_member_removed', by(manager)],
    ]);
    expect((await log(last)).at(-1)).toEqual(['team_dissolved', by(manager)]);
    expect((await log(manager)).map(([action]) => action)).toEqual([
      'team_created',
      ...Array.from({ length: 3 }, () => 'team_invitation_made'),
      'team_dissolved',
    ]);
  });

  test('is the manager’s only to change; a member can leave, and a manager of others can not', async () => {
    const [manager, member] = await team();
    if (member === undefined) throw new Error('nobody');
    for (const [method, path, body] of [
      ['PATCH', '/team', { name: 'Mine' }],
      ['DELETE', '/team'],
      ['POST', '/team/invitations', { email: 'someone@example.com' }],
      ['DELETE', '/team/invitations/1'],
      ['DELETE', `/team/members/${String(manager.account_id)}`],
      ['POST', '/team/hand-over', { account_id: member.account_id }],
    ] as const) {
      const { status, body: answer } = await member.browser.request(method, path, body);
      expect([method, path, status, answer['code']]).toEqual([method, path, 403, 'forbidden']);
    }
    const stays = await manager.browser.request('POST', '/team/leave');
    expect([stays.status, stays.body['code']]).toEqual([409, 'team_has_members']);
    expect((await member.browser.request('POST', '/team/leave')).status).toBe(204);
    expect((await manager.browser.request('POST', '/team/leave')).status).toBe(204);
    expect((await manager.browser.request('POST', '/team/leave')).status).toBe(404);
  });

  test('is handed over to a member, who pays from then on, is told by mail, and whose missing plan is warned of', async () => {
    const [manager, member] = await team();
    if (member === undefined) throw new Error('nobody');
    await insertPeriod(suite.database, manager.account_id);
    const handOver = (from: Owner, account_id: number) =>
      from.browser.request('POST', '/team/hand-over', { account_id });
    const stranger = await person();
    for (const nobody of [stranger.account_id, manager.account_id, 999_999_999]) {
      expect((await handOver(manager, nobody)).status).toBe(404);
    }
    const handed = await handOver(manager, member.account_id);
    expect(handed.body).toMatchObject({
      role: 'member',
      payer_id: member.account_id,
      billing_status: 'none',
      warning: expect.stringContaining('no active billing period'),
    });
    for (const each of [manager, member]) expect(await payerOf(each)).toBe(member.account_id);
    expect(await view(member)).toMatchObject({
      role: 'manager',
      members: [
        { account_id: member.account_id, role: 'manager' },
        { account_id: manager.account_id, role: 'member' },
      ],
    });
    await mailAbout(suite.mailDirectory, member.email, '[Tollgate] You now manage your team');
    const back = await handOver(member, manager.account_id);
    expect(back.body).toMatchObject({ billing_status: 'active', warning: null });
  });

  test('is nobody’s without a session, and unchanged without the CSRF token', async () => {
    const [manager, member] = await team();
    const invited = await person();
    const invitation = String(await inviteTo(manager, invited));
    const stranger = openBrowser(suite.account);
    for (const [method, path, body] of [
      ['GET', '/team'],
      ['PATCH', '/team', { name: 'Mine' }],
      ['DELETE', '/team'],
      ['POST', '/team/leave'],
      ['POST', '/team/hand-over', { account_id: member?.account_id }],
      ['POST', '/team/invitations', { email: 'someone@example.com' }],
      ['DELETE', `/team/invitations/${invitation}`],
      ['DELETE', `/team/members/${String(member?.account_id)}`],
      ['GET', '/invitations'],
      ['POST', `/invitations/${invitation}/accept`],
      ['POST', `/invitations/${invitation}/decline`],
      ['POST', '/invitations/accept', { token: 'x'.repeat(43) }],
    ] as const) {
      expect([method, path, (await stranger.request(method, path, body)).status]).toEqual([
        method,
        path,
        401,
      ]);
      if (method === 'GET') continue;
      const forged = await manager.browser.request(method, path, body, { 'x-csrf-token': 'none' });
      expect([method, path, forged.body['code']]).toEqual([method, path, 'csrf_token_required']);
    }
    expect(await view(manager)).toMatchObject({ name: 'Team', slots: { used: 3, limit: null } });
  });
});
