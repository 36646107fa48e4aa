import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newOwner } from '../../test/suite/console.ts';
import type { Owner } from '../../test/suite/console.ts';
import { done, order, shownTo, startShop, subscriber } from '../../test/suite/billing.ts';
import type { Shown } from '../../test/suite/billing.ts';
import type { PeopleUnderTest } from '../../test/suite/people.ts';
import { inviteTo, joinTeam, makeTeam } from '../../test/suite/team.ts';

/** What members of a team may do beside calling the API. */

let suite: PeopleUnderTest;
let small: number;
let large: number;

beforeAll(async () => {
  ({ suite, small, large } = await startShop());
});

afterAll(async () => {
  await suite.close();
});

const person = () => newOwner(suite);

async function managerAndMember(): Promise<[Owner, Owner]> {
  const [manager, member] = await Promise.all([person(), person()]);
  await makeTeam(manager);
  await joinTeam(manager, member);
  return [manager, member];
}

/** The member subscribed before they joined. */
async function subscribedManagerAndMember(): Promise<[Owner, Owner]> {
  const [manager, member] = [await subscriber(suite, large), await subscriber(suite, small)];
  await makeTeam(manager);
  await joinTeam(manager, member);
  return [manager, member];
}

const ownSubscription = ({ account_id, browser }: Owner) =>
  browser.request('GET', `/subscription?account_id=${String(account_id)}`);

/** Whose subscription ends with its period. */
async function cancellations(manager: Owner, member: Owner): Promise<{ manager: unknown; member: unknown }> {
  const isCancelled = async (owner: Owner) =>
    ((await ownSubscription(owner)).body as Shown).subscription?.['cancel_at_period_end'];
  return { manager: await isCancelled(manager), member: await isCancelled(member) };
}

const setRole = (by: Owner, { account_id }: Owner, member_role: unknown) =>
  by.browser.request('PATCH', `/team/members/${String(account_id)}`, { member_role });

const rolesSeenBy = async ({ browser }: Owner) => {
  const { body } = await browser.request('GET', '/team');
  return (body['members'] as { member_role: string | null }[]).map(({ member_role }) => member_role);
};

const create = ({ browser }: Owner) =>
  browser.request('POST', '/applications', { name: 'Mine', type: 'manual', token_lifespan_sec: 3_600 });

describe('a member’s role', () => {
  test('is developer at first, is changed by the manager alone, and is shown to both', async () => {
    const [manager, member] = await managerAndMember();
    expect(await rolesSeenBy(manager)).toEqual([null, 'developer']);
    const own = await setRole(member, member, 'billing');
    expect([own.status, own.body['code']]).toEqual([403, 'forbidden']);
    const changed = await setRole(manager, member, 'billing');
    expect([changed.status, await rolesSeenBy(member)]).toEqual([200, [null, 'billing']]);
    const path = `/private/teams/${String(changed.body['team_id'])}`;
    const operated = await done<{ members: { member_role: string | null }[] }>(suite.account, 'GET', path);
    expect(operated.members.map(({ member_role }) => member_role)).toEqual([null, 'billing']);

    const entries = await suite
      .database('audit_log')
      .where({ action: 'team_member_role_changed', account_id: member.account_id })
      .select('actor', 'details');
    expect(entries).toEqual([
      {
        actor: `account:${String(manager.account_id)}`,
        details: expect.objectContaining({ before: 'developer', member_role: 'billing' }),
      },
    ]);
    const activity = await manager.browser.request('GET', '/activity?kind=team');
    expect(activity.text).toContain('team_member_role_changed');
  });

  test('of another kind, of the manager or of a stranger is refused, and a repetition leaves no entry', async () => {
    const [manager, member] = await managerAndMember();
    const stranger = await person();
    for (const bad of ['manager', 'owner', '', null, 1]) {
      const { status, body } = await setRole(manager, member, bad);
      expect([status, (body['errors'] as { field: string }[])[0]?.field]).toEqual([400, 'member_role']);
    }
    expect((await setRole(manager, manager, 'viewer')).status).toBe(404);
    expect((await setRole(manager, stranger, 'viewer')).status).toBe(404);
    expect((await setRole(manager, member, 'developer')).status).toBe(200);
    const entries = await suite
      .database('audit_log')
      .where({ action: 'team_member_role_changed', account_id: member.account_id });
    expect(entries).toEqual([]);
  });

  test('comes with the invitation, and is the default again after a hand-over', async () => {
    const [manager, invited] = await Promise.all([person(), person()]);
    await makeTeam(manager);
    const { email } = invited;
    const sent = await manager.browser.request('POST', '/team/invitations', { email, member_role: 'viewer' });
    expect(sent.status).toBe(201);
    expect((await manager.browser.request('GET', '/team')).body).toMatchObject({
      invitations: [{ member_role: 'viewer' }],
    });
    const id = String(sent.body['invitation_id']);
    await invited.browser.request('POST', `/invitations/${id}/accept`);
    expect(await rolesSeenBy(manager)).toEqual([null, 'viewer']);
    await manager.browser.request('POST', '/team/hand-over', { account_id: invited.account_id });
    expect(await rolesSeenBy(manager)).toEqual([null, 'developer']);
    expect((await create(invited)).status).toBe(201);
  });

  test('that the former manager gave, also by an invitation, ends with the hand-over', async () => {
    const [manager, next, accomplice, invited] = await Promise.all([person(), person(), person(), person()]);
    await makeTeam(manager);
    await joinTeam(manager, next, accomplice);
    await setRole(manager, accomplice, 'billing');
    const { email } = invited;
    await manager.browser.request('POST', '/team/invitations', { email, member_role: 'billing' });
    await manager.browser.request('POST', '/team/hand-over', { account_id: next.account_id });
    expect(await rolesSeenBy(next)).toEqual([null, 'developer', 'developer']);
    expect((await next.browser.request('GET', '/team')).body).toMatchObject({
      invitations: [{ member_role: 'developer' }],
    });
    expect((await order(accomplice, small)).body['code']).toBe('forbidden');
  });

  test('of an invitation is checked', async () => {
    const manager = await person();
    await makeTeam(manager);
    const { status, body } = await manager.browser.request('POST', '/team/invitations', {
      email: 'someone@example.com',
      member_role: 'admin',
    });
    expect([status, (body['errors'] as { field: string }[])[0]?.field]).toEqual([400, 'member_role']);
  });
});

describe('a viewer', () => {
  test('creates no credential of any kind; existing ones stay, and a developer creates them again', async () => {
    const [manager, member] = await managerAndMember();
    const made = await create(member);
    const application = `/applications/${String(made.body['application_id'])}`;
    const token = await member.browser.request('POST', `${application}/tokens`, { name: 'Before' });
    expect(token.status).toBe(201);
    await setRole(manager, member, 'viewer');
    const refused = [
      await create(member),
      await member.browser.request('POST', `${application}/tokens`, { name: 'After' }),
      await member.browser.request('POST', `${application}/rotate-secret`, { overlap_sec: 0 }),
      await member.browser.request('POST', '/temporary-token'),
    ];
    expect(refused.map(({ status, body }) => [status, body['code']])).toEqual(
      refused.map(() => [403, 'team_role']),
    );
    const copy = `${application}/tokens/${String(token.body['token_id'])}/copy`;
    expect((await member.browser.request('POST', copy)).status).toBe(200);
    expect((await member.browser.request('POST', `${application}/revoke`)).status).toBe(200);
    await setRole(manager, member, 'developer');
    expect((await create(member)).status).toBe(201);
  });

  test('who leaves the team creates them for themselves again', async () => {
    const [manager, member] = await managerAndMember();
    await setRole(manager, member, 'viewer');
    expect((await create(member)).status).toBe(403);
    await member.browser.request('POST', '/team/leave');
    expect((await create(member)).status).toBe(201);
  });
});

describe('a member with the role billing', () => {
  test('sees the manager’s plan and buys for the manager in their own name; others see and buy nothing of it', async () => {
    const [manager, member] = await managerAndMember();
    expect((await order(member, small)).body['code']).toBe('forbidden');
    await setRole(manager, member, 'billing');
    const bought = await order(member, small);
    expect([bought.status, bought.body]).toMatchObject([
      201,
      { account_id: manager.account_id, subscription: { plan_id: small } },
    ]);
    expect(await shownTo(manager)).toMatchObject({ subscription: { plan_id: small } });
    const entries = await suite
      .database('audit_log')
      .where({ account_id: manager.account_id, action: 'subscription_created' })
      .select('actor');
    expect(entries).toEqual([{ actor: `account:${String(member.account_id)}` }]);
    const periods = async (of: Owner) =>
      ((await of.browser.request('GET', '/periods')).body['periods'] as unknown[]).length;
    expect([await periods(member), await periods(manager)]).toEqual([1, 1]);

    await setRole(manager, member, 'developer');
    expect(await periods(member)).toBe(0);
    expect(await shownTo(member)).toMatchObject({
      account_id: member.account_id,
      subscription: null,
      payer: { account_id: manager.account_id },
    });
  });

  test('who is blocked themselves buys nothing', async () => {
    const [manager, member] = await managerAndMember();
    await setRole(manager, member, 'billing');
    const { account_id } = member;
    await suite.database('accounts').where({ account_id }).update({ blocked_at: new Date() });
    const { status, body } = await order(member, small);
    expect([status, body['code']]).toEqual([403, 'account_blocked']);
  });

  test('sees all usage, their own on request, and nothing of it once they are removed', async () => {
    const [manager, member] = await managerAndMember();
    await order(manager, small);
    await setRole(manager, member, 'billing');
    const usage = async (view: string) =>
      (await member.browser.request('GET', `/usage?interval=day${view}`)).body['view'];
    expect([await usage(''), await usage('&view=billed'), await usage('&view=own')]).toEqual([
      'billed',
      'billed',
      'own',
    ]);
    const path = `/team/members/${String(member.account_id)}`;
    expect((await manager.browser.request('DELETE', path)).status).toBe(204);
    expect((await member.browser.request('GET', '/periods')).body['periods']).toEqual([]);
    expect(await shownTo(member)).toMatchObject({ account_id: member.account_id, subscription: null });
  });

  test('cancels and resumes either subscription: the manager’s, or on request their own', async () => {
    const [manager, member] = await subscribedManagerAndMember();
    await setRole(manager, member, 'billing');
    const ofMember = `?account_id=${String(member.account_id)}`;
    expect(await shownTo(member)).toMatchObject({
      account_id: manager.account_id,
      subscription: { plan_id: large },
    });
    expect((await ownSubscription(member)).body).toMatchObject({
      account_id: member.account_id,
      payer: { account_id: manager.account_id },
      subscription: { plan_id: small },
    });

    const steps: [string, { manager: boolean; member: boolean }][] = [
      [`cancel${ofMember}`, { manager: false, member: true }],
      ['cancel', { manager: true, member: true }],
      [`resume${ofMember}`, { manager: true, member: false }],
      [`resume?account_id=${String(manager.account_id)}`, { manager: false, member: false }],
    ];
    for (const [step, cancelled] of steps) {
      const { status } = await member.browser.request('POST', `/subscription/${step}`);
      expect([step, status, await cancellations(manager, member)]).toEqual([step, 200, cancelled]);
    }
    const entries = await suite
      .database('audit_log')
      .where({ actor: `account:${String(member.account_id)}` })
      .whereIn('action', ['subscription_cancellation_planned', 'subscription_resumed'])
      .orderBy('audit_id')
      .select('action', 'account_id');
    expect(entries).toEqual([
      { action: 'subscription_cancellation_planned', account_id: member.account_id },
      { action: 'subscription_cancellation_planned', account_id: manager.account_id },
      { action: 'subscription_resumed', account_id: member.account_id },
      { action: 'subscription_resumed', account_id: manager.account_id },
    ]);
  });

  test('names only these two accounts, and other roles only their own', async () => {
    const [manager, member] = await subscribedManagerAndMember();
    const stranger = await subscriber(suite, small);
    const refused = async (by: Owner, { account_id }: Pick<Owner, 'account_id'>) => {
      const named = `?account_id=${String(account_id)}`;
      const answers = [
        await by.browser.request('GET', `/subscription${named}`),
        await by.browser.request('POST', `/subscription/cancel${named}`),
        await by.browser.request('POST', `/subscription/resume${named}`),
      ];
      return answers.map(({ status, body }) => [status, body['code']]);
    };
    const forbidden = Array.from({ length: 3 }, () => [403, 'forbidden']);
    for (const role of ['developer', 'viewer']) {
      await setRole(manager, member, role);
      expect(await refused(member, manager)).toEqual(forbidden);
    }
    await setRole(manager, member, 'billing');
    expect(await refused(member, stranger)).toEqual(forbidden);
    expect(await refused(manager, member)).toEqual(forbidden);
    // As a page that shows the manager's plan does when the member was removed meanwhile.
    await manager.browser.request('DELETE', `/team/members/${String(member.account_id)}`);
    expect(await refused(member, manager)).toEqual(forbidden);
    expect(await cancellations(manager, member)).toEqual({ manager: false, member: false });

    const odd = await member.browser.request('POST', '/subscription/cancel?account_id=own');
    expect([odd.status, (odd.body['errors'] as { field: string }[])[0]?.field]).toEqual([400, 'account_id']);
  });

  test('manages no members, and none of the manager’s applications', async () => {
    const [manager, member] = await managerAndMember();
    const made = await create(manager);
    await setRole(manager, member, 'billing');
    const invited = await person();
    await expect(inviteTo(member, invited)).rejects.toThrow('forbidden');
    const application = `/applications/${String(made.body['application_id'])}`;
    expect((await member.browser.request('GET', application)).status).toBe(404);
    expect((await create(member)).status).toBe(201);
  });
});
