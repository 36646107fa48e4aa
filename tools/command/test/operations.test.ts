import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hash, randomUUID } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startOperatedStack } from './operated-stack.ts';
import type { OperatedStack } from './operated-stack.ts';

let stack: OperatedStack;

beforeAll(async () => {
  stack = await startOperatedStack();
});

afterAll(async () => {
  await stack.close();
});

async function newAccount(): Promise<string> {
  const email = `${randomUUID()}@example.com`;
  const made = await stack.json<{ account_id: number }>(
    'accounts',
    'create',
    '--email',
    email,
    '--name',
    'Ada',
  );
  return String(made.account_id);
}

/** An account with a monthly subscription to a plan of its own. */
async function newSubscriber(...limits: string[]): Promise<string> {
  const account = await newAccount();
  const plan = await stack.json<{ plan_id: number }>(
    'plans',
    'create',
    '--yes',
    '--name',
    randomUUID(),
    ...limits,
  );
  await stack.json('subscriptions', 'create', '--account', account, '--plan', String(plan.plan_id));
  return account;
}

describe('credits', () => {
  test('are granted once for a key, listed, voided and checked', async () => {
    const account = await newAccount();
    const wanted = ['credits', 'grant', '--account', account, '--points', '500', '--key', randomUUID()];
    const { credit_id } = await stack.json<{ credit_id: number }>(...wanted);
    expect(await stack.json(...wanted)).toMatchObject({ credit_id, points: 500, source: 'promotion' });
    const id = String(credit_id);
    expect(await stack.json('credits', 'get', id)).toMatchObject({ status: 'active', points_remaining: 500 });
    const listed = await stack.run(['credits', 'list', '--account', account]);
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringMatching(/ active +500 +500 +promotion/)]);
    const moved = await stack.json<{ movements: unknown[] }>('credits', 'movements', id);
    expect(moved.movements).toMatchObject([{ from_ledger: 'issued', to_ledger: 'grant', points: 500 }]);
    expect((await stack.run(['credits', 'void', id])).code).toBe(2);
    expect(await stack.json('credits', 'void', id, '--yes')).toMatchObject({
      status: expect.stringMatching(/^void/) as unknown,
    });
    const checked = await stack.run(['credits', 'check', '--account', account]);
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining('1 checked')]);
  });

  test('that differ are named, with exit code 1', async () => {
    const account = await newAccount();
    const { credit_id } = await stack.json<{ credit_id: number }>(
      'credits',
      'grant',
      '--account',
      account,
      '--points',
      '500',
    );
    await stack.sql(
      `ALTER TABLE credit_grants DISABLE TRIGGER credit_grants_not_edited;
       UPDATE credit_grants SET points_remaining = 499 WHERE credit_id = ${String(credit_id)};
       ALTER TABLE credit_grants ENABLE TRIGGER credit_grants_not_edited`,
    );
    const { code, stdout } = await stack.run(['credits', 'check', '--account', account]);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/points_remaining +\d+ .* 500 +499/)]);
  });
});

test('prices compare shows estimates beside stated prices, by operation and by field', async () => {
  await stack.sql(
    `INSERT INTO operation_documents (hash, document) VALUES (repeat('c', 64), E'query Cheap {\\n  cheap\\n}');
     INSERT INTO usage_operations (payer_id, account_id, day, application_id, api_version, hash, name, points, requests,
       errors, durations, compared_requests, compared_points, estimated_points, exceeding_requests, excess_points)
     VALUES (1, 1, current_date, 1, 'v2', repeat('c', 64), 'Cheap', 30, 3, 0, '{}', 3, 30, 6, 2, 25),
            (1, 1, current_date - 40, 1, 'v2', repeat('c', 64), 'Cheap', 30, 3, 0, '{}', 3, 30, 6, 2, 25),
            (1, 1, current_date, 1, 'v2', repeat('d', 64), '', 9, 1, 0, '{}', 0, 0, 0, 0, 0)`,
  );
  const { code, stdout } = await stack.run(['prices', 'compare']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^v2 +Cheap +cccccccccccc +3 +30 +6 +5\.00 +2 +25$/m);
  expect(stdout).toMatch(/^query\.cheap +1 +3 +30 +6 +5\.00 +2 +25$/m);
  expect(await stack.json('prices', 'compare', '--account', '1', '--from', '2020-01-01')).toMatchObject({
    from: '2020-01-01',
    operations: [{ name: 'Cheap', requests: 6, excess_points: 50 }],
    fields: [{ root_fields: 'query.cheap' }],
  });
  expect((await stack.run(['prices', 'compare', '--account', '2'])).stdout).toContain('No request');
});

describe('documents', () => {
  test('of a manifest are reported, registered, enforced and removed', async () => {
    const made = ['applications', 'create', '--account', await newAccount(), '--name', 'Web'];
    const { application_id } = await stack.json<{ application_id: number }>(...made);
    const id = String(application_id);
    const manifest = join(mkdtempSync(join(tmpdir(), 'documents-')), 'manifest.json');
    const read = 'query Read { a }';
    const sha256 = hash('sha256', read);
    writeFileSync(manifest, JSON.stringify({ read, write: 'mutation Write { b }' }));
    const register = ['documents', 'register', id, '--file', manifest];
    const tried = await stack.run([...register, '--dry-run']);
    expect([tried.code, tried.stdout]).toEqual([4, expect.stringContaining('2 new, 0 known (dry run).')]);
    expect(tried.stdout).toMatch(new RegExp(`^v2 +Read +read +${sha256}$`, 'm'));
    expect((await stack.run(register)).code).toBe(0);
    const again = await stack.run([...register, '--dry-run']);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('0 new, 2 known')]);

    const on = await stack.run(['documents', 'limit', id, 'on']);
    expect([on.code, on.stdout]).toEqual([0, expect.stringContaining('Limited to 2 document(s).')]);
    expect((await stack.run(['documents', 'remove', id, sha256, '--yes'])).code).toBe(0);
    expect(await stack.json('documents', 'list', id)).toMatchObject({
      enforced: true,
      documents: [{ name: 'Write', document_id: 'write' }],
    });
    expect(await stack.json('documents', 'limit', id, 'off')).toMatchObject({ enforced: false });
  });

  test('of a file that is no manifest are refused before anything is sent', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'documents-')), 'manifest.json');
    writeFileSync(file, '[1]');
    const { code, stderr } = await stack.run(['documents', 'register', '1', '--file', file]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('not a manifest of Apollo or Relay')]);
  });
});

describe('budgets', () => {
  test('of an application are set, shown and removed', async () => {
    const made = ['applications', 'create', '--account', await newAccount(), '--name', 'ETL'];
    const { application_id } = await stack.json<{ application_id: number }>(...made);
    const whose = ['--application', String(application_id)];
    const figures = ['--points-per-period', '500', '--points-per-day', '0'];
    expect(await stack.json('budgets', 'set', ...whose, ...figures)).toMatchObject({
      application_id,
      points_per_period: 500,
      points_per_day: 0,
    });
    const shown = await stack.run(['budgets', 'get', ...whose]);
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringMatching(/^points_per_day +0$/m)]);
    expect(shown.stdout).toMatch(/^points_today +0$/m);
    expect(await stack.json('budgets', 'set', ...whose, '--points-per-day', '7')).toMatchObject({
      points_per_period: null,
      points_per_day: 7,
    });
  });

  test('of a member are set; of an account without a team there are none', async () => {
    const [manager, member] = [await newSubscriber(), await newAccount()];
    const made = ['teams', 'create', '--manager', manager, '--name', 'Desk'];
    const { team_id } = await stack.json<{ team_id: number }>(...made);
    const set = ['budgets', 'set', '--member', member, '--points-per-day', '9'];
    const refused = await stack.run(set);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('not a member')]);
    await stack.json('teams', 'add-member', String(team_id), member);
    expect(await stack.json(...set)).toMatchObject({ points_per_day: 9, spent: { points_today: 0 } });
    expect(await stack.json('budgets', 'get', '--member', member)).toMatchObject({ points_per_day: 9 });
    for (const whose of [
      ['--account', member],
      ['--team', String(team_id)],
    ]) {
      const { code, stdout } = await stack.run(['budgets', 'list', ...whose]);
      expect([code, stdout]).toEqual([
        0,
        expect.stringMatching(new RegExp(`^${member} +- +Ada +- +9 `, 'm')),
      ]);
    }
    const { code, stderr } = await stack.run(['budgets', 'list']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--account or --team')]);
  });

  test('are of an application or of a member, never of both or neither', async () => {
    for (const whose of [[], ['--application', '1', '--member', '1']]) {
      const { code, stderr } = await stack.run(['budgets', 'get', ...whose]);
      expect([code, stderr]).toEqual([2, expect.stringContaining('--application or --member')]);
    }
  });
});

describe('support of one account', () => {
  test('lists and ends sessions', async () => {
    const account = await newAccount();
    const signIn = () =>
      stack.sql<{ session_id: string }>(
        `INSERT INTO sessions (account_id, token_hash, expires_at, address, user_agent)
         VALUES (${account}, sha256(CAST('${randomUUID()}' AS bytea)), now() + interval '1 day', '192.0.2.1', 'Firefox')
         RETURNING session_id`,
      );
    const [first] = await signIn();
    await signIn();
    await signIn();
    const sessions = ['accounts', 'sessions'];
    expect(await stack.print([...sessions, 'list', account])).toMatch(/192\.0\.2\.1 +Firefox/);
    await expect(stack.print([...sessions, 'end', account])).rejects.toThrow('--yes');
    const id = String(first?.session_id);
    expect(await stack.print([...sessions, 'end', account, id, '--yes'])).toContain(`Ended session ${id}`);
    expect((await stack.json<{ sessions: unknown[] }>(...sessions, 'list', account)).sessions).toHaveLength(
      2,
    );
    expect(await stack.print([...sessions, 'end', account, '--yes'])).toContain('Ended all sessions');
    expect((await stack.json<{ sessions: unknown[] }>(...sessions, 'list', account)).sessions).toEqual([]);
  });

  test('has another address confirmed, with a reason', async () => {
    const account = await newAccount();
    const email = `${randomUUID()}@example.com`;
    const wanted = ['accounts', 'change-email', account, '--email', email, '--yes'];
    await expect(stack.print(wanted)).rejects.toThrow('--reason');
    const { email: present } = await stack.json<{ email: string }>(...wanted, '--reason', 'Ticket 7');
    expect(present).not.toBe(email);
    const { entries } = await stack.json<{ entries: unknown[] }>(
      'audit',
      'list',
      '--account',
      account,
      '--action',
      'email_change_requested',
    );
    expect(entries).toMatchObject([{ before: null, after: { requested_email: email } }]);
  });

  test('lists mails, and sends one again', async () => {
    const account = await newAccount();
    await stack.sql(
      `INSERT INTO sent_mails (mail_id, account_id, kind, recipient, outcome, requested_at)
       SELECT 1000000 + account_id, account_id, 'password_reset', email, 'sent', now()
       FROM accounts WHERE account_id = ${account}`,
    );
    const mail = String(1_000_000 + Number(account));
    const mails = ['accounts', 'mails'];
    expect(await stack.print([...mails, 'list', account])).toContain(mail);
    const again = await stack.json(...mails, 'send-again', account, mail);
    expect(again).toMatchObject({ kind: 'password_reset', state: 'waiting' });
  });

  test('lists webhooks and deliveries, and sends one again', async () => {
    const account = await newAccount();
    const [made] = await stack.sql<{ webhook_id: string; delivery_id: string }>(
      `WITH made AS (
         INSERT INTO webhooks (account_id, url, description, leased_until)
         VALUES (${account}, 'https://hooks.invalid/secret', '', now() + interval '1 day') RETURNING webhook_id)
       INSERT INTO webhook_deliveries (webhook_id, message_id, event_type, payload, status, next_attempt_at)
       SELECT webhook_id, '${randomUUID()}', 'webhook.test', '{}', 'failed', NULL FROM made
       RETURNING webhook_id, delivery_id`,
    );
    const webhooks = ['accounts', 'webhooks'];
    const listed = await stack.print([...webhooks, 'list', account]);
    expect(listed).toContain('https://hooks.invalid');
    expect(listed).not.toContain('secret');
    expect(await stack.print([...webhooks, 'deliveries', account])).toMatch(/webhook\.test +failed/);
    const ids = [String(made?.webhook_id), String(made?.delivery_id)];
    expect(await stack.json(...webhooks, 'send-again', account, ...ids)).toMatchObject({ status: 'pending' });
  });
});

test('packs are put on sale, listed and withdrawn', async () => {
  const name = randomUUID();
  const price = ['--currency', 'eur', '--amount', '1900', '--expires-after-days', '365'];
  const made = await stack.json<{ pack_id: number }>(
    'packs',
    'create',
    '--name',
    name,
    '--points',
    '1000',
    ...price,
  );
  expect(made).toMatchObject({ points: 1_000, unit_amount: 1_900, expires_after_days: 365 });
  expect(await stack.print(['packs', 'list'])).toContain(name);
  const withdrawn = await stack.json('packs', 'withdraw', String(made.pack_id), '--yes');
  expect(withdrawn).toMatchObject({ withdrawn_at: expect.any(String) as unknown });
});

test('what customers were charged is listed', async () => {
  expect(await stack.json('payments', 'purchases')).toMatchObject({ purchases: [] });
  expect(await stack.json('payments', 'overage')).toMatchObject({ charges: [] });
});

describe('deletions that owners have requested', () => {
  const requested = (account: string) =>
    stack.sql(
      `UPDATE accounts SET deletion_requested_at = now(), deletion_due_at = now() + interval '30 days'
       WHERE account_id = ${account}`,
    );

  test('are seen, cancelled, and carried out before their time', async () => {
    const [kept, erased] = await Promise.all([newAccount(), newAccount()]);
    await Promise.all([kept, erased].map(requested));
    const shown = await stack.run(['accounts', 'deletion', 'get', kept]);
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringMatching(/^due_at +20\d\d-/m)]);
    const deleting = await stack.json<{ accounts: { account_id: number }[] }>(
      'accounts',
      'list',
      '--deleting',
      'yes',
    );
    expect(deleting.accounts.map(({ account_id }) => String(account_id))).toEqual(
      expect.arrayContaining([kept, erased]),
    );
    expect(await stack.json('accounts', 'deletion', 'cancel', kept, '--yes')).toMatchObject({
      deletion_due_at: null,
      erased_at: null,
    });
    const unasked = await stack.run(['accounts', 'deletion', 'carry-out', erased, '--reason', 'asked']);
    expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining('--yes')]);
    const reason = ['--reason', 'Asked for by its owner, “sofort”'];
    const why = await stack.run(['accounts', 'deletion', 'carry-out', erased, '--yes']);
    expect([why.code, why.stderr]).toEqual([2, expect.stringContaining('--reason')]);
    expect(await stack.json('accounts', 'deletion', 'carry-out', erased, '--yes', ...reason)).toMatchObject({
      name: 'Deleted account',
      erased_at: expect.any(String) as unknown,
    });
    const listed = await stack.json<{ entries: { details: unknown }[] }>(
      'audit',
      'list',
      '--account',
      erased,
      '--action',
      'account_deletion_carried_out',
    );
    expect(listed.entries).toMatchObject([{ details: { operator_reason: reason[1] } }]);
    const refused = await stack.run(['accounts', 'deletion', 'carry-out', kept, '--yes', ...reason]);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('The account is not being deleted.'),
    ]);
  });
});

describe('teams', () => {
  test('are made, joined within the plan’s slots, left and ended', async () => {
    const [manager, member, third] = await Promise.all([
      newSubscriber('--limit-team-slots', '2'),
      newAccount(),
      newAccount(),
    ]);
    const made = await stack.json<{ team_id: number }>(
      'teams',
      'create',
      '--manager',
      manager,
      '--name',
      'Crew',
    );
    const id = String(made.team_id);
    expect(await stack.json('teams', 'add-member', id, member)).toMatchObject({
      manager_id: Number(manager),
      members_count: 2,
      members: [{ role: 'manager' }, { account_id: Number(member), role: 'member' }],
    });
    expect(await stack.json('accounts', 'get', member)).toMatchObject({
      payer_id: Number(manager),
      status: 'active',
    });
    const full = await stack.run(['teams', 'add-member', id, third]);
    expect([full.code, full.stderr]).toEqual([1, expect.stringContaining('(team_slots_limit_exceeded)')]);
    const again = await stack.run(['teams', 'create', '--manager', member, '--name', 'Other']);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('(already_in_team)')]);
    const shown = await stack.run(['teams', 'get', id]);
    expect(shown.stdout).toMatch(/ACCOUNT_ID +NAME +EMAIL/);
    expect((await stack.run(['teams', 'remove-member', id, member, '--yes'])).code).toBe(0);
    expect((await stack.run(['teams', 'remove-member', id, manager, '--yes'])).code).toBe(1);
    const { teams } = await stack.json<{ teams: { team_id: number; members_count: number }[] }>(
      'teams',
      'list',
    );
    expect(teams.find(({ team_id }) => team_id === made.team_id)).toMatchObject({ members_count: 1 });
    expect((await stack.run(['teams', 'delete', id, '--yes'])).code).toBe(0);
    expect((await stack.run(['teams', 'get', id])).code).toBe(1);
  });
});

describe('applications and tokens', () => {
  test('show a secret when it is made, and never otherwise', async () => {
    const account = await newAccount();
    const made = await stack.json<{ application_id: number; client_secret: string }>(
      'applications',
      'create',
      '--account',
      account,
      '--name',
      'App',
    );
    const id = String(made.application_id);
    const shown = await stack.run(['applications', 'get', id]);
    expect(shown.stdout).toContain('token_lifespan_label');
    expect(shown.stdout).not.toContain(made.client_secret);
    expect(await stack.json('applications', 'update', id, '--name', 'Renamed')).toMatchObject({
      name: 'Renamed',
    });
    const rotated = await stack.json<{ client_secret: string }>('applications', 'rotate-secret', id, '--yes');
    expect(rotated.client_secret).not.toBe(made.client_secret);

    const token = await stack.json<{ token_id: number; access_token: string }>(
      'tokens',
      'create',
      '--application',
      id,
      '--name',
      'laptop',
    );
    const tokenArgs = [String(token.token_id), '--application', id];
    expect(await stack.json('tokens', 'copy', ...tokenArgs)).toMatchObject({
      access_token: token.access_token,
    });
    for (const whose of [
      ['--application', id],
      ['--account', account],
    ]) {
      const { stdout } = await stack.run(['tokens', 'list', ...whose, '--status', 'Active', '--json']);
      expect(JSON.parse(stdout)).toMatchObject({ tokens: [{ token_id: token.token_id }] });
      expect(stdout).not.toContain(token.access_token);
    }
    expect(await stack.json('tokens', 'revoke', ...tokenArgs, '--yes')).toMatchObject({ status: 'Revoked' });
    expect(await stack.json('applications', 'revoke', id, '--yes')).toMatchObject({ status: 'revoked' });
    expect(
      await stack.json('applications', 'list', '--account', account, '--status', 'revoked'),
    ).toMatchObject({
      applications: [{ application_id: made.application_id, name: 'Renamed' }],
    });
    expect((await stack.run(['applications', 'delete', id, '--yes'])).code).toBe(0);
    expect(await stack.json('applications', 'list', '--account', account)).toMatchObject({
      applications: [],
    });
  });
});

describe('audit', () => {
  test('is found by account, actor, action and time', async () => {
    const account = await newAccount();
    await stack.json('accounts', 'block', account, '--yes');
    type Page = { entries: { action: string; actor: string; at: string }[] };
    const list = (...filters: string[]) =>
      stack.json<Page>('audit', 'list', '--account', account, ...filters);
    const { entries } = await list();
    expect(entries).toMatchObject([
      { action: 'account_blocked', actor: 'operator:suite-operator' },
      { action: 'account_created' },
    ]);
    expect(
      (await list('--action', 'account_created', '--actor', 'operator:suite-operator')).entries,
    ).toHaveLength(1);
    expect((await list('--from', '2020-01-01T00:00:00Z', '--to', '2099-01-01T00:00:00Z')).entries).toEqual(
      entries,
    );
    expect((await list('--from', '2099-01-01T00:00:00Z')).entries).toEqual([]);
    expect((await list('--to', '2020-01-01T00:00:00Z')).entries).toEqual([]);
  });
});

describe('usage', () => {
  test('of an account by days, by what used it, and of a range that the API refuses', async () => {
    const account = await newAccount();
    const [first, second, third] = [3, 2, 1].map((daysAgo) =>
      new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10),
    ) as [string, string, string];
    const range = ['--from', first, '--to', third];
    const days = await stack.run(['accounts', 'usage', account, ...range]);
    expect(days.stdout.trim().split('\n')).toEqual([
      expect.stringMatching(/^STARTED_AT +USAGE.POINTS_USAGE/),
      ...[first, second, third].map((day) =>
        expect.stringMatching(new RegExp(`^${day}T00:00:00Z +0 +0 +0 +0$`)),
      ),
    ]);
    const grouped = await stack.run(['accounts', 'usage', account, '--group-by', 'application']);
    expect(grouped.stdout).toMatch(/^APPLICATION_ID +NAME +STATUS +USAGE.POINTS_USAGE/);
    expect(await stack.json('accounts', 'usage', account, ...range)).toMatchObject({
      account_id: Number(account),
      interval: 'day',
    });
    const wrong = await stack.run(['accounts', 'usage', account, '--group-by', 'plan', '--interval', 'week']);
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      expect.stringMatching(/group_by.*\n.*interval|interval.*\n.*group_by/),
    ]);
    const early = await stack.run(['accounts', 'usage', account, '--from', '2000-01-01']);
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining('within the last 14 months')]);
  });

  test('gaps are listed, and a check says that there are some', async () => {
    await stack.sql(
      `INSERT INTO usage_gaps (stream, cause, gateway_id, first_batch, last_batch, batches, requests, points)
       VALUES ('{s7}:usage', 'batches_missing', 'some-gateway', 3, 5, 3, 664, 1328)`,
    );
    const listed = await stack.run(['usage', 'gaps', '--stream', '{s7}:usage']);
    expect([listed.code, listed.stdout]).toEqual([
      0,
      expect.stringMatching(/batches_missing +\{s7\}:usage +some-gateway +3 +664 +1328 +- +- +-$/m),
    ]);
    expect(await stack.json('usage', 'gaps', '--limit', '1')).toMatchObject({ gaps: [{ requests: 664 }] });
    expect((await stack.run(['usage', 'check'])).stdout).toMatch(/1 gap\(s\) in the last 30 days/);
    expect((await stack.run(['usage', 'gaps', '--cause', 'moths'])).code).toBe(1);
  });

  test('usage that was set aside is listed, shown and counted', async () => {
    const account = await newSubscriber();
    const { periods } = await stack.json<{ periods: [{ period_id: number }] }>(
      'periods',
      'list',
      '--account',
      account,
    );
    const [{ period_id }] = periods;
    const event = {
      payer_id: Number(account),
      period_id: 987_654_321,
      account_id: Number(account),
      application_id: 1,
      api_version: 'v2',
      points: 11,
      requests: 1,
      time_ms: 0,
      traffic_bytes: 5,
      at_ms: Date.now(),
    };
    const [row] = await stack.sql<{ unassigned_id: string }>(
      `INSERT INTO usage_unassigned (stream, entry_id, event_index, reason, raw)
       VALUES ('{s1}:usage', '1-1', 0, 'unknown_period', '${JSON.stringify(event)}') RETURNING unassigned_id`,
    );
    const id = String(row?.unassigned_id);
    const listed = await stack.run(['usage', 'unassigned', 'list', '--counted', 'no']);
    expect([listed.code, listed.stdout]).toEqual([
      0,
      expect.stringMatching(new RegExp(`^${id} .*unknown_period`, 'm')),
    ]);
    const shown = await stack.run(['usage', 'unassigned', 'get', id]);
    expect(shown.stdout).toMatch(/^explanation +The billing period that the event names does not exist/m);
    expect((await stack.run(['usage', 'unassigned', 'count', id])).code).toBe(2);
    const counted = await stack.run(['usage', 'unassigned', 'count', id, '--yes']);
    expect([counted.code, counted.stdout]).toEqual([
      0,
      expect.stringMatching(new RegExp(`^counted_period_id +${String(period_id)}$`, 'm')),
    ]);
    expect(await stack.json('usage', 'unassigned', 'count', id, '--yes')).toMatchObject({ changed: false });
    expect(await stack.json('periods', 'get', String(period_id))).toMatchObject({ usage: { points: 11 } });
  });

  test('a damaged total is named by a check and mended by a rebuild', async () => {
    const account = await newSubscriber();
    const { periods } = await stack.json<{ periods: [{ period_id: number }] }>(
      'periods',
      'list',
      '--account',
      account,
    );
    const id = String(periods[0].period_id);
    await stack.sql(
      `INSERT INTO usage_totals (period_id, points, requests, time_ms, traffic_bytes) VALUES (${id}, 5, 1, 0, 9)`,
    );
    const found = await stack.run(['usage', 'check']);
    expect([found.code, found.stderr]).toEqual([1, expect.stringContaining('1 period(s) differ')]);
    expect(found.stdout).toMatch(new RegExp(`^${id} +5 +0 +1 +0 `, 'm'));
    const one = await stack.run(['usage', 'check', '--period', id, '--json']);
    expect([one.code, JSON.parse(one.stdout)]).toEqual([1, expect.objectContaining({ checked: 1 })]);
    expect((await stack.run(['usage', 'rebuild'])).code).toBe(2);
    const mended = await stack.run(['usage', 'rebuild', '--yes']);
    expect([mended.code, mended.stdout]).toEqual([
      0,
      expect.stringMatching(new RegExp(`^${id} +true +5 +0 `, 'm')),
    ]);
    expect((await stack.run(['usage', 'check', '--period', id])).code).toBe(0);
    expect((await stack.run(['usage', 'check'])).stdout).toMatch(/^\d+ checked: the totals equal/);
    expect((await stack.run(['usage', 'rebuild'])).stdout).toMatch(/^Nothing to rebuild/);
    const { entries } = await stack.json<{ entries: unknown[] }>(
      'audit',
      'list',
      '--action',
      'usage_rebuilt',
      '--account',
      account,
    );
    expect(entries).toHaveLength(1);
  });
});
