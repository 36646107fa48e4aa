import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { issueOwnToken, makeOwnApplication, newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { operate, operatePath, operatorCredentials } from '../../../test/suite/operator.ts';
import { openBrowser } from '../../../test/suite/people.ts';
import { insertPeriod } from '../../../test/suite/database/records.ts';
import { joinTeam, makeTeam } from '../../../test/suite/team.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { createQuery } from '../../platform/database/query.ts';

type Entry = Record<string, unknown> & {
  activity_id: number;
  action: string;
  details: Record<string, unknown>;
};

let suite: AccountUnderTest;
let owner: Owner;

beforeAll(async () => {
  suite = await startAccount({
    settings: { OPERATOR_CREDENTIALS: operatorCredentials, TRUSTED_PROXIES: '127.0.0.0/8 ::1/128' },
  });
});

beforeEach(async () => {
  owner = await newOwner(suite);
});

afterAll(async () => {
  await suite.close();
});

async function activity({ browser }: Pick<Owner, 'browser'>, query = ''): Promise<Entry[]> {
  const { status, text, body } = await browser.request('GET', `/activity${query}`);
  if (status !== 200) throw new Error(text);
  return body['activity'] as Entry[];
}

const actions = (entries: Entry[]) => entries.map(({ action }) => action);

test('says what the owner did, to which application, from where; newest first, and no secret', async () => {
  const application = await makeOwnApplication(owner.browser, { name: 'ETL' });
  const { access_token } = await issueOwnToken(owner.browser, application, 'laptop');
  const { text } = await owner.browser.request('GET', '/activity');
  const entries = await activity(owner);
  expect(actions(entries)).toEqual(['token_issued', 'application_created', 'signed_in']);
  const { application_id } = application;
  expect(entries[0]).toMatchObject({
    kind: 'applications',
    by: 'you',
    member_name: null,
    application: { application_id, name: 'ETL' },
    details: { name: 'laptop' },
    address: expect.stringMatching(/^10\./) as unknown,
    request_id: expect.stringMatching(/\S{8}/) as unknown,
  });
  expect(entries[2]).toMatchObject({ kind: 'security', application: null });
  expect(entries[2]?.['details']).toEqual({});
  expect(text).not.toContain(access_token);
  expect(text).not.toContain(application.client_secret);
});

test('an operator is only that: no name, no address, no request id', async () => {
  const { application_id } = await makeOwnApplication(owner.browser);
  await operate(suite.account, 'POST', `/${String(application_id)}/revoke`);
  await operatePath(suite.account, 'POST', `/private/accounts/${String(owner.account_id)}/block`);
  const { text } = await owner.browser.request('GET', '/activity');
  const [blocked, revoked] = await activity(owner);
  const hidden = { by: 'operator', member_name: null, address: null, request_id: null };
  expect(blocked).toMatchObject({ action: 'account_blocked', ...hidden });
  expect(revoked).toMatchObject({ action: 'application_revoked', ...hidden });
  expect(revoked?.['details']).toEqual({});
  expect(text).not.toContain('suite');
});

test('a details field that the owner has not typed is left out, and so is what only operators need', async () => {
  const entry = { address: '10.1.1.1', request_id: 'r', application_id: null, account_id: owner.account_id };
  const query = createQuery(suite.database);
  const details = { name: 'Kept', revocation_epoch: 7, internal: 'no', email: { nested: true } };
  await recordAudit(query, { ...entry, actor: 'renewal', action: 'subscription_renewed', details });
  await recordAudit(query, { ...entry, actor: 'operator:x', action: 'usage_rebuilt', details: {} });
  const [newest] = await activity(owner);
  expect(newest).toMatchObject({ action: 'subscription_renewed', by: 'system', details: { name: 'Kept' } });
  expect(newest?.details).toEqual({ name: 'Kept' });
});

test("is the account's own: another one's entries are never in it, a member names who removed them", async () => {
  const [manager, member] = [owner, await newOwner(suite)];
  await insertPeriod(suite.database, manager.account_id);
  await makeTeam(manager, 'Desk');
  await joinTeam(manager, member);
  const path = `/team/members/${String(member.account_id)}`;
  expect((await manager.browser.request('DELETE', path)).status).toBe(204);
  expect(actions(await activity(manager))).toEqual([
    'team_member_removed',
    'team_invitation_made',
    'team_created',
    'signed_in',
  ]);
  const [removed, joined] = await activity(member);
  expect(removed).toMatchObject({ action: 'team_member_removed', by: 'member', member_name: 'Someone' });
  expect(joined).toMatchObject({ action: 'team_joined', by: 'you', details: { team_name: 'Desk' } });
});

test('is paged in a stable order, and filtered by kind', async () => {
  const application = await makeOwnApplication(owner.browser);
  for (let count = 0; count < 6; count += 1) await issueOwnToken(owner.browser, application);
  const all = await activity(owner);
  const seen: number[] = [];
  let cursor: string | null = null;
  do {
    const after = cursor === null ? '' : `&cursor=${cursor}`;
    const { body }: { body: Record<string, unknown> } = await owner.browser.request(
      'GET',
      `/activity?limit=3${after}`,
    );
    seen.push(...(body['activity'] as Entry[]).map(({ activity_id }) => activity_id));
    cursor = body['next_cursor'] as string | null;
    // What is added meanwhile moves nothing.
    await issueOwnToken(owner.browser, application);
  } while (cursor !== null);
  expect(seen).toEqual(all.map(({ activity_id }) => activity_id));
  expect(actions(await activity(owner, '?kind=security'))).toEqual(['signed_in']);
  expect(actions(await activity(owner, '?kind=applications&limit=200'))).not.toContain('signed_in');
  expect(await activity(owner, '?kind=team')).toEqual([]);
});

test('an unknown kind is 400, a stranger gets 401, another method 405', async () => {
  const { status, body } = await owner.browser.request('GET', '/activity?kind=secrets');
  expect([status, body['code']]).toEqual([400, 'invalid_request']);
  expect((await openBrowser(suite.account).request('GET', '/activity')).status).toBe(401);
  expect((await owner.browser.request('DELETE', '/activity')).status).toBe(405);
});

test('a long log is read by its indexes', async () => {
  await suite.database.raw(
    `INSERT INTO audit_log (actor, action, account_id, address, request_id)
     SELECT 'account:' || 100000 + n % 5000, 'signed_in', 100000 + n % 5000, '10.0.0.1', 'r' FROM generate_series(1, 50000) AS n`,
  );
  await suite.database.raw('ANALYZE audit_log');
  const plan = await suite.database.raw<{ rows: { 'QUERY PLAN': string }[] }>(
    `EXPLAIN SELECT * FROM audit_log WHERE account_id = ${String(owner.account_id)} AND audit_id < 9000000
       AND action = ANY (CAST('{signed_in}' AS text[])) ORDER BY audit_id DESC LIMIT 51`,
  );
  const steps = plan.rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(steps).toContain('audit_log_account_id');
  expect(steps).not.toContain('Seq Scan');
  expect(await activity(owner)).toHaveLength(1);
});
