import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import PostalMime from 'postal-mime';
import type { Email } from 'postal-mime';
import { CONSOLE_PATHS } from '@tollgate/console/paths';
import { waitFor } from '@tollgate/stack/wait-for';
import { insertGrant } from '../../test/suite/database/credits.ts';
import { insertAccount, insertPeriod, secondsFromNow } from '../../test/suite/database/records.ts';
import { openMailServer, smtpSettings } from '../../test/suite/stand-ins/mail-server.ts';
import type { MailServer } from '../../test/suite/stand-ins/mail-server.ts';
import { insertPerson, startPeople } from '../../test/suite/people.ts';
import type { PeopleUnderTest, Person } from '../../test/suite/people.ts';
import { MAIL_RENDERERS } from '../mails.ts';

/** Every mail as a mail server receives it, read by a parser of its own. */

const PRODUCT = `<b>"Toll' & gate`;
const HOSTILE = `</td><script>alert('x')</script><img src="https://evil.invalid/x">`;
const SITE = 'http://tollgate.example';

let suite: PeopleUnderTest;
let server: MailServer;
let person: Person;

beforeAll(async () => {
  server = await openMailServer();
  suite = await startPeople({ ...smtpSettings(server.url), PRODUCT_NAME: PRODUCT });
  person = await insertPerson(suite.database);
  await suite.database('accounts').where({ account_id: person.account_id }).update({ name: HOSTILE });
});

afterAll(async () => {
  await Promise.all([suite.close(), server.close()]);
});

type Row = Record<string, unknown>;

async function insertId(table: string, row: Row, id: string): Promise<number> {
  const rows = await suite.database(table).insert(row).returning<Record<string, number>[]>(id);
  return rows[0]?.[id] ?? NaN;
}

async function alertRow(): Promise<Row> {
  const { account_id } = person;
  const period_id = await insertPeriod(suite.database, account_id, { plan_name: HOSTILE });
  const limit = { limit_name: 'points_limit', share: 80, used: 812_345, limit_value: 1_000_000 };
  const alert_id = await insertId('usage_alerts', { account_id, period_id, ...limit }, 'alert_id');
  return { kind: 'usage_alert', account_id, alert_id };
}

async function budgetRow(): Promise<Row> {
  const { account_id } = person;
  const application = { account_id, name: HOSTILE, type: 'automatic', token_lifespan_sec: 60 };
  const row = { ...application, client_id: randomUUID() };
  const application_id = await insertId('applications', row, 'application_id');
  const day = new Date().toISOString().slice(0, 10);
  const passed = { account_id, application_id, day, share: 80, used: 41, limit_value: 50 };
  return {
    kind: 'budget_alert',
    account_id,
    budget_alert_id: await insertId('budget_alerts', passed, 'budget_alert_id'),
  };
}

async function expiringRow(): Promise<Row> {
  const { account_id } = person;
  const expires_at = secondsFromNow(30 * 86_400);
  const credit_id = await insertGrant(suite.database, account_id, { expires_at, note: HOSTILE });
  const notices = () => suite.database('credit_notices').where({ credit_id }).whereNot({ kind: 'expiring' });
  await waitFor(async () => (await notices()).length === 0);
  return { kind: 'credits_expiring', account_id, credit_id };
}

async function lowRow(): Promise<Row> {
  const { account_id } = person;
  const level = { account_id, points: 1_000, low_at: new Date() };
  await suite.database('credit_levels').insert(level).onConflict('account_id').merge();
  return { kind: 'credits_low', account_id };
}

async function failedRow(): Promise<Row> {
  const { account_id } = person;
  const period_id = await insertPeriod(suite.database, account_id, {
    plan_name: HOSTILE,
    started_at: secondsFromNow(-20 * 86_400),
    ended_at: secondsFromNow(-10 * 86_400),
  });
  const at = { grace_at: new Date(), blocks_at: secondsFromNow(86_400) };
  await suite.database('payment_blocks').insert({ account_id, reason: 'renewal', period_id, ...at });
  return { kind: 'payment_failed', account_id };
}

async function overageRow(): Promise<Row> {
  const { account_id } = person;
  const stripe_invoice_id = 'in_unpaid';
  const price = { currency: 'eur', price_per_1000: 50 };
  await suite.database('period_overages').insert({ period_id: 1, account_id, ...price });
  const charge = { charge_key: 'overage:1', account_id, period_id: 1, points: 1_000, amount: 50 };
  await suite.database('overage_charges').insert({ ...charge, stripe_item_id: 'ii_1', stripe_invoice_id });
  const at = { failed_at: new Date(), issued_at: new Date() };
  const invoice = {
    stripe_invoice_id,
    account_id,
    number: 'TG-0001',
    state: 'open',
    currency: 'eur',
    total: 60,
  };
  await suite.database('invoices').insert({ ...invoice, ...at });
  return { kind: 'overage_unpaid', account_id };
}

async function topUpRow(): Promise<Row> {
  const { account_id } = person;
  const pack = { name: HOSTILE, points: 10, currency: 'eur', unit_amount: 1_900, tax_behavior: 'exclusive' };
  const pack_id = await insertId('packs', pack, 'pack_id');
  const choice = { pack_id, threshold_points: 5, max_times: 1, max_amount: 1_900, is_on: true };
  await suite
    .database('top_up_settings')
    .insert({ account_id, ...choice, declines: 1, not_before: new Date() });
  return { kind: 'top_up_failed', account_id };
}

async function invitationRow(): Promise<Row> {
  const team_id = await insertId('teams', { name: HOSTILE }, 'team_id');
  const invited = { team_id, email: `${randomUUID()}@example.com`, invited_by: person.account_id };
  const row = { ...invited, expires_at: new Date(Date.now() + 3_600_000) };
  const invitation_id = await insertId('team_invitations', row, 'invitation_id');
  return { kind: 'team_invitation', recipient: invited.email, invitation_id };
}

async function withoutPasswordRow(): Promise<Row> {
  return { kind: 'team_provisioning_ended', account_id: await insertAccount(suite.database) };
}

async function webhookRow(): Promise<Row> {
  const { account_id } = person;
  const url = 'https://hooks.invalid/a&b/<script>?key=1';
  const webhook_id = await insertId('webhooks', { account_id, url, description: HOSTILE }, 'webhook_id');
  return { kind: 'webhook_disabled', account_id, webhook_id };
}

async function deletionRow(): Promise<Row> {
  const { account_id } = person;
  await suite.database('accounts').where({ account_id }).update({ deletion_due_at: new Date() });
  return { kind: 'account_deletion_requested', account_id };
}

const stranger = () => ({ recipient: `${randomUUID()}@example.com` });
const own = () => ({ account_id: person.account_id });
const signUp = { kind: 'sign_up', name: HOSTILE };

/** `pages`: where its links lead, in order, besides the footer's. One kind can have several mails. */
const MAILS: readonly { name: string; row: () => Row | Promise<Row>; pages: readonly string[] }[] = [
  { name: 'sign_up', row: () => ({ ...signUp, ...stranger() }), pages: ['/user/verify-email'] },
  {
    name: 'sign_up of a known address',
    row: () => signUp,
    pages: ['/user/sign-in', '/user/forgot-password'],
  },
  {
    name: 'sign_up_again',
    row: () => ({ kind: 'sign_up_again' }),
    pages: ['/user/sign-in', '/user/forgot-password'],
  },
  { name: 'password_reset', row: () => ({ kind: 'password_reset' }), pages: ['/user/reset-password'] },
  {
    name: 'email_change',
    row: () => ({ kind: 'email_change', ...own(), ...stranger() }),
    pages: ['/user/verify-email'],
  },
  {
    name: 'email_change_by_support',
    row: () => ({ kind: 'email_change_by_support', ...own() }),
    pages: ['/user/forgot-password'],
  },
  { name: 'email_change to a known address', row: () => ({ kind: 'email_change', ...own() }), pages: [] },
  {
    name: 'password_changed',
    row: () => ({ kind: 'password_changed', ...own() }),
    pages: ['/user/forgot-password'],
  },
  { name: 'email_changed', row: () => ({ kind: 'email_changed', ...own() }), pages: [] },
  ...[
    'totp_added',
    'totp_removed',
    'passkey_added',
    'passkey_removed',
    'recovery_codes_renewed',
    'recovery_code_used',
    'second_step_limited',
  ].map((kind) => ({ name: kind, row: () => ({ kind, ...own() }), pages: ['/user/forgot-password'] })),
  {
    name: 'two_factor_reset',
    row: () => ({ kind: 'two_factor_reset', ...own() }),
    pages: ['/user/account/security'],
  },
  {
    name: 'connection_ended',
    row: () => ({ kind: 'connection_ended', ...own() }),
    pages: ['/user/account/activity'],
  },
  { name: 'team_invitation', row: invitationRow, pages: ['/user/invitation'] },
  { name: 'team_handed_over', row: () => ({ kind: 'team_handed_over', ...own() }), pages: ['/user/team'] },
  ...['team_domain_missing', 'team_domain_lost', 'team_domain_taken'].map((kind) => ({
    name: kind,
    row: () => ({ kind, ...own(), name: 'example.com' }),
    pages: ['/user/team'],
  })),
  {
    name: 'team_sso_required',
    row: () => ({ kind: 'team_sso_required', ...own() }),
    pages: ['/user/sso'],
  },
  {
    name: 'team_sso_lifted',
    row: () => ({ kind: 'team_sso_lifted', ...own() }),
    pages: ['/user/team'],
  },
  {
    name: 'team_sso_linked',
    row: () => ({ kind: 'team_sso_linked', ...own() }),
    pages: ['/user/account/activity'],
  },
  {
    name: 'team_sso_password',
    row: () => ({ kind: 'team_sso_password', ...own() }),
    pages: ['/user/reset-password'],
  },
  {
    name: 'team_user_provisioned',
    row: () => ({ kind: 'team_user_provisioned', ...own() }),
    pages: ['/user/sign-in'],
  },
  {
    name: 'team_provisioning_token_ends',
    row: () => ({ kind: 'team_provisioning_token_ends', ...own(), name: '7' }),
    pages: ['/user/team'],
  },
  { name: 'team_provisioning_ended', row: withoutPasswordRow, pages: ['/user/reset-password'] },
  { name: 'usage_alert', row: alertRow, pages: ['/user/plan', '/user/usage', '/user/alerts'] },
  { name: 'budget_alert', row: budgetRow, pages: ['/user/api_v2/applications', '/user/alerts'] },
  { name: 'alert_test', row: () => ({ kind: 'alert_test', ...own() }), pages: ['/user/alerts'] },
  { name: 'credits_expiring', row: expiringRow, pages: ['/user/plan', '/user/alerts'] },
  { name: 'credits_low', row: lowRow, pages: ['/user/plan', '/user/usage', '/user/alerts'] },
  { name: 'payment_failed', row: failedRow, pages: ['/user/plan'] },
  { name: 'overage_unpaid', row: overageRow, pages: ['/user/plan'] },
  { name: 'top_up_failed', row: topUpRow, pages: ['/user/plan'] },
  { name: 'webhook_disabled', row: webhookRow, pages: ['/user/webhooks', '/api/docs'] },
  {
    name: 'account_deletion_requested',
    row: deletionRow,
    pages: ['/user/account', '/user/forgot-password'],
  },
  {
    name: 'account_deletion_cancelled',
    row: () => ({ kind: 'account_deletion_cancelled', ...own() }),
    pages: ['/user/api_v2/applications'],
  },
  { name: 'operator_admin_removed', row: () => ({ kind: 'operator_admin_removed' }), pages: [] },
  { name: 'operator_break_glass', row: () => ({ kind: 'operator_break_glass' }), pages: [] },
  {
    name: 'operator_view_overridden',
    row: () => ({ kind: 'operator_view_overridden', ...own() }),
    pages: ['/user/account/activity'],
  },
  { name: 'account_deleted', row: () => ({ kind: 'account_deleted' }), pages: [] },
];

async function sent(row: Row): Promise<Email> {
  const before = server.received.length;
  await suite.database('mail_outbox').insert({ recipient: person.email, ...row });
  return PostalMime.parse(await waitFor(() => server.received[before]));
}

test('every kind is below', () => {
  const listed = new Set(MAILS.map(({ name }) => name.split(/[ ,]/)[0]));
  expect([...listed].toSorted()).toEqual([...MAIL_RENDERERS.keys()].toSorted());
});

describe.each(MAILS)('$name', ({ row, pages }) => {
  let mail: Email;
  let text: string;
  let html: string;
  /** From the heading to the end. */
  let card: string;
  let heading: string;

  beforeAll(async () => {
    mail = await sent(await row());
    text = mail.text ?? '';
    html = mail.html ?? '';
    card = html.split('<h1')[1] ?? '';
    heading = unescaped(/^[^>]*>([^<]*)</.exec(card)?.[1] ?? '');
  });

  test('has both forms, which say the same', () => {
    expect(mail.headers.find(({ key }) => key === 'content-type')?.value).toContain('multipart/alternative');
    expect(mail.attachments).toMatchObject([
      { mimeType: 'image/png', disposition: 'inline', contentId: '<logo>' },
    ]);
    expect(mail.subject).toBe(`[${PRODUCT}] ${heading}`);
    expect(wordsOf(textOf(`<h1${card}`))).toEqual(wordsOf(text.replace('\n--\n', '\n')));
    expect(text.startsWith(heading)).toBe(true);
    expect(unescaped(html)).toContain(`<title>${heading}</title>`);
  });

  test('links to pages that exist, with a token only where it is needed, in both forms', () => {
    const inText = [...text.matchAll(/^https?:\S+$/gm)].map(([link]) => link);
    const inHtml = [
      ...new Set([...html.matchAll(/href="([^"]*)"/g)].map(([, link = '']) => unescaped(link))),
    ];
    expect(inText.toSorted()).toEqual(inHtml.toSorted());
    expect(inText.map((link) => link.replace(/[?#].*$/, ''))).toEqual(
      [...pages, '/user'].map((page) => SITE + page),
    );
    const known: readonly string[] = [...CONSOLE_PATHS, '/api/docs'];
    for (const page of pages) expect(known).toContain(page);
  });

  test('loads nothing, runs nothing, and contains no text that a stranger typed', () => {
    expect(html).not.toMatch(
      /<(?:script|img(?! src="cid:)|link|iframe|object|video|form|base)\b|\bon\w+=|url\(|@import|@font-face/i,
    );
    expect(html).not.toContain('<b>');
    expect(html + text).not.toContain('evil.invalid');
    expect(text).toContain(PRODUCT);
    expect(html).toContain('&lt;b&gt;&quot;Toll&#39; &amp; gate');
  });

  test('is no wider than its window, whatever name or address it has', () => {
    const [column = ''] = /<table[^>]*max-width:560px[^>]*>/.exec(html) ?? [];
    for (const rule of ['table-layout:fixed', 'word-break:break-word', 'overflow-wrap:anywhere'])
      expect(column).toContain(rule);
    expect(html.replaceAll('white-space:nowrap;font-weight:400', '')).not.toContain('nowrap');
  });

  test('follows the theme of the reader, and is written for machines and screen readers too', () => {
    expect(html).toMatch(/<meta name="color-scheme" content="light dark">/);
    expect(html).toContain('@media (prefers-color-scheme: dark)');
    expect(html).toContain('<html lang="en">');
    // Screen readers announce only the table of facts as one.
    const tables = html.match(/<table(?![^>]*role="presentation")/g)?.length ?? 0;
    expect(tables).toBe(html.includes('scope="row"') ? 1 : 0);
  });
});

/** Without addresses, which the HTML hides behind labels, and colons. */
function wordsOf(text: string): string[] {
  const words = text.replaceAll(/Or open this link:|https?:\S+/g, '').replaceAll(':', '');
  return words.split(/\s+/).filter((word) => word !== '');
}

function textOf(html: string): string {
  return unescaped(html.replaceAll(/<\/(?:p|td|th|h1)>/g, '\n').replaceAll(/<[^>]*>/g, ''));
}

function unescaped(markup: string): string {
  return markup
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}
