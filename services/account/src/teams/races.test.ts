import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { newOwner } from '../../test/suite/console.ts';
import type { Owner } from '../../test/suite/console.ts';
import { raceAtRow } from '../../test/suite/database/held-row.ts';
import { nthMail, startPeople } from '../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../test/suite/people.ts';
import { insertPeriod } from '../../test/suite/database/records.ts';
import { inviteTo, joinTeam, makeTeam } from '../../test/suite/team.ts';
import type { Membership } from './store.ts';

/** Each race runs several times, and every outcome must be sound. */

const ROUNDS = 3;

let suite: PeopleUnderTest;

beforeAll(async () => {
  suite = await startPeople({ MAIL_REQUESTS_PER_ADDRESS: '1000' });
});

afterAll(async () => {
  await suite.close();
});

const person = () => newOwner(suite);

async function newManager(...members: Owner[]): Promise<Owner> {
  const manager = await person();
  await makeTeam(manager);
  await joinTeam(manager, ...members);
  return manager;
}

const accept = ({ browser }: Owner, id: number) =>
  browser.request('POST', `/invitations/${String(id)}/accept`);
const leave = ({ browser }: Owner) => browser.request('POST', '/team/leave');

async function outcomes(requests: readonly ReturnType<typeof leave>[]): Promise<unknown[]> {
  const answers = await Promise.all(requests);
  return answers
    .map(({ status, body }) => (status < 300 ? String(status) : `${String(status)} ${String(body['code'])}`))
    .toSorted();
}

const membershipsOf = ({ account_id }: Owner) =>
  suite.database('team_members').where({ account_id }).select<Membership[]>('account_id', 'team_id', 'role');

test('invitations for the last slots: as many as there are slots', async () => {
  const manager = await newManager();
  await insertPeriod(suite.database, manager.account_id, { description: { team_slots_limit: 3 } });
  const invite = () =>
    manager.browser.request('POST', '/team/invitations', { email: `${randomUUID()}@example.com` });
  const full = '409 team_slots_limit_exceeded';
  const [{ team_id } = { team_id: 0 }] = await membershipsOf(manager);
  const row = { table: 'teams', where: { team_id }, waiting: 3 } as const;
  const answers = await raceAtRow(suite.database, row, () => Array.from({ length: 5 }, invite));
  const settled = answers.map((answer) => Promise.resolve(answer));
  expect(await outcomes(settled)).toEqual(['201', '201', full, full, full]);
  expect((await manager.browser.request('GET', '/team')).body).toMatchObject({
    slots: { used: 3, limit: 3 },
  });
});

test('two invitations to one address: one', async () => {
  const manager = await newManager();
  for (let round = 0; round < ROUNDS; round += 1) {
    const email = `${randomUUID()}@example.com`;
    const invite = () => manager.browser.request('POST', '/team/invitations', { email });
    expect(await outcomes([invite(), invite()])).toEqual(['201', '409 invitation_pending']);
  }
});

test('two teams made by one account: one', async () => {
  const manager = await person();
  const make = () => manager.browser.request('POST', '/team', { name: 'Team' });
  expect(await outcomes([make(), make()])).toEqual(['201', '409 already_in_team']);
  expect(
    await suite
      .database('teams')
      .whereNotExists(suite.database('team_members').whereRaw('team_members.team_id = teams.team_id')),
  ).toEqual([]);
});

test('one invitation accepted twice, by one person or by two who have its mail: one member', async () => {
  const manager = await newManager();
  for (let round = 0; round < ROUNDS; round += 1) {
    const [invited, other] = [await person(), await person()];
    const id = await inviteTo(manager, invited);
    const { token } = await nthMail(suite.mailDirectory, invited.email);
    const byToken = other.browser.request('POST', '/invitations/accept', { token });
    expect(await outcomes([accept(invited, id), accept(invited, id), byToken])).toEqual([
      '200',
      '404 not_found',
      '404 not_found',
    ]);
    expect([...(await membershipsOf(invited)), ...(await membershipsOf(other))]).toHaveLength(1);
  }
});

test('two invitations accepted by one person, and a team made by them: in one team', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const [one, other, invited] = [await newManager(), await newManager(), await person()];
    const ids = [await inviteTo(one, invited), await inviteTo(other, invited)];
    const make = invited.browser.request('POST', '/team', { name: 'Team' });
    const found = await outcomes([...ids.map((id) => accept(invited, id)), make]);
    expect(found.filter((outcome) => outcome === '200').length).toBeLessThanOrEqual(1);
    expect(found.filter((outcome) => outcome === '409 already_in_team').length).toBeGreaterThanOrEqual(1);
    expect(
      found.filter((outcome) => !['200', '201', '409 already_in_team'].includes(String(outcome))),
    ).toEqual([]);
    expect(await membershipsOf(invited)).toHaveLength(1);
  }
});

test('an invitation withdrawn, declined and accepted: one of them', async () => {
  const manager = await newManager();
  for (let round = 0; round < ROUNDS; round += 1) {
    const invited = await person();
    const id = await inviteTo(manager, invited);
    const [accepted, ...others] = await Promise.all([
      accept(invited, id),
      manager.browser.request('DELETE', `/team/invitations/${String(id)}`),
      invited.browser.request('POST', `/invitations/${String(id)}/decline`),
    ]);
    const statuses = [accepted, ...others].map(({ status }) => status);
    expect(statuses.filter((status) => status < 300)).toHaveLength(1);
    expect(statuses.filter((status) => status === 404)).toHaveLength(2);
    expect(await membershipsOf(invited)).toHaveLength(accepted.status === 200 ? 1 : 0);
  }
});

test('two who manage alone accept each other’s invitations: neither waits for the other for ever', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const [one, other] = [await newManager(), await newManager()];
    const ids = [await inviteTo(one, other), await inviteTo(other, one)] as const;
    expect(await outcomes([accept(other, ids[0]), accept(one, ids[1])])).toEqual(['200', '404 not_found']);
    const members = [...(await membershipsOf(one)), ...(await membershipsOf(other))];
    expect(new Set(members.map(({ team_id }) => team_id)).size).toBe(1);
    expect(members.map(({ role }) => role).toSorted()).toEqual(['manager', 'member']);
  }
});

test('a manager leaves or dissolves while an invitation is accepted: no member without a manager', async () => {
  for (let round = 0; round < 2 * ROUNDS; round += 1) {
    const [manager, invited] = [await newManager(), await person()];
    const id = await inviteTo(manager, invited);
    const end = round % 2 === 0 ? leave(manager) : manager.browser.request('DELETE', '/team');
    const [accepted, ended] = await Promise.all([accept(invited, id), end]);
    const stays = accepted.status === 200 && ended.status === 409;
    expect([200, 404]).toContain(accepted.status);
    expect(ended.status === 204 || stays).toBe(true);
    for (const each of [manager, invited]) expect(await membershipsOf(each)).toHaveLength(stays ? 1 : 0);
  }
});

test('a member removed and leaving: once', async () => {
  const members = [await person(), await person()];
  const manager = await newManager(...members);
  for (const member of members) {
    const path = `/team/members/${String(member.account_id)}`;
    expect(await outcomes([leave(member), manager.browser.request('DELETE', path)])).toEqual([
      '204',
      '404 not_found',
    ]);
  }
});

test('a team handed over to two members, and left by one of them: one manager', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const members = [await person(), await person()] as const;
    const manager = await newManager(...members);
    const handOver = ({ account_id }: Owner) =>
      manager.browser.request('POST', '/team/hand-over', { account_id });
    const [first, second, left] = await Promise.all([
      handOver(members[0]),
      handOver(members[1]),
      leave(members[0]),
    ]);
    // The later request no longer manages the team, or finds no such member.
    expect([first.status, second.status].filter((status) => status === 200)).toHaveLength(1);
    for (const { status } of [first, second]) expect([200, 403, 404]).toContain(status);
    expect(left.status).toBe(first.status === 200 ? 409 : 204);
    const rows = [manager, ...members].map(membershipsOf);
    const roles = (await Promise.all(rows)).flat().map(({ role }) => role);
    expect(roles.filter((role) => role === 'manager')).toHaveLength(1);
  }
});
