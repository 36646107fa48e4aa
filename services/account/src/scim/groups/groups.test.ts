import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { mailAbout, mailsTo, openBrowser, startPeople } from '../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../test/suite/people.ts';
import { makeUser, newUserBody, patchBody, provisionTeam } from '../../../test/suite/scim.ts';
import type { MadeUser, ProvisionedTeam, ScimAnswer } from '../../../test/suite/scim.ts';

/** Groups and the roles that they give, lists, and the settings of the Team page. */

let suite: PeopleUnderTest;

beforeAll(async () => {
  suite = await startPeople({ HOUSEKEEPING_INTERVAL_SEC: '1' });
});

afterAll(async () => {
  await suite.close();
});

const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group';

async function makeGroup(
  { scim }: ProvisionedTeam,
  displayName: string,
  ...members: MadeUser[]
): Promise<string> {
  const { status, text, body } = await scim('POST', '/Groups', {
    schemas: [GROUP_SCHEMA],
    displayName,
    members: members.map(({ id }) => ({ value: id })),
  });
  if (status !== 201) throw new Error(`no group: ${text}`);
  return String(body['id']);
}

const roleOf = async ({ account_id }: MadeUser) =>
  (
    (await suite.database('team_members').where({ account_id }).first()) as
      { member_role: string } | undefined
  )?.member_role;

const SETTINGS = { default_role: 'developer', keeps_manual_roles: false, group_roles: [] as object[] };

const configure = ({ manager }: ProvisionedTeam, changes: Partial<typeof SETTINGS>) =>
  manager.browser.request('PUT', '/team/provisioning', { ...SETTINGS, ...changes });

const shownTo = async ({ manager }: ProvisionedTeam) =>
  (await manager.browser.request('GET', '/team/provisioning')).body;

const refusalOf = ({ status, body }: ScimAnswer) => [status, body['scimType']];

describe('a role', () => {
  test('follows from the strongest group of a table, else is the default; groups and settings change it at once', async () => {
    const team = await provisionTeam(suite);
    const user = await makeUser(suite, team);
    expect(await roleOf(user)).toBe('developer');
    const roles = [
      { group_name: 'finance', member_role: 'billing' },
      { group_name: 'Guests', member_role: 'viewer' },
    ];
    expect((await configure(team, { default_role: 'viewer', group_roles: roles })).status).toBe(200);
    expect(await roleOf(user)).toBe('viewer');
    const finance = await makeGroup(team, 'Finance', user);
    const guests = await makeGroup(team, 'Guests', user);
    expect(await roleOf(user)).toBe('billing');
    await team.scim(
      'PATCH',
      `/Groups/${finance}`,
      patchBody({ op: 'remove', path: `members[value eq "${user.id}"]` }),
    );
    expect(await roleOf(user)).toBe('viewer');
    await team.scim(
      'PATCH',
      `/Groups/${guests}`,
      patchBody({ op: 'replace', value: { displayName: 'FINANCE ' } }),
    );
    await configure(team, { group_roles: [{ group_name: 'Finance ', member_role: 'billing' }] });
    expect(await roleOf(user)).toBe('billing');
    expect((await team.scim('DELETE', `/Groups/${guests}`)).status).toBe(204);
    expect(await roleOf(user)).toBe('developer');
    const entries = await suite
      .database('audit_log')
      .where({ account_id: user.account_id, action: 'team_member_role_changed' })
      .orderBy('audit_id')
      .select<{ actor: string }[]>('actor');
    expect(entries.map(({ actor }) => actor.split(':')[0])).toEqual([
      'account',
      'scim',
      'scim',
      'account',
      'scim',
    ]);
  });

  test('that was set by hand is marked, and stays only if the manager says so', async () => {
    const team = await provisionTeam(suite);
    const user = await makeUser(suite, team);
    const setByHand = () =>
      team.manager.browser.request('PATCH', `/team/members/${String(user.account_id)}`, {
        member_role: 'billing',
      });
    await setByHand();
    expect((await shownTo(team))['manual_roles']).toEqual([
      { account_id: user.account_id, email: user.userName, member_role: 'billing' },
    ]);
    await configure(team, { keeps_manual_roles: true, default_role: 'viewer' });
    expect(await roleOf(user)).toBe('billing');
    await configure(team, { keeps_manual_roles: false, default_role: 'viewer' });
    expect([await roleOf(user), (await shownTo(team))['manual_roles']]).toEqual(['viewer', []]);
  });

  test('comes back with a person who is activated again', async () => {
    const team = await provisionTeam(suite);
    await configure(team, { group_roles: [{ group_name: 'Finance', member_role: 'billing' }] });
    const user = await makeUser(suite, team);
    await makeGroup(team, 'Finance', user);
    for (const value of ['False', 'True']) {
      await team.scim('PATCH', `/Users/${user.id}`, patchBody({ op: 'Replace', path: 'active', value }));
    }
    expect(await roleOf(user)).toBe('billing');
  });
});

describe('a group', () => {
  test('has its members, shows in theirs, and both leave each other out when asked', async () => {
    const team = await provisionTeam(suite);
    const [user, other] = [await makeUser(suite, team), await makeUser(suite, team)];
    const id = await makeGroup(team, 'Navy', user);
    const { body } = await team.scim('GET', `/Groups/${id}`);
    expect(body).toMatchObject({
      displayName: 'Navy',
      members: [{ value: user.id, type: 'User', $ref: expect.stringContaining(`/Users/${user.id}`) }],
    });
    const add = patchBody({ op: 'Add', path: 'members', value: [{ value: other.id }, { value: user.id }] });
    expect((await team.scim('PATCH', `/Groups/${id}`, add)).body['members']).toHaveLength(2);
    expect((await team.scim('GET', `/Users/${user.id}`)).body['groups']).toEqual([
      { value: id, $ref: expect.stringContaining(`/Groups/${id}`), display: 'Navy' },
    ]);
    const without = await team.scim('GET', `/Groups/${id}?excludedAttributes=members`);
    expect(without.body).not.toHaveProperty('members');
    await team.scim('DELETE', `/Users/${other.id}`);
    expect((await team.scim('GET', `/Groups/${id}`)).body['members']).toHaveLength(1);
  });

  test('has users of its team alone, once each, and a name of its own', async () => {
    const [team, foreign] = [await provisionTeam(suite), await provisionTeam(suite)];
    const stranger = await makeUser(suite, foreign);
    const id = await makeGroup(team, 'Navy');
    for (const members of [
      [{ value: stranger.id }],
      [{ value: randomUUID() }],
      [{ value: 'nonsense' }],
      [{ value: id, type: 'Group' }],
    ]) {
      const add = patchBody({ op: 'add', path: 'members', value: members });
      expect(refusalOf(await team.scim('PATCH', `/Groups/${id}`, add))).toEqual([400, 'invalidValue']);
    }
    const again = { schemas: [GROUP_SCHEMA], displayName: 'NAVY' };
    expect(refusalOf(await team.scim('POST', '/Groups', again))).toEqual([409, 'uniqueness']);
    expect((await foreign.scim('GET', `/Groups/${id}`)).status).toBe(404);
    expect((await foreign.scim('POST', '/Groups', again)).status).toBe(201);
  });

  test('changed by two at once has the members of both', async () => {
    const team = await provisionTeam(suite);
    const id = await makeGroup(team, 'Navy');
    const users = await Promise.all([1, 2, 3, 4].map(() => makeUser(suite, team)));
    await Promise.all(
      users.map((user) =>
        team.scim(
          'PATCH',
          `/Groups/${id}`,
          patchBody({ op: 'add', path: 'members', value: [{ value: user.id }] }),
        ),
      ),
    );
    expect((await team.scim('GET', `/Groups/${id}`)).body['members']).toHaveLength(4);
  });
});

describe('a list', () => {
  test('is filtered, and an unknown filter gives no one', async () => {
    const team = await provisionTeam(suite);
    const body = newUserBody(team, { displayName: 'Rear Admiral', active: false });
    const { body: made } = await team.scim('POST', '/Users', body);
    await makeUser(suite, team);
    const find = async (filter: string) => {
      const answer = await team.scim('GET', `/Users?filter=${encodeURIComponent(filter)}`);
      const found = answer.body['Resources'] as { id: string }[] | undefined;
      return answer.status === 200 ? found?.map(({ id }) => id) : refusalOf(answer);
    };
    for (const filter of [
      `userName eq "${body.userName.toUpperCase()}"`,
      `externalId eq "${body.externalId}"`,
      `emails.value eq "${body.userName}"`,
      'displayName eq "rear admiral"',
      `id eq "${String(made['id'])}"`,
      `userName eq "${body.userName}" and externalId eq "${body.externalId}"`,
    ]) {
      expect([filter, await find(filter)]).toEqual([filter, [made['id']]]);
    }
    expect(await find(`externalId eq "${body.externalId.toUpperCase()}"`)).toEqual([]);
    expect(await find(`id eq "x' OR true --"`)).toEqual([]);
    for (const filter of ['', 'userName sw "a"', 'active eq true', `title eq "x"`]) {
      expect([filter, await find(filter)]).toEqual([filter, [400, 'invalidFilter']]);
    }
    const twice = await team.scim('GET', '/Users?filter=id%20eq%20%22a%22&filter=id%20eq%20%22b%22');
    expect(refusalOf(twice)).toEqual([400, 'invalidFilter']);
  });

  test('has pages in a stable order, totals alone for a count of 0, and at most 200 at once', async () => {
    const team = await provisionTeam(suite);
    const made = [];
    for (let index = 0; index < 5; index += 1) made.push((await makeUser(suite, team)).id);
    const page = async (query: string) => (await team.scim('GET', `/Users?${query}`)).body;
    const ids = (body: Record<string, unknown>) =>
      (body['Resources'] as { id: string }[]).map(({ id }) => id);
    expect(ids(await page('startIndex=0'))).toEqual(made);
    expect(ids(await page('startIndex=2&count=2'))).toEqual(made.slice(1, 3));
    expect(await page('startIndex=2&count=2')).toMatchObject({
      totalResults: 5,
      startIndex: 2,
      itemsPerPage: 2,
    });
    expect(await page('count=0')).toMatchObject({ totalResults: 5, itemsPerPage: 0, Resources: [] });
    expect(await page('count=-3&startIndex=-1')).toMatchObject({
      totalResults: 5,
      startIndex: 1,
      itemsPerPage: 0,
    });
    expect(await page('startIndex=99')).toMatchObject({ totalResults: 5, startIndex: 99, Resources: [] });
    expect(ids(await page('count=100000'))).toHaveLength(5);
    for (const query of ['count=x', 'startIndex=1.5', 'count=1&count=2']) {
      expect(refusalOf(await team.scim('GET', `/Users?${query}`))).toEqual([400, 'invalidValue']);
    }
    const { body } = await team.scim('GET', '/ServiceProviderConfig');
    expect(body).toMatchObject({ bulk: { supported: false }, filter: { maxResults: 200 } });
    expect((await team.scim('POST', '/Bulk', {})).status).toBe(404);
  });
});

describe('a body', () => {
  test('may be of either media type, is limited, and is refused compressed or as something else', async () => {
    const team = await provisionTeam(suite);
    const plain = { 'content-type': 'application/json; charset=utf-8' };
    expect((await team.scim('POST', '/Users', newUserBody(team), plain)).status).toBe(201);
    const send = async (body: string, headers: Record<string, string>) =>
      refusalOf(await team.scim('POST', '/Users', body, headers));
    expect(await send('{}', { 'content-type': 'text/plain' })).toEqual([415, undefined]);
    expect(await send('{', plain)).toEqual([400, 'invalidSyntax']);
    expect(await send('7', plain)).toEqual([400, 'invalidSyntax']);
    expect(await send(`{"x":"${'a'.repeat(600_000)}"}`, plain)).toEqual([413, undefined]);
    expect(await send('{}', { ...plain, 'content-encoding': 'gzip' })).toEqual([415, undefined]);
  });
});

describe('provisioning', () => {
  test('is the manager’s alone, and its settings are checked', async () => {
    const team = await provisionTeam(suite);
    const outside = openBrowser(suite.account);
    expect((await outside.request('GET', '/team/provisioning')).status).toBe(401);
    for (const changes of [
      { default_role: 'manager' },
      { group_roles: [{ group_name: '', member_role: 'viewer' }] },
      { group_roles: ['Finance', 'FINANCE'].map((group_name) => ({ group_name, member_role: 'viewer' })) },
    ]) {
      expect((await configure(team, changes)).status).toBe(400);
    }
    expect(await shownTo(team)).toMatchObject({
      base_url: expect.stringMatching(/\/scim\/v2$/),
      settings: SETTINGS,
      people: { active: 0, inactive: 0 },
    });
  });

  test('switched off keeps people, and mails those without a password a link to choose one', async () => {
    const team = await provisionTeam(suite);
    const user = await makeUser(suite, team);
    await mailAbout(suite.mailDirectory, user.userName, '[Tollgate] Your company has added you to its team');
    const { status } = await team.manager.browser.request('POST', '/team/provisioning/end', {
      people: 'keep',
    });
    expect([status, (await team.scim('GET', '/Users')).status]).toEqual([204, 401]);
    expect(await roleOf(user)).toBe('developer');
    const mail = await mailAbout(suite.mailDirectory, user.userName, '[Tollgate] Choose a password');
    const { request } = openBrowser(suite.account);
    const chosen = { token: mail.token, password: 'a good long one' };
    expect((await request('POST', '/password-reset/confirm', chosen)).status).toBe(204);
    expect(await shownTo(team)).toMatchObject({ settings: null, tokens: [] });
    const again = await team.manager.browser.request('POST', '/team/provisioning/end', { people: 'keep' });
    expect(again.status).toBe(404);
  });

  test('switched off removes the directory’s people, if the manager says so', async () => {
    const team = await provisionTeam(suite);
    const users = [await makeUser(suite, team), await makeUser(suite, team)];
    const { status } = await team.manager.browser.request('POST', '/team/provisioning/end', {
      people: 'remove',
    });
    expect([status, ...(await Promise.all(users.map(roleOf)))]).toEqual([204, undefined, undefined]);
    expect(await suite.database('team_members').where({ team_id: team.team_id })).toHaveLength(1);
  });

  test('the manager is mailed 30 days, 7 days and a day before a token ends, once each', async () => {
    const team = await provisionTeam(suite);
    const { email } = team.manager;
    const told = () => mailsTo(suite.mailDirectory, email).map(({ subject }) => subject);
    const endsIn = (days: number) =>
      suite
        .database('scim_tokens')
        .where({ team_id: team.team_id })
        .update({
          created_at: new Date(Date.now() - 86_400_000),
          expires_at: new Date(Date.now() + days * 86_400_000 - 60_000),
        });
    const text = (left: string) => `[Tollgate] The provisioning token of your team ends in ${left}`;
    for (const [days, left] of [
      [30, '30 days'],
      [7, '7 days'],
      [1, 'a day'],
    ] as const) {
      await endsIn(days);
      await waitFor(() => told().includes(text(left)), { what: `the mail ${left} before` });
    }
    expect(told()).toEqual([text('30 days'), text('7 days'), text('a day')]);
  });
});
