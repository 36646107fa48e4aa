import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { makeOwnApplication, newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { operatePath, operatorCredentials } from '../../../test/suite/operator.ts';
import { mailAbout, startPeople } from '../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../test/suite/people.ts';

/** What operators see and do of deletions that owners have requested. */

let suite: PeopleUnderTest;
let owner: Owner;

beforeAll(async () => {
  // The tests erase.
  suite = await startPeople({
    OPERATOR_CREDENTIALS: operatorCredentials,
    HOUSEKEEPING_INTERVAL_SEC: '86400',
  });
});

beforeEach(async () => {
  owner = await newOwner(suite);
});

afterAll(async () => {
  await suite.close();
});

async function requestDeletion(): Promise<void> {
  const { browser, email, password: current_password } = owner;
  const { status } = await browser.request('POST', '/account/deletion', { email, current_password });
  expect(status).toBe(202);
}

const operated = ({ account_id }: Owner, action = '') =>
  `/private/accounts/${String(account_id)}/deletion${action}`;
const operate = (method: string, path: string) => operatePath(suite.account, method, path);

test('see a deletion, and which accounts have one', async () => {
  await makeOwnApplication(owner.browser);
  expect((await operate('GET', operated(owner))).body).toMatchObject({
    account_id: owner.account_id,
    requested_at: null,
    due_at: null,
    erased_at: null,
    consequences: { applications: 1 },
  });
  await requestDeletion();
  expect((await operate('GET', operated(owner))).body).toMatchObject({
    requested_at: expect.any(String) as unknown,
    due_at: expect.any(String) as unknown,
    consequences: { applications: 0 },
  });
  const email = encodeURIComponent(owner.email);
  for (const [deleting, count] of [
    ['true', 1],
    ['false', 0],
  ] as const) {
    const { body } = await operate('GET', `/private/accounts?email=${email}&deleting=${deleting}`);
    expect(body['accounts']).toHaveLength(count);
  }
  expect((await operate('GET', '/private/accounts/999999999/deletion')).status).toBe(404);
});

test('cancel it, which the owner gets a mail about and the audit log says who did', async () => {
  expect((await operate('POST', operated(owner, '/cancel'))).status).toBe(404);
  await requestDeletion();
  const cancelled = await operate('POST', operated(owner, '/cancel'));
  expect([cancelled.status, cancelled.body['deletion_due_at']]).toEqual([200, null]);
  await mailAbout(suite.mailDirectory, owner.email, '[Tollgate] Your account will not be deleted');
  expect((await owner.browser.request('GET', '/applications')).status).toBe(200);
  expect(await actorOf('account_deletion_cancelled')).toMatch(/^operator:/);
});

test('carry it out before its time, but only if the owner has requested it', async () => {
  const path = operated(owner, '/carry-out');
  const early = await operate('POST', path);
  expect([early.status, early.body['code']]).toEqual([404, 'not_found']);
  expect((await operate('GET', operated(owner))).body).toMatchObject({ erased_at: null, due_at: null });
  await makeOwnApplication(owner.browser);
  await requestDeletion();
  expect(await statedChanges()).toContain('application_revoked');
  const erased = await operate('POST', path);
  expect([erased.status, erased.body]).toMatchObject([
    200,
    { name: 'Deleted account', deletion_due_at: null, erased_at: expect.any(String) as unknown },
  ]);
  expect(await actorOf('account_deletion_carried_out')).toMatch(/^operator:/);
  await mailAbout(suite.mailDirectory, owner.email, '[Tollgate] Your account was deleted');
  expect((await operate('POST', path)).status).toBe(404);
  // The statement of the erasure names only the details: a trigger takes these with them.
  expect(await statedChanges()).toEqual(['account_deletion_carried_out']);
});

/** The actions whose entries state before or after. */
async function statedChanges(): Promise<string[]> {
  const { account_id } = owner;
  const entries = suite.database('audit_log').where({ account_id });
  return entries.whereRaw('num_nonnulls(before, after) > 0').pluck<string[]>('action');
}

async function actorOf(action: string): Promise<string> {
  const { account_id } = owner;
  const entry = (await suite.database('audit_log').where({ account_id, action }).first()) as {
    actor: string;
  };
  return entry.actor;
}
