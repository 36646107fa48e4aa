import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { issueOwnToken, makeOwnApplication, newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { insertPeriod } from '../../../test/suite/database/records.ts';
import { signedInBrowser } from '../../../test/suite/people.ts';
import { getUsage, obtainToken } from '../../../test/suite/requests.ts';
import {
  addProvenDomain,
  makeUser,
  newScimToken,
  newUserBody,
  patchBody,
  provisionTeam,
  scimClient,
} from '../../../test/suite/scim.ts';
import type { MadeUser, ProvisionedTeam, ScimAnswer } from '../../../test/suite/scim.ts';
import { inviteTo, joinTeam } from '../../../test/suite/team.ts';

/** People whom a team's directory provisions, with the real auth behind their tokens. */

let suite: AccountUnderTest;
let team: ProvisionedTeam;

beforeAll(async () => {
  suite = await startAccount({ settings: { TRUSTED_PROXIES: '127.0.0.0/8 ::1/128' } });
  team = await provisionTeam(suite);
  await insertPeriod(suite.database, team.manager.account_id);
});

afterAll(async () => {
  await suite.close();
});

const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error';

const user = (id: string) => `/Users/${id}`;

const setActive = ({ scim }: ProvisionedTeam, { id }: MadeUser, value: unknown) =>
  scim('PATCH', user(id), patchBody({ op: 'replace', path: 'active', value }));

const membershipOf = async ({ account_id }: Pick<MadeUser, 'account_id'>) =>
  (await suite.database('team_members').where({ account_id }).first()) as
    { team_id: number; role: string; member_role: string } | undefined;

const accountOf = async (email: string) =>
  (await suite.database('accounts').whereRaw('lower(email) = lower(?)', [email]).first()) as
    { account_id: number; name: string; email: string; password_hash: string } | undefined;

function expectRefused(answer: ScimAnswer, status: number, scimType?: string) {
  expect([answer.status, answer.body['scimType']]).toEqual([status, scimType]);
  expect(answer.body).toMatchObject({ schemas: [ERROR_SCHEMA], status: String(status) });
  expect(answer.headers.get('content-type')).toBe('application/scim+json');
}

/** The account as its person uses it. */
async function personOf({ account_id, userName }: MadeUser): Promise<Owner> {
  const owner = await newOwner(suite);
  const { password_hash } = (await accountOf(owner.email)) ?? { password_hash: '' };
  await suite.database('accounts').where({ account_id }).update({ password_hash });
  const person = { account_id, email: userName, password: owner.password };
  return { ...person, browser: await signedInBrowser(suite.account, person) };
}

const isSignedIn = async ({ browser }: Owner) => (await browser.request('GET', '/session')).status === 200;

describe('a user who is created', () => {
  test('gets an account without a password, a membership and a location; entries say who did it', async () => {
    const body = newUserBody(team);
    const { status, body: made, headers } = await team.scim('POST', '/Users', body);
    expect(status).toBe(201);
    expect(made).toMatchObject({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: body.userName,
      externalId: body.externalId,
      name: body.name,
      emails: body.emails,
      active: true,
      meta: { resourceType: 'User', version: 'W/"1"' },
    });
    expect(headers.get('location')).toBe((made['meta'] as { location: string }).location);
    expect(headers.get('etag')).toBe('W/"1"');
    const account = await accountOf(body.userName);
    expect(account).toMatchObject({ name: 'Grace Hopper', password_hash: 'none' });
    const account_id = account?.account_id ?? 0;
    expect(await membershipOf({ account_id })).toMatchObject({
      team_id: team.team_id,
      role: 'member',
      member_role: 'developer',
    });
    const actions = await suite
      .database('audit_log')
      .where({ account_id })
      .orderBy('audit_id')
      .select('action', 'actor');
    expect(actions).toEqual([
      { action: 'account_created', actor: expect.stringMatching(/^scim:\d+$/) },
      { action: 'team_joined', actor: expect.stringMatching(/^scim:\d+$/) },
    ]);
    const { text } = await team.manager.browser.request('GET', '/activity?kind=team');
    expect(text).toContain('team_user_provisioned');
    expect((await team.scim('GET', user(String(made['id'])))).body).toEqual(made);
  });

  test('is refused where the userName is no address of a proven domain', async () => {
    const other = await provisionTeam(suite);
    for (const userName of [
      randomUUID(),
      'someone@example.com',
      `someone@sub.${team.domain}`,
      `someone@${other.domain}`,
      `"a b"@${team.domain}`,
      `@${team.domain}`,
    ]) {
      expectRefused(await team.scim('POST', '/Users', newUserBody(team, { userName })), 400, 'invalidValue');
      expect(await accountOf(userName)).toBeUndefined();
    }
    expectRefused(
      await team.scim('POST', '/Users', newUserBody(team, { userName: undefined })),
      400,
      'invalidValue',
    );
    expectRefused(await team.scim('POST', '/Users', newUserBody(team, { userName: 7 })), 400, 'invalidValue');
  });

  test('is refused once the domain is lapsed or lost; those who are there stay and can be removed', async () => {
    const other = await provisionTeam(suite);
    const made = await makeUser(suite, other);
    const domain = suite.database('team_domains').where({ team_id: other.team_id });
    await domain.clone().update({ missing_since: new Date(Date.now() - 31 * 86_400_000) });
    expectRefused(await other.scim('POST', '/Users', newUserBody(other)), 400, 'invalidValue');
    expect(await membershipOf(made)).toBeDefined();
    expect((await setActive(other, made, false)).status).toBe(200);
    expectRefused(await setActive(other, made, true), 400, 'invalidValue');
    await domain.clone().update({ missing_since: null });
    expect((await setActive(other, made, true)).status).toBe(200);
    await domain.clone().update({ proven_at: null });
    expectRefused(await other.scim('POST', '/Users', newUserBody(other)), 400, 'invalidValue');
  });

  test('is unique by userName in either case, also where another user of the account has another one', async () => {
    const made = await makeUser(suite, team);
    const again = newUserBody(team, { userName: made.userName.toUpperCase() });
    expectRefused(await team.scim('POST', '/Users', again), 409, 'uniqueness');
  });

  test('of two requests at once is made once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const body = newUserBody(team);
      const answers = await Promise.all([1, 2, 3].map(() => team.scim('POST', '/Users', body)));
      expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
      expect(
        await suite.database('scim_users').whereRaw('lower(user_name) = ?', [body.userName]),
      ).toHaveLength(1);
    }
  });

  test('who has an account of their own is refused, shown to the manager, and taken over once they have joined', async () => {
    const other = await provisionTeam(suite);
    const person = await newOwner(suite);
    const email = `own-${randomUUID()}@${other.domain}`;
    await suite.database('accounts').where({ account_id: person.account_id }).update({ email });
    const body = newUserBody(other, { userName: email });
    const refused = await other.scim('POST', '/Users', body);
    expectRefused(refused, 409, 'uniqueness');
    expect(await membershipOf(person)).toBeUndefined();
    const shown = async () =>
      (
        (await other.manager.browser.request('GET', '/team/provisioning')).body['refused'] as {
          email: string;
        }[]
      ).map((one) => one.email);
    expect(await shown()).toEqual([email]);
    await joinTeam(other.manager, { ...person, email });
    const { status } = await other.scim('POST', '/Users', body);
    expect([status, await shown()]).toEqual([201, []]);
    // The name is the person's own choice.
    expect(await accountOf(email)).toMatchObject({ name: 'Someone', account_id: person.account_id });
  });

  test('who is in another team is refused', async () => {
    const other = await provisionTeam(suite);
    const made = await makeUser(suite, team);
    await setActive(team, made, false);
    const person = await personOf(made);
    await joinTeam(other.manager, person);
    expectRefused(await setActive(team, made, true), 409, 'uniqueness');
    expect(await membershipOf(made)).toMatchObject({ team_id: other.team_id });
  });

  test('takes the place of their invitation', async () => {
    const body = newUserBody(team);
    await inviteTo(team.manager, { email: body.userName });
    expect((await team.scim('POST', '/Users', body)).status).toBe(201);
    const { body: shown } = await team.manager.browser.request('GET', '/team');
    expect((shown['invitations'] as { email: string }[]).map(({ email }) => email)).not.toContain(
      body.userName,
    );
  });

  test('takes a slot; without one, the answer names the limit, and nothing is left behind', async () => {
    const other = await provisionTeam(suite);
    await insertPeriod(suite.database, other.manager.account_id, { description: { team_slots_limit: 2 } });
    const made = await makeUser(suite, other);
    const body = newUserBody(other);
    const refused = await other.scim('POST', '/Users', body);
    expectRefused(refused, 403);
    expect(refused.body['detail']).toContain('team_slots_limit');
    expect(await accountOf(body.userName)).toBeUndefined();
    await setActive(other, made, false);
    expect((await other.scim('POST', '/Users', body)).status).toBe(201);
  });
});

describe('a user who is deactivated', () => {
  test.each<[string, (made: MadeUser) => Parameters<ProvisionedTeam['scim']>]>([
    [
      'by PATCH with a path',
      ({ id }: MadeUser) => ['PATCH', user(id), patchBody({ op: 'Replace', path: 'active', value: 'False' })],
    ],
    [
      'by PATCH without one',
      ({ id }: MadeUser) => ['PATCH', user(id), patchBody({ op: 'replace', value: { active: false } })],
    ],
    ['by PUT', ({ id, userName }: MadeUser) => ['PUT', user(id), { userName, active: false }]],
    ['by DELETE', ({ id }: MadeUser) => ['DELETE', user(id), undefined]],
  ])(
    '%s is out of the team at once, with sessions, tokens and applications made in it',
    async (_how, request) => {
      const made = await makeUser(suite, team);
      const person = await personOf(made);
      const application = await makeOwnApplication(person.browser);
      const automatic = await obtainToken(suite.auth, application);
      const { access_token } = await issueOwnToken(
        person.browser,
        await makeOwnApplication(person.browser, { type: 'manual' }),
      );
      const { body: temporary } = await person.browser.request('POST', '/temporary-token');
      const tokens = [automatic, access_token, String(temporary['access_token'])];
      const statuses = () =>
        Promise.all(tokens.map(async (one) => (await getUsage(suite.account, one)).status));
      expect(await statuses()).toEqual([200, 200, 200]);
      const { status } = await team.scim(...request(made));
      expect([200, 204]).toContain(status);
      await waitFor(async () => (await statuses()).every((one) => one === 401));
      expect([await isSignedIn(person), await membershipOf(made)]).toEqual([false, undefined]);
      await expect(obtainToken(suite.auth, application)).rejects.toThrow('401');
      expect(await accountOf(made.userName)).toMatchObject({ account_id: made.account_id });
    },
  );

  test('keeps what was made before and after, and gets membership and role back, but no token', async () => {
    const other = await provisionTeam(suite);
    const person = await newOwner(suite);
    const email = `own-${randomUUID()}@${other.domain}`;
    await suite.database('accounts').where({ account_id: person.account_id }).update({ email });
    const owner = { ...person, email };
    await insertPeriod(suite.database, person.account_id);
    const old = await makeOwnApplication(owner.browser, { type: 'manual' });
    const oldToken = await issueOwnToken(owner.browser, old);
    await joinTeam(other.manager, owner);
    await suite
      .database('access_tokens')
      .where({ token_id: oldToken.token_id })
      .update({ issued_at: new Date(Date.now() - 60_000) });
    const made = await makeUser(suite, other, { userName: email });
    const within = await issueOwnToken(owner.browser, old, 'within');
    expect((await setActive(other, made, false)).status).toBe(200);
    const usable = async (one: string) => (await getUsage(suite.account, one)).status === 200;
    expect(await usable(oldToken.access_token)).toBe(true);
    await waitFor(async () => !(await usable(within.access_token)));
    const back = await setActive(other, made, true);
    expect(back.body).toMatchObject({ active: true });
    expect(await membershipOf(made)).toMatchObject({ member_role: 'developer' });
    expect(await usable(within.access_token)).toBe(false);
  });

  test('and had left by hand loses nothing that was made afterwards', async () => {
    const made = await makeUser(suite, team);
    const person = await personOf(made);
    await person.browser.request('POST', '/team/leave');
    await insertPeriod(suite.database, made.account_id);
    expect((await team.scim('GET', user(made.id))).body).toMatchObject({ active: false });
    await suite
      .database('scim_users')
      .where({ scim_user_id: made.id })
      .update({ left_at: new Date(Date.now() - 5_000), provisioned_at: new Date(Date.now() - 60_000) });
    const { access_token } = await issueOwnToken(
      person.browser,
      await makeOwnApplication(person.browser, { type: 'manual' }),
    );
    expect((await team.scim('DELETE', user(made.id))).status).toBe(204);
    expect((await getUsage(suite.account, access_token)).status).toBe(200);
  });

  test('is removed whatever address they have by then', async () => {
    const made = await makeUser(suite, team);
    const email = `own-${randomUUID()}@example.org`;
    await suite.database('accounts').where({ account_id: made.account_id }).update({ email });
    const retitled = patchBody({ op: 'add', path: 'title', value: 'Dr' });
    expect((await team.scim('PATCH', user(made.id), retitled)).status).toBe(200);
    expect((await setActive(team, made, false)).body).toMatchObject({ active: false });
    expect([await membershipOf(made), (await accountOf(email))?.account_id]).toEqual([
      undefined,
      made.account_id,
    ]);
  });

  test('after they left by hand loses what was made in the team then, not by another change; activated, they are back', async () => {
    const made = await makeUser(suite, team);
    const person = await personOf(made);
    const application = await makeOwnApplication(person.browser, { type: 'manual' });
    await person.browser.request('POST', '/team/leave');
    const status = async () =>
      (
        (await suite.database('applications').where({ client_id: application.client_id }).first()) as {
          status: string;
        }
      ).status;
    const retitled = patchBody({ op: 'add', path: 'title', value: 'Dr' });
    expect((await team.scim('PATCH', user(made.id), retitled)).body).toMatchObject({ active: false });
    expect([await status(), await isSignedIn(person)]).toEqual(['active', true]);
    await setActive(team, made, false);
    expect([await status(), await isSignedIn(person)]).toEqual(['revoked', false]);
    expect((await setActive(team, made, true)).body).toMatchObject({ active: true });
    expect(await membershipOf(made)).toBeDefined();
  });

  test('and has an address of their own by then comes back by an invitation only', async () => {
    const made = await makeUser(suite, team);
    const person = await personOf(made);
    await person.browser.request('POST', '/team/leave');
    const email = `own-${randomUUID()}@example.org`;
    await suite.database('accounts').where({ account_id: made.account_id }).update({ email });
    expectRefused(await setActive(team, made, true), 409, 'uniqueness');
    const retitled = { op: 'add', path: 'title', value: 'Dr' };
    const both = patchBody(retitled, { op: 'replace', path: 'active', value: true });
    expectRefused(await team.scim('PATCH', user(made.id), both), 409, 'uniqueness');
    const { body } = await team.scim('GET', user(made.id));
    expect([body['active'], body['title'], await membershipOf(made)]).toEqual([false, undefined, undefined]);
    await joinTeam(team.manager, { ...person, email });
    expect((await team.scim('GET', user(made.id))).body).toMatchObject({ active: true });
  });

  test('and deleted is 404, and the next user of the name is another one with the same account', async () => {
    const made = await makeUser(suite, team);
    expect((await setActive(team, made, false)).status).toBe(200);
    expect((await team.scim('DELETE', user(made.id))).status).toBe(204);
    for (const method of ['GET', 'DELETE']) expectRefused(await team.scim(method, user(made.id)), 404);
    expectRefused(await setActive(team, made, true), 404);
    const again = await makeUser(suite, team, { userName: made.userName });
    expect([again.account_id, again.id === made.id]).toEqual([made.account_id, false]);
  });

  test('and made again and again leaves one record, and is still an account that the directory made', async () => {
    const made = await makeUser(suite, team);
    let { id } = made;
    for (let round = 0; round < 3; round += 1) {
      expect((await team.scim('DELETE', user(id))).status).toBe(204);
      ({ id } = await makeUser(suite, team, { userName: made.userName }));
    }
    const { account_id } = made;
    expect(
      await suite
        .database('scim_users')
        .where({ account_id })
        .orderBy('created_at')
        .select('made_account', 'deleted_at'),
    ).toEqual([
      { made_account: true, deleted_at: expect.any(Date) as unknown },
      { made_account: true, deleted_at: null },
    ]);
  });

  test('while they sign in has no session of a member', async () => {
    for (let round = 0; round < 3; round += 1) {
      const made = await makeUser(suite, team);
      const person = await personOf(made);
      const [removed, signedIn] = await Promise.all([
        team.scim('DELETE', user(made.id)),
        signedInBrowser(suite.account, person),
      ]);
      expect(removed.status).toBe(204);
      expect((await signedIn.request('GET', '/team')).status).not.toBe(200);
      expect(await isSignedIn(person)).toBe(false);
    }
  });

  test('while they create an application keeps none that works', async () => {
    for (let round = 0; round < 3; round += 1) {
      const made = await makeUser(suite, team);
      const person = await personOf(made);
      const wanted = { name: 'Racing', type: 'automatic', token_lifespan_sec: 3_600 };
      const [removed] = await Promise.all([
        team.scim('DELETE', user(made.id)),
        person.browser.request('POST', '/applications', wanted),
        person.browser.request('POST', '/applications', wanted),
      ]);
      expect(removed.status).toBe(204);
      // Entries are written under the account's lock: what came first is what the removal has seen.
      const entries = await suite
        .database('audit_log')
        .where({ account_id: made.account_id })
        .whereIn('action', ['application_created', 'team_member_removed'])
        .orderBy('audit_id')
        .select<{ action: string; application_id: number }[]>('action', 'application_id');
      const removal = entries.findIndex(({ action }) => action === 'team_member_removed');
      const before = entries.slice(0, removal).map(({ application_id }) => application_id);
      const active = await suite
        .database('applications')
        .whereIn('application_id', before)
        .where({ status: 'active' });
      expect(active).toEqual([]);
    }
  });
});

describe('the manager', () => {
  async function managed() {
    const own = await provisionTeam(suite);
    const email = `boss-${randomUUID()}@${own.domain}`;
    const { account_id } = own.manager;
    await suite.database('accounts').where({ account_id }).update({ email });
    return { own, made: await makeUser(suite, own, { userName: email }), account_id };
  }

  test('can be known to the directory, and never be deactivated, deleted, renamed or demoted by it', async () => {
    const { own, made, account_id } = await managed();
    expect(made.account_id).toBe(account_id);
    const refused = [
      await setActive(own, made, false),
      await own.scim('DELETE', user(made.id)),
      await own.scim('PUT', user(made.id), { userName: made.userName, active: false }),
      await own.scim('PUT', user(made.id), { userName: `other@${own.domain}`, active: true }),
    ];
    for (const answer of refused) {
      expectRefused(answer, 403, 'mutability');
      expect(answer.body['detail']).toContain('manager');
    }
    expect(await membershipOf(made)).toMatchObject({ role: 'manager' });
    expect(await accountOf(made.userName)).toMatchObject({ account_id });
  });

  test('who hands over while the directory deactivates leaves the team with one manager', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { own, made } = await managed();
      const next = await makeUser(suite, own);
      const [handed, first, second] = await Promise.all([
        own.manager.browser.request('POST', '/team/hand-over', { account_id: next.account_id }),
        setActive(own, made, false),
        setActive(own, next, false),
      ]);
      expect([200, 404]).toContain(handed.status);
      for (const { status } of [first, second]) expect([200, 403]).toContain(status);
      const managers = await suite.database('team_members').where({ team_id: own.team_id, role: 'manager' });
      expect(managers).toHaveLength(1);
    }
  });
});

describe('a user who is changed', () => {
  test('gets a new address if both domains are the team’s', async () => {
    const made = await makeUser(suite, team);
    const userName = `new-${randomUUID()}@${await addProvenDomain(suite, team.team_id)}`;
    const change = patchBody({ op: 'replace', path: 'userName', value: userName });
    expect((await team.scim('PATCH', user(made.id), change)).body).toMatchObject({ userName });
    expect(await accountOf(userName)).toMatchObject({ account_id: made.account_id });
    const outside = patchBody({ op: 'replace', path: 'userName', value: 'me@example.com' });
    expectRefused(await team.scim('PATCH', user(made.id), outside), 400, 'invalidValue');
    await suite
      .database('accounts')
      .where({ account_id: made.account_id })
      .update({ email: `own-${randomUUID()}@example.org` });
    const back = patchBody({ op: 'replace', path: 'userName', value: `back@${team.domain}` });
    expectRefused(await team.scim('PATCH', user(made.id), back), 400, 'mutability');
  });

  test('gets no address that another account has, and a refused operation undoes the others', async () => {
    const [made, other] = [await makeUser(suite, team), await makeUser(suite, team)];
    const change = patchBody(
      { op: 'replace', path: 'displayName', value: 'Changed' },
      { op: 'replace', path: 'userName', value: other.userName },
    );
    expectRefused(await team.scim('PATCH', user(made.id), change), 409, 'uniqueness');
    const { body } = await team.scim('GET', user(made.id));
    expect([body['displayName'], body['userName']]).toEqual([undefined, made.userName]);
  });

  test('gets the name that the directory says, if it made the account', async () => {
    const made = await makeUser(suite, team);
    await team.scim(
      'PATCH',
      user(made.id),
      patchBody({ op: 'add', path: 'displayName', value: 'Rear Admiral' }),
    );
    expect(await accountOf(made.userName)).toMatchObject({ name: 'Rear Admiral' });
    const bad = patchBody({ op: 'add', path: 'displayName', value: 'a\u202eb' });
    expectRefused(await team.scim('PATCH', user(made.id), bad), 400, 'invalidValue');
  });

  test('has at most 16 KiB of attributes, and can be deactivated however much it has', async () => {
    const addresses = Array.from({ length: 20 }, (_, at) => ({
      streetAddress: `${'x'.repeat(1_000)} ${String(at)}`,
    }));
    const much = newUserBody(team, { addresses });
    expectRefused(await team.scim('POST', '/Users', much), 400, 'invalidValue');
    expect(await accountOf(much.userName)).toBeUndefined();
    const made = await makeUser(suite, team, { addresses: addresses.slice(10) });
    const add = patchBody({ op: 'add', path: 'roles', value: { value: 'x'.repeat(1_000) } });
    expect((await team.scim('PATCH', user(made.id), add)).status).toBe(200);
    const more = patchBody({ op: 'replace', path: 'addresses', value: addresses });
    expectRefused(await team.scim('PATCH', user(made.id), more), 400, 'invalidValue');
    const whole = { ...much, userName: made.userName };
    expectRefused(await team.scim('PUT', user(made.id), whole), 400, 'invalidValue');
    // As a version without the limit has kept it.
    const attributes = JSON.stringify({ addresses });
    await suite.database('scim_users').where({ scim_user_id: made.id }).update({ attributes });
    expect((await setActive(team, made, false)).body).toMatchObject({ active: false });
  });

  test('is guarded by If-Match', async () => {
    const made = await makeUser(suite, team);
    const change = patchBody({ op: 'add', path: 'title', value: 'Dr' });
    const stale = await team.scim('PATCH', user(made.id), change, { 'if-match': 'W/"7"' });
    expectRefused(stale, 412);
    const fresh = await team.scim('PATCH', user(made.id), change, { 'if-match': 'W/"1"' });
    expect([fresh.status, fresh.headers.get('etag')]).toEqual([200, 'W/"2"']);
  });
});

test('a directory finds, changes and removes no user of another team', async () => {
  const [made, other] = [await makeUser(suite, team), await provisionTeam(suite)];
  for (const [method, body] of [
    ['GET', undefined],
    ['PUT', { userName: made.userName }],
    ['PATCH', patchBody({ op: 'replace', path: 'active', value: false })],
    ['DELETE', undefined],
  ] as const) {
    expectRefused(await other.scim(method, user(made.id), body), 404);
  }
  const { body } = await other.scim(
    'GET',
    `/Users?filter=${encodeURIComponent(`userName eq "${made.userName}"`)}`,
  );
  expect(body).toMatchObject({ totalResults: 0, Resources: [] });
  expect(await membershipOf(made)).toBeDefined();
});

describe('a token', () => {
  test('is needed at every path, and refused once it has ended', async () => {
    const own = await provisionTeam(suite);
    const anonymous = scimClient(suite, 'none');
    const forged = scimClient(suite, `${own.token.slice(0, -1)}${own.token.endsWith('0') ? '1' : '0'}`);
    for (const path of ['/Users', '/ServiceProviderConfig', '/nothing', '']) {
      for (const scim of [anonymous, forged]) expectRefused(await scim('GET', path), 401);
    }
    await suite.database('scim_tokens').where({ team_id: own.team_id }).update({ expires_at: new Date() });
    expectRefused(await own.scim('GET', '/Users'), 401);
  });

  test('is made in a confirmed session only, of an account that isn’t blocked', async () => {
    const own = await provisionTeam(suite);
    const { account_id, browser, password } = own.manager;
    const make = async () => {
      const { status, body } = await browser.request('POST', '/team/provisioning/tokens', {});
      return [status, body['code']];
    };
    await suite
      .database('sessions')
      .where({ account_id })
      .update({ confirmed_at: new Date(Date.now() - 901_000) });
    expect(await make()).toEqual([403, 'confirmation_required']);
    await browser.request('POST', '/session/confirm', { password });
    await suite.database('accounts').where({ account_id }).update({ blocked_at: new Date() });
    expect(await make()).toEqual([403, 'account_blocked']);
    await suite.database('accounts').where({ account_id }).update({ blocked_at: null });
    expect((await make())[0]).toBe(201);
  });

  test('may send 100 requests in a second; then it is told when to try again', async () => {
    const own = await provisionTeam(suite);
    const answers = await Promise.all(Array.from({ length: 300 }, () => own.scim('GET', '/Users?count=0')));
    const limited = answers.filter(({ status }) => status === 429);
    expect(limited.length).toBeGreaterThan(0);
    expect(limited[0]?.headers.get('retry-after')).toBe('1');
    await waitFor(async () => (await own.scim('GET', '/Users?count=0')).status === 200);
  });

  test('may change so much in an hour, whatever its token; it is told when to try again, and can read on', async () => {
    const own = await provisionTeam(suite);
    const made = await makeUser(suite, own);
    const subject = createHash('sha256')
      .update(`scim changes ${String(own.team_id)}`)
      .digest('base64url');
    await suite.database('attempt_counts').where({ subject }).update({ attempts: 20_000 });
    const other = scimClient(suite, await newScimToken(own.manager));
    const limited = await other('PATCH', user(made.id), patchBody({ op: 'add', path: 'title', value: 'Dr' }));
    expect(limited.status).toBe(429);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(1);
    expect((await own.scim('GET', user(made.id))).status).toBe(200);
  });

  test('is shown with its last use and its last refusal, and never itself', async () => {
    const own = await provisionTeam(suite);
    await own.scim('POST', '/Users', newUserBody(own, { userName: 'someone@example.com' }));
    const shown = async () => (await own.manager.browser.request('GET', '/team/provisioning')).body;
    await waitFor(async () => JSON.stringify(await shown()).includes('POST /Users: 400'));
    const body = await shown();
    expect(body['tokens']).toEqual([
      expect.objectContaining({ last_used_at: expect.any(String), last_error: expect.any(Object) }),
    ]);
    expect(JSON.stringify(body)).not.toContain(own.token);
    const second = await newScimToken(own.manager);
    const third = await own.manager.browser.request('POST', '/team/provisioning/tokens', {});
    expect([third.status, third.body['code']]).toEqual([409, 'token_limit_reached']);
    const [{ scim_token_id: newest }] = (await shown())['tokens'] as [{ scim_token_id: number }];
    const path = `/team/provisioning/tokens/${String(newest)}`;
    expect((await own.manager.browser.request('DELETE', path)).status).toBe(204);
    expectRefused(await scimClient(suite, second)('GET', '/Users'), 401);
    expect((await own.scim('GET', '/Users')).status).toBe(200);
  });
});
