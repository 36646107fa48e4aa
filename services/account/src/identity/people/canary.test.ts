import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Knex } from 'knex';
import { randomBytes, randomUUID } from 'node:crypto';
import { waitFor } from '@tollgate/stack/wait-for';
import { nthMail, openBrowser, startPeople } from '../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../test/suite/people.ts';

let suite: PeopleUnderTest;

beforeAll(async () => {
  // Everything that is ever logged.
  suite = await startPeople({ LOG_LEVEL: 'trace' });
});

afterAll(async () => {
  await suite.close();
});

async function dump(database: Knex): Promise<string> {
  const tables = await database('pg_tables').where({ schemaname: 'public' }).pluck<string[]>('tablename');
  const rows: unknown[] = [];
  for (const table of tables) {
    rows.push(await database(table).select(database.raw('??::text AS row', [table])));
  }
  return JSON.stringify(rows);
}

const newPassword = () => `canary ${randomBytes(12).toString('hex')}`;

test('no password, session or link is in a log, a metric, an answer’s error, or in Postgres but as a hash', async () => {
  const browser = openBrowser(suite.account);
  const email = `canary-${randomUUID()}@example.com`;
  const passwords = [newPassword(), newPassword(), newPassword(), newPassword()];
  const [first = '', second = '', third = '', wrong = ''] = passwords;
  const secrets = new Set(passwords);
  const dumps: string[] = [];
  const errors: string[] = [];

  async function step(method: string, path: string, body?: unknown, headers?: Record<string, string>) {
    const answer = await browser.request(method, path, body, headers);
    const session = browser.cookie?.split('=')[1];
    if (session !== undefined && session !== '') secrets.add(session);
    if (browser.csrfToken !== undefined) secrets.add(browser.csrfToken);
    if (answer.status >= 400) errors.push(answer.text);
    dumps.push(await dump(suite.database));
    return answer.status;
  }

  async function link(to: string, count = 1): Promise<string> {
    const { token = '' } = await nthMail(suite.mailDirectory, to, count);
    secrets.add(token);
    dumps.push(await dump(suite.database));
    return token;
  }

  expect(await step('POST', '/sign-up', { email, name: 'Canary' })).toBe(202);
  const verify = await link(email);
  const confirm = (password: string) =>
    step('POST', `/verify-email?token=${verify}`, { token: verify, password });
  expect(await confirm(first)).toBe(200);
  expect(await confirm(first)).toBe(400);
  expect(await step('POST', '/session', { email, password: wrong })).toBe(401);
  expect(await step('POST', '/session', { email: first, password: wrong })).toBe(400);
  expect(await step('POST', '/session', `{"password":"${first}",`)).toBe(400);
  expect(await step('POST', '/session', { email, password: first })).toBe(201);
  const change = { current_password: first, new_password: second };
  expect(await step('PUT', '/account/password', { ...change, current_password: wrong })).toBe(400);
  expect(await step('PUT', '/account/password', change, { 'x-csrf-token': 'none' })).toBe(403);
  expect(await step('PUT', '/account/password', change)).toBe(200);
  const moved = `moved-${email}`;
  expect(await step('POST', '/account/email', { email: moved, current_password: second })).toBe(202);
  expect(await step('POST', '/verify-email', { token: await link(moved) })).toBe(200);
  expect(await step('POST', '/password-reset', { email: moved })).toBe(202);
  const reset = { token: await link(moved, 2), password: third };
  expect(await step('POST', '/password-reset/confirm', reset)).toBe(204);
  expect(await step('POST', '/password-reset/confirm', reset)).toBe(400);
  expect(await step('GET', '/session')).toBe(401);

  await waitFor(async () => (await suite.database('mail_outbox').select()).length === 0);
  const metrics = await (await fetch(`${suite.account.privateUrl}/metrics`)).text();
  expect(await suite.account.stop()).toMatchObject({ code: 0 });
  const logs = suite.account.logs();
  await suite.account.restart();
  // Four passwords, two sessions with their CSRF tokens, three links.
  expect(secrets.size).toBe(11);
  for (const secret of secrets) {
    for (const text of [...dumps, ...errors, logs, metrics]) expect(text).not.toContain(secret);
  }
  // The dumps do hold what may be found.
  expect(dumps.join()).toContain('$argon2id$v=19$m=19456,t=2,p=1$');
  expect(logs).not.toContain(email);
});
