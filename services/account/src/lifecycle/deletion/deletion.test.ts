import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { waitFor } from '@tollgate/stack/wait-for';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { issueOwnToken, makeOwnApplication, newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { insertGrant } from '../../../test/suite/database/credits.ts';
import { insertAccount, insertPeriod } from '../../../test/suite/database/records.ts';
import { mailsTo, mailAbout, nthMail, openBrowser, signedInBrowser } from '../../../test/suite/people.ts';
import { operatePath, operatorCredentials } from '../../../test/suite/operator.ts';
import { obtainToken } from '../../../test/suite/requests.ts';
import { joinTeam, makeTeam } from '../../../test/suite/team.ts';
import { createQuery, createTransact } from '../../platform/database/query.ts';
import { createLockInstant } from '../../counting/stream/lock-instant.ts';
import { ERASED_TABLES, eraseNextDue } from './erase.ts';
import { cancelDeletion } from './deletion.ts';
import { sessionsOf } from '../../../test/suite/database/sessions.ts';

let suite: AccountUnderTest;
let mailDirectory: string;
let owner: Owner;

const PATH = '/account/deletion';
const DAY_MS = 86_400_000;

beforeAll(async () => {
  mailDirectory = `/tmp/tollgate-deletion-${randomUUID()}`;
  suite = await startAccount({
    settings: {
      OPERATOR_CREDENTIALS: operatorCredentials,
      MAIL_DIR: mailDirectory,
      TRUSTED_PROXIES: '127.0.0.0/8 ::1/128',
      // The tests erase.
      HOUSEKEEPING_INTERVAL_SEC: '86400',
    },
  });
});

beforeEach(async () => {
  owner = await newOwner(suite);
});

afterAll(async () => {
  await suite.close();
});

const requestDeletion = ({ browser, email, password }: Owner, changes: Record<string, unknown> = {}) =>
  browser.request('POST', PATH, { email, current_password: password, ...changes });

const row = async ({ account_id }: Pick<Owner, 'account_id'>) =>
  (await suite.database('accounts').where({ account_id }).first()) as Record<string, unknown>;

/** A second ago. */
const due = ({ account_id }: Owner) =>
  suite
    .database('accounts')
    .where({ account_id })
    .update({ deletion_due_at: new Date(Date.now() - 1_000) });

const eraseDue = () =>
  createTransact(suite.database)((query) => eraseNextDue(query, createLockInstant(suite.store), []));

/** An account that something else has locked, such as the settlement of its credits, is left for the next attempt. */
const erases = () =>
  waitFor(async () => (await eraseDue()) === 'erased', { what: 'an account to be erased' });

const actionsOf = async ({ account_id }: Owner) =>
  (await suite.database('audit_log').where({ account_id }).orderBy('audit_id').pluck('action')) as string[];

describe('a request', () => {
  test('says first what it ends, and ends it at once: tokens, secrets, webhooks, other sessions', async () => {
    const { browser } = owner;
    const application = await makeOwnApplication(browser);
    const token = await issueOwnToken(browser, application);
    const temporary = await browser.request('POST', '/temporary-token');
    await browser.request('POST', '/webhooks', { url: 'https://hooks.invalid/' });
    const other = await signedInBrowser(suite.account, owner);
    const before = await browser.request('GET', PATH);
    expect(before.body).toMatchObject({
      state: 'none',
      due_at: null,
      grace_days: 30,
      consequences: { applications: 1, tokens: 1, webhooks: 1, team: null, last_used_at: null },
    });
    const asked = await requestDeletion(owner);
    expect([asked.status, asked.body['state']]).toEqual([202, 'pending']);
    const inDays = (Date.parse(asked.body['due_at'] as string) - Date.now()) / DAY_MS;
    expect(inDays).toBeGreaterThan(29.9);
    expect(inDays).toBeLessThan(30.1);
    for (const access_token of [token.access_token, String(temporary.body['access_token'])]) {
      await waitFor(async () => {
        const headers = { authorization: `Bearer ${access_token}` };
        return (await fetch(`${suite.account.publicUrl}/api/usage`, { headers })).status === 401;
      });
    }
    await expect(obtainToken(suite.auth, application)).rejects.toThrow();
    expect(await suite.database('webhooks').where({ account_id: owner.account_id })).toMatchObject([
      { disabled_reason: 'owner' },
    ]);
    expect((await other.request('GET', '/session')).status).toBe(401);
    expect(await actionsOf(owner)).toContain('account_deletion_requested');
  });

  test('needs the password and the address of the account', async () => {
    const wrong = await requestDeletion(owner, { current_password: 'not this one' });
    expect([wrong.status, wrong.body['errors']]).toMatchObject([400, [{ field: 'current_password' }]]);
    const mistyped = await requestDeletion(owner, { email: 'someone@example.com' });
    expect([mistyped.status, mistyped.body['errors']]).toMatchObject([400, [{ field: 'email' }]]);
    expect((await row(owner))['deletion_due_at']).toBeNull();
    expect((await requestDeletion(owner, { email: owner.email.toUpperCase() })).status).toBe(202);
    expect((await requestDeletion(owner)).body['code']).toBe('account_deletion_pending');
  });

  test('tells by mail until when it can be cancelled', async () => {
    const { body } = await requestDeletion(owner);
    const mail = await nthMail(mailDirectory, owner.email);
    expect(mail.subject).toBe('[Tollgate] Your account will be deleted');
    expect(mail.text).toContain(`Deletion: ${String(body['due_at']).slice(0, 16).replace('T', ' ')} (UTC)`);
    expect(mail.text).toContain('/user/account');
  });

  test('a manager hands over or dissolves first; a member leaves with it, and frees the slot', async () => {
    const [manager, member] = [owner, await newOwner(suite)];
    await insertPeriod(suite.database, manager.account_id);
    await makeTeam(manager, 'Desk');
    await joinTeam(manager, member);
    const refused = await requestDeletion(manager);
    expect([refused.status, refused.body['code']]).toEqual([409, 'team_has_members']);
    const team = { name: 'Desk', role: 'member', members: 2 };
    expect((await member.browser.request('GET', PATH)).body).toMatchObject({ consequences: { team } });
    expect((await requestDeletion(member)).status).toBe(202);
    expect(await actionsOf(member)).toContain('team_left');
    expect((await requestDeletion(manager)).status).toBe(202);
    expect(await suite.database('teams').where({ name: 'Desk' })).toEqual([]);
  });
});

describe('in the grace', () => {
  beforeEach(async () => {
    await makeOwnApplication(owner.browser, { name: 'ETL' });
    await requestDeletion(owner);
  });

  test('sign-in works, and only for seeing the deletion, cancelling it and signing out', async () => {
    const browser = await signedInBrowser(suite.account, owner);
    const { status, body } = await browser.request('GET', '/session');
    expect([status, typeof body['deletion_due_at']]).toEqual([200, 'string']);
    expect((await browser.request('GET', PATH)).body['state']).toBe('pending');
    for (const [method, path, sent] of [
      ['GET', '/applications'],
      ['GET', '/activity'],
      ['POST', '/temporary-token'],
      ['PATCH', '/account', { name: 'x' }],
      ['GET', '/sessions'],
    ] as const) {
      expect((await browser.request(method, path, sent)).body['code']).toBe('account_deletion_pending');
    }
    expect((await browser.request('DELETE', '/session')).status).toBe(204);
  });

  test('cancelling restores the account, not its credentials, which can be made anew', async () => {
    const browser = await signedInBrowser(suite.account, owner);
    expect((await browser.request('DELETE', PATH)).status).toBe(204);
    expect((await browser.request('DELETE', PATH)).status).toBe(404);
    const { body } = await browser.request('GET', '/applications');
    const [application] = body['applications'] as { application_id: number; status: string }[];
    expect(application?.status).toBe('revoked');
    const path = `/applications/${String(application?.application_id)}/rotate-secret`;
    expect((await browser.request('POST', path, { overlap_sec: 0 })).status).toBe(200);
    expect((await browser.request('POST', '/temporary-token')).status).toBe(200);
    await mailAbout(mailDirectory, owner.email, '[Tollgate] Your account will not be deleted');
    expect(await actionsOf(owner)).toContain('account_deletion_cancelled');
  });

  test('nobody makes its credentials work again, an operator neither', async () => {
    const { account_id } = owner;
    const found: unknown = await suite.database('applications').where({ account_id }).first();
    const { application_id } = found as { application_id: number };
    const path = `/private/applications/${String(application_id)}/rotate-secret`;
    const rotated = await operatePath(suite.account, 'POST', path, { overlap_sec: 0 });
    expect([rotated.status, rotated.body['code']]).toEqual([403, 'account_deletion_pending']);
    const made = await operatePath(suite.account, 'POST', '/private/applications', {
      account_id: owner.account_id,
      name: 'New',
      type: 'automatic',
      token_lifespan_sec: 3_600,
    });
    expect(made.body['code']).toBe('account_deletion_pending');
  });

  test('operators see it', async () => {
    const { body } = await operatePath(suite.account, 'GET', `/private/accounts/${String(owner.account_id)}`);
    expect(body).toMatchObject({ deletion_due_at: expect.any(String) as unknown, erased_at: null });
  });
});

describe('when the grace is over', () => {
  test('personal data is gone from every table; usage and periods stay', async () => {
    const { browser, email, account_id } = owner;
    await browser.request('PATCH', '/account', { name: 'Ada Canary-Lovelace' });
    const application = await makeOwnApplication(browser, { name: 'Canary app' });
    await issueOwnToken(browser, application, 'Canary token');
    await browser.request('POST', '/webhooks', { url: 'https://canary.invalid/' });
    await browser.request('PUT', '/alerts', { mail: true, shares: [50], limits: {} });
    const period_id = await insertPeriod(suite.database, account_id);
    const credit_id = await insertGrant(suite.database, account_id, { note: 'For the canary' });
    const { body: asked } = await requestDeletion(owner);
    expect(asked['consequences']).toMatchObject({ credits: [{ credit_id, points_remaining: 100 }] });
    await waitFor(async () => (await suite.database('mail_outbox').where({ recipient: email })).length === 0);
    await due(owner);
    await erases();
    expect(await row(owner)).toMatchObject({
      email: `deleted-${String(account_id)}@deleted.invalid`,
      name: 'Deleted account',
      deletion_due_at: null,
      erased_at: expect.any(Date) as unknown,
    });
    await mailAbout(mailDirectory, email, '[Tollgate] Your account was deleted');
    await waitFor(async () => (await suite.database('mail_outbox').where({ recipient: email })).length === 0);
    const dump = JSON.stringify(await everything());
    expect(dump).not.toMatch(/canary/i);
    expect(dump).not.toContain(email.toLowerCase());
    expect(dump).not.toContain(email);
    expect(await suite.database('billing_periods').where({ period_id })).toHaveLength(1);
    const grants = await suite.database('credit_grants').where({ credit_id });
    expect(grants).toMatchObject([{ account_id, note: null, void_to: 'forfeited' }]);
    expect((await browser.request('GET', '/session')).status).toBe(401);
    const { status } = await openBrowser(suite.account).request('POST', '/session', {
      email,
      password: owner.password,
    });
    expect(status).toBe(401);
  });

  test('an account that is not due is left alone', async () => {
    await requestDeletion(owner);
    expect(await eraseDue()).toBeNull();
    expect((await row(owner))['email']).toBe(owner.email);
  });

  test('a cancellation is refused, also before the erasure', async () => {
    await requestDeletion(owner);
    await due(owner);
    const cancelled = await owner.browser.request('DELETE', PATH);
    expect([cancelled.status, cancelled.body['code']]).toEqual([404, 'not_found']);
    const path = `/private/accounts/${String(owner.account_id)}/deletion/cancel`;
    expect((await operatePath(suite.account, 'POST', path)).status).toBe(404);
    expect(await actionsOf(owner)).not.toContain('account_deletion_cancelled');
    await erases();
  });

  test('of a cancellation and the erasure at once exactly one wins, however often', async () => {
    const transact = createTransact(suite.database);
    const outcomes = new Set<string>();
    for (let round = 0; round < 12; round += 1) {
      const person = { account_id: await insertAccount(suite.database) };
      const deletion_due_at = new Date(Date.now() + (round % 4));
      await suite
        .database('accounts')
        .where(person)
        .update({ deletion_requested_at: new Date(), deletion_due_at });
      const actor = { actor: `account:${String(person.account_id)}`, address: '10.0.0.1', request_id: 'r' };
      const cancel = () =>
        cancelDeletion(
          { transact, wakeMails: () => undefined },
          { account_id: person.account_id, actor },
        ).then(
          () => true,
          () => false,
        );
      const attempts = round % 2 === 0 ? [cancel(), eraseDue()] : [eraseDue(), cancel()].reverse();
      const [cancelled] = await Promise.all(attempts);
      // Skipped while the cancellation held the lock, or not due yet.
      await waitFor(
        async () => (await row(person))['deletion_due_at'] === null || (await eraseDue()) !== null,
      );
      const erased = (await row(person))['erased_at'] !== null;
      expect(erased).toBe(!cancelled);
      expect((await row(person))['deletion_due_at']).toBeNull();
      outcomes.add(cancelled === true ? 'cancelled' : 'erased');
    }
    expect(outcomes.size).toBeGreaterThan(0);
  });

  test('a process that is killed in the middle leaves the account whole, and the next one erases it', async () => {
    await makeOwnApplication(owner.browser, { name: 'Canary app' });
    await requestDeletion(owner);
    await nthMail(mailDirectory, owner.email);
    await due(owner);
    // Its transaction can't get past the application that this one has locked.
    const holding = await suite.database.transaction();
    // The restart may take longer.
    await holding.raw('SET LOCAL idle_in_transaction_session_timeout = 0');
    await holding('applications').where({ account_id: owner.account_id }).forUpdate();
    const settings = { HOUSEKEEPING_INTERVAL_SEC: '1' };
    await suite.account.stop();
    await suite.account.restart(settings);
    await waitFor(async () => {
      const waiting = await sessionsOf(suite.database).where({ wait_event_type: 'Lock' });
      return waiting.length > 0;
    });
    await suite.account.kill();
    await holding.rollback();
    expect(await row(owner)).toMatchObject({ email: owner.email, erased_at: null });
    await suite.account.restart(settings);
    await waitFor(async () => (await row(owner))['erased_at'] !== null);
    await suite.account.stop();
    await suite.account.restart({ HOUSEKEEPING_INTERVAL_SEC: '86400' });
    expect((await actionsOf(owner)).filter((action) => action === 'account_erased')).toHaveLength(1);
    await mailAbout(mailDirectory, owner.email, '[Tollgate] Your account was deleted');
    expect(mailsTo(mailDirectory, owner.email)).toHaveLength(2);
  });

  test('the audit log stays append-only for everything else', async () => {
    const change = (set: string) => suite.database.raw(`UPDATE audit_log SET ${set}`);
    await expect(change("details = '{}'")).rejects.toThrow('append-only');
    await expect(change('before = NULL, after = NULL')).rejects.toThrow('append-only');
    const erasing = suite.database.transaction(async (transaction) => {
      const setting = `SELECT set_config('tollgate.erasing_account', '${String(owner.account_id)}', true)`;
      await transaction.raw(setting);
      await transaction.raw("UPDATE audit_log SET details = '{}' WHERE account_id = ?", [owner.account_id]);
    });
    await expect(erasing).rejects.toThrow('append-only');
  });
});

/** A new table that refers to accounts is decided here: erased, or kept because it holds no personal data. */
test('every table with an account is erased, or kept on purpose', async () => {
  const { rows } = await suite.database.raw<{ rows: { table_name: string }[] }>(
    `SELECT DISTINCT table_name FROM information_schema.columns JOIN information_schema.tables
       USING (table_schema, table_name)
     WHERE table_schema = 'public' AND column_name = 'account_id' AND table_type = 'BASE TABLE'
       AND table_name !~ '^usage_hourly_'`,
  );
  const kept = [
    'accounts',
    'applications',
    'audit_log',
    'billing_periods',
    // Ids of hidden applications, to which usage refers.
    'connections',
    'credit_carry_overs',
    'credit_cut_points',
    'credit_cuts',
    'credit_differences',
    'credit_grants',
    'credit_levels',
    'credit_movements',
    'credit_reductions',
    // Gone with the membership.
    'member_budgets',
    'invoices',
    'payment_blocks',
    'payment_issues',
    'period_closings',
    'purchase_reversals',
    'purchases',
    'stripe_customers',
    'stripe_subscriptions',
    'subscriptions',
    'team_members',
    'top_ups',
    'overage_charges',
    'period_overages',
    'entitlement_outbox',
    'usage_alerts',
    'usage_hourly',
    'refused_call_days',
    'refused_call_counts',
    'sign_up_plans',
  ];
  const known = [...ERASED_TABLES, ...kept];
  expect(rows.map(({ table_name }) => table_name).filter((name) => !known.includes(name))).toEqual([]);
});

async function everything(): Promise<unknown[]> {
  const query = createQuery(suite.database);
  const tables = await query<{ tablename: string }>(
    "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_migrations'",
  );
  const found: unknown[] = [];
  for (const { tablename } of tables) found.push(await query(`SELECT * FROM ${tablename}`));
  return found;
}
