import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { issueOwnToken, makeOwnApplication, newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { insertPeriod } from '../../../test/suite/database/records.ts';
import { exported } from '../../../test/suite/contract/exports.ts';
import { joinTeam, makeTeam } from '../../../test/suite/team.ts';
import { appendRefusals, refusedCall } from '../../../test/suite/usage/refused-calls.ts';
import { countPastUsage } from '../../../test/suite/usage/usage-rows.ts';
import { waitFor } from '@tollgate/stack/wait-for';
import { createRunningExports } from './running-exports.ts';

let suite: AccountUnderTest;
let owner: Owner;

beforeAll(async () => {
  suite = await startAccount({
    settings: { TRUSTED_PROXIES: '127.0.0.0/8 ::1/128', MAIL_REQUESTS_PER_ADDRESS: '1000' },
  });
});

beforeEach(async () => {
  owner = await newOwner(suite);
});

afterAll(async () => {
  await suite.close();
});

const exportOf = ({ browser }: Owner) => exported(suite.account, browser);

describe('the files', () => {
  test('contain what the account has, as JSON and CSV', async () => {
    const { browser, account_id, email } = owner;
    const period_id = await insertPeriod(suite.database, account_id);
    const application = await makeOwnApplication(browser, { name: '=ETL, "nightly"' });
    await issueOwnToken(browser, application, 'laptop');
    await browser.request('POST', '/webhooks', { url: 'https://hooks.invalid/in' });
    await browser.request('PUT', '/alerts', { mail: true, shares: [50], limits: {} });
    const { application_id } = application;
    const used = { payer_id: account_id, account_id, period_id, application_id };
    await countPastUsage(suite.database, [{ ...used, at: new Date(), points: 7, requests: 2 }]);
    await appendRefusals(suite.store, [refusedCall({ ...used, code: 'rate_limit_exceeded', status: 429 })]);
    await waitFor(
      async () => (await suite.database('refused_calls').where({ payer_id: account_id })).length > 0,
    );

    await suite.database('purchases').insert({
      account_id,
      pack_id: 1,
      pack_name: '10,000 points',
      quantity: 2,
      points: 20_000,
      currency: 'eur',
      amount: 3_800,
    });

    const invoice = {
      account_id,
      state: 'paid',
      currency: 'eur',
      issued_at: new Date(),
      paid_at: new Date(),
    };
    await suite.database('invoices').insert([
      { ...invoice, stripe_invoice_id: 'in_export', number: 'A-0001', total: 4_900 },
      { ...invoice, stripe_invoice_id: 'in_draft', state: 'draft', total: 4_900, paid_at: null },
    ]);

    await suite.database('sent_mails').insert({
      mail_id: 999_999,
      account_id,
      kind: 'password_changed',
      recipient: email,
      outcome: 'sent',
      requested_at: new Date(),
    });
    const { files, headers, json, rows } = await exportOf(owner);
    expect(headers.get('content-type')).toBe('application/zip');
    expect(headers.get('content-disposition')).toMatch(
      new RegExp(`^attachment; filename=account-${String(account_id)}-20\\d\\d-\\d\\d-\\d\\d\\.zip$`),
    );
    expect(json('account')).toMatchObject({ account_id, email, blocked: false, totp_enabled_at: null });
    expect(rows('applications')).toMatchObject([{ application_id, name: '=ETL, "nightly"' }]);
    expect(rows('tokens')).toMatchObject([{ name: 'laptop', status: 'Active', application_id }]);
    expect(rows('sessions')).toHaveLength(1);
    expect(rows('mails')).toMatchObject([{ kind: 'password_changed', recipient: email }]);
    expect(rows('billing-periods')).toMatchObject([{ period_id, points_usage: 7 }]);
    expect(rows('purchases')).toMatchObject([{ pack_name: '10,000 points', amount: 3_800, state: 'open' }]);
    expect(rows('invoices')).toMatchObject([{ number: 'A-0001', state: 'paid', total: 4_900 }]);
    expect(rows('usage')).toMatchObject([{ period_id, application_id, points: 7, requests: 2 }]);
    expect(rows('refused-calls')).toMatchObject([{ code: 'rate_limit_exceeded', application_id }]);
    expect(rows('webhooks')).toMatchObject([{ url: 'https://hooks.invalid/in' }]);
    expect(json('alert-settings')).toMatchObject({ shares: [50] });
    expect(json('team')).toBeNull();
    expect(json('provisioning')).toBeNull();
    expect(rows('activity').map(({ action }) => action)).toEqual(
      expect.arrayContaining(['application_created', 'token_issued', 'account_exported']),
    );
    expect(parse(files.get('applications.csv') ?? '', { columns: true })).toMatchObject([
      { application_id: String(application_id), name: `'=ETL, "nightly"` },
    ]);
    expect(files.get('passkeys.csv')).toBe('passkey_id,name,created_at,last_used_at\r\n');
  });

  test('are all described, and each list is there in both formats with the same rows', async () => {
    await makeOwnApplication(owner.browser);
    const { files, rows } = await exportOf(owner);
    const names = [...files.keys()].filter((name) => name.endsWith('.csv')).map((name) => name.slice(0, -4));
    expect(names.length).toBeGreaterThan(10);
    for (const name of names) {
      expect(parse(files.get(`${name}.csv`) ?? '', { columns: true })).toHaveLength(rows(name).length);
    }
    const described = [...(files.get('README.txt') ?? '').matchAll(/^([a-z-]+) \(/gm)].map(
      ([, name]) => name,
    );
    expect(new Set(described)).toEqual(
      new Set([...files.keys()].filter((name) => name !== 'README.txt').map((name) => name.split('.')[0])),
    );
  });

  test('contain no password, secret, token or hash of one', async () => {
    const { browser, account_id } = owner;
    const application = await makeOwnApplication(browser);
    const token = await issueOwnToken(browser, application);
    const temporary = await browser.request('POST', '/temporary-token');
    const webhook = await browser.request('POST', '/webhooks', { url: 'https://hooks.invalid/in' });
    const totp = await browser.request('POST', '/two-factor/totp');
    const secrets = [
      application.client_secret,
      token.access_token,
      temporary.body['access_token'],
      webhook.body['secret'],
      totp.body['secret'],
      owner.password,
      browser.cookie?.split('=')[1],
      browser.csrfToken,
    ].map(String);
    const stored = await secretColumnsOf(account_id);
    expect(stored.length).toBeGreaterThan(6);
    const text = [...(await exportOf(owner)).files.values()].join('\n');
    expect(text).toContain(application.client_id);
    for (const secret of [...secrets, ...stored]) expect(text).not.toContain(secret);
  });

  test("a manager's have the members as the Team page shows them, and their usage", async () => {
    const member = await newOwner(suite);
    const period_id = await insertPeriod(suite.database, owner.account_id);
    await makeTeam(owner, 'Desk');
    await joinTeam(owner, member);
    const { account_id } = member;
    const made = await makeOwnApplication(member.browser, { name: "the member's own" });
    await member.browser.request('PUT', `${made.path}/budget`, { points_per_period: 70 });
    await owner.browser.request('PUT', `/team/members/${String(account_id)}/budget`, { points_per_day: 9 });
    const used = { payer_id: owner.account_id, account_id, period_id };
    await countPastUsage(suite.database, [{ ...used, at: new Date(), points: 3 }]);
    const { files, rows } = await exportOf(owner);
    expect(rows('team-members')).toMatchObject([
      { account_id: owner.account_id, role: 'manager', points_usage: 0, points_per_day: null },
      { account_id, email: member.email, role: 'member', points_usage: 3, points_per_day: 9 },
    ]);
    expect(rows('usage')).toMatchObject([{ account_id, points: 3 }]);
    expect(files.get('applications.json')).toBe('[]\n');

    const own = await exportOf(member);
    expect(own.json('team')).toMatchObject({ name: 'Desk', role: 'member', payer_id: owner.account_id });
    expect(own.rows('team-members')).toMatchObject([{ account_id, points_per_day: 9 }]);
    expect(own.rows('application-budgets')).toMatchObject([
      { application_id: made.application_id, points_per_period: 70, manager_points_per_day: null },
    ]);
    expect(own.rows('usage')).toMatchObject([{ account_id, payer_id: owner.account_id, points: 3 }]);
    expect(own.rows('billing-periods')).toEqual([]);
    const text = [...own.files.values()].join('\n');
    expect(text).not.toContain(owner.email);
  });
});

describe('an export', () => {
  test('needs a session that was confirmed lately, and its CSRF token', async () => {
    const path = '/account/export';
    const cookie = owner.browser.cookie ?? '';
    const without = await fetch(`${suite.account.publicUrl}/api/console${path}`, {
      method: 'POST',
      headers: { cookie },
    });
    expect([without.status, await without.json()]).toMatchObject([403, { code: 'csrf_token_required' }]);
    await suite
      .database('sessions')
      .where({ account_id: owner.account_id })
      .update({ confirmed_at: new Date(Date.now() - 16 * 60_000) });
    const stale = await owner.browser.request('POST', path);
    expect([stale.status, stale.body['code']]).toEqual([403, 'confirmation_required']);
    expect(await auditedExports()).toBe(0);
    expect((await owner.browser.request('GET', path)).status).toBe(405);
    expect((await fetch(`${suite.account.publicUrl}/api/console${path}`, { method: 'POST' })).status).toBe(
      401,
    );
  });

  test('is recorded, and possible ten times in an hour', async () => {
    for (let count = 0; count < 10; count += 1) await exportOf(owner);
    expect(await auditedExports()).toBe(10);
    const refused = await owner.browser.request('POST', '/account/export');
    expect([refused.status, refused.body['code']]).toEqual([429, 'too_many_requests']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000);
  });

  test('does not run beside another one of the account, nor beside four of others', async () => {
    const { run } = createRunningExports();
    const ends: (() => void)[] = [];
    const begin = (accountId: number) =>
      run(String(accountId), () => new Promise<void>((resolve) => ends.push(resolve)));
    const running = [1, 2, 3, 4].map(begin);
    await expect(begin(1)).rejects.toMatchObject({ code: 'too_many_requests' });
    await expect(begin(5)).rejects.toMatchObject({ code: 'service_unavailable' });
    for (const end of ends) end();
    await Promise.all(running);
    await run('1', () => Promise.resolve());
  });
});

async function auditedExports(): Promise<number> {
  const rows: unknown[] = await suite
    .database('audit_log')
    .where({ account_id: owner.account_id, action: 'account_exported' });
  return rows.length;
}

/** Whatever the database keeps of secrets, in every encoding that could come out. */
async function secretColumnsOf(accountId: number): Promise<string[]> {
  const own = suite.database('applications').where({ account_id: accountId }).select('application_id');
  const tables = [
    suite.database('accounts').where({ account_id: accountId }),
    suite.database('sessions').where({ account_id: accountId }),
    suite.database('totp_secrets').where({ account_id: accountId }),
    suite.database('application_secrets').whereIn('application_id', own.clone()),
    suite.database('access_tokens').whereIn('application_id', own.clone()),
    suite
      .database('webhook_secrets')
      .whereIn(
        'webhook_id',
        suite.database('webhooks').where({ account_id: accountId }).select('webhook_id'),
      ),
  ];
  const rows = (await Promise.all(tables)).flat() as Record<string, unknown>[];
  return rows
    .flatMap((row) => Object.entries(row))
    .filter(([column]) => /hash|hmac|sealed/.test(column))
    .flatMap(([, value]) =>
      Buffer.isBuffer(value)
        ? (['hex', 'base64', 'base64url'] as const).map((encoding) => value.toString(encoding))
        : [String(value)],
    );
}
