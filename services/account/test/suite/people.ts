import { randomUUID } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Knex } from 'knex';
import { waitFor } from '@tollgate/stack/wait-for';
import { createDatabase } from '@tollgate/testbed/database';
import { startRedis } from '@tollgate/testbed/redis';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { unlessBusy } from '@tollgate/testbed/unless-busy';
import { singleRow } from '../../src/platform/database/single-row.ts';
import { createTransact } from '../../src/platform/database/query.ts';
import { findAccountByEmail } from '../../src/identity/accounts/account-store.ts';
import { hashPassword } from '../../src/identity/passwords/password.ts';
import { completeSignIn } from '../../src/identity/sessions/complete-sign-in.ts';
import { csrfTokenOf } from '../../src/identity/sessions/csrf-token.ts';
import { openSuiteDatabase } from './account-under-test.ts';
import { assertDocumented } from './contract/contract.ts';

type Listening = Pick<ServiceProcess, 'publicUrl'>;

type Answer = { status: number; headers: Headers; text: string; body: Record<string, unknown> };

/** Keeps the session's cookie and sends its CSRF token; fails the test if a response contradicts the API's document. */
export type Browser = {
  request: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Answer>;
  /** What the service takes for its caller's. */
  address: string;
  cookie: string | undefined;
  csrfToken: string | undefined;
};

/** At an address of its own, so that one browser never slows another. */
export function openBrowser(account: Listening, address = randomAddress()): Browser {
  const browser: Browser = {
    address,
    cookie: undefined,
    csrfToken: undefined,
    request: async (method, path, body, headers = {}) => {
      const response = await fetch(`${account.publicUrl}/api/console${path}`, {
        method,
        headers: {
          'x-forwarded-for': address,
          ...(browser.cookie === undefined ? {} : { cookie: browser.cookie }),
          ...(browser.csrfToken === undefined ? {} : { 'x-csrf-token': browser.csrfToken }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      assertDocumented(method, `/api/console${path}`, {
        status: response.status,
        headers: response.headers,
        text,
      });
      const answer = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
      const set = response.headers.getSetCookie()[0];
      if (set !== undefined) browser.cookie = set.split(';')[0];
      if (typeof answer['csrf_token'] === 'string') browser.csrfToken = answer['csrf_token'];
      return { status: response.status, headers: response.headers, text, body: answer };
    },
  };
  return browser;
}

function randomAddress(): string {
  const part = () => String(1 + Math.floor(Math.random() * 253));
  return `10.${part()}.${part()}.${part()}`;
}

/** account with a database of its own, whose mails the suite reads. */
export type PeopleUnderTest = {
  account: ServiceProcess;
  database: Knex;
  mailDirectory: string;
  settings: Readonly<Record<string, string>>;
  close: () => Promise<void>;
};

export async function startPeople(changed: Record<string, string> = {}): Promise<PeopleUnderTest> {
  const [home, redis] = await Promise.all([createDatabase(), startRedis()]);
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-mail-'));
  const settings = {
    DATABASE_URL: home.url,
    REDIS_URL: redis.url,
    // Nothing here calls auth.
    AUTH_PRIVATE_URL: 'http://127.0.0.1:1',
    MAIL_DIR: join(directory, 'mail'),
    TRUSTED_PROXIES: '127.0.0.0/8 ::1/128',
    ...changed,
  };
  const account = await startServiceProcess('account', settings);
  await becomeReady(account);
  const database = openSuiteDatabase(settings.DATABASE_URL);
  return {
    account,
    database,
    mailDirectory: settings.MAIL_DIR,
    settings,
    close: async () => {
      await Promise.all([account.stop(), database.destroy()]);
      await Promise.all([redis.stop(), home.drop(), rm(directory, { recursive: true })]);
    },
  };
}

export type Person = { account_id: number; email: string; password: string };

/** All people of a worker have it: its hash takes 40 ms of CPU time. */
const password = `their password ${randomUUID()}`;
let passwordHash: Promise<string> | undefined;

export async function insertPerson(
  database: Knex,
  changes: { password_hash?: string; blocked_at?: Date; email_verified_at?: Date | null } = {},
): Promise<Person> {
  const email = `Person-${randomUUID()}@example.com`;
  const rows = await database('accounts')
    .insert({
      email,
      name: 'Someone',
      password_hash: changes.password_hash ?? (await (passwordHash ??= hashPassword(password))),
      email_verified_at: new Date(),
      ...changes,
    })
    .returning<{ account_id: number }[]>('account_id');
  return { account_id: singleRow(rows).account_id, email, password };
}

export async function signedInBrowser(account: Listening, { email, password }: Person): Promise<Browser> {
  const browser = openBrowser(account);
  const { status, text } = await unlessBusy(() => browser.request('POST', '/session', { email, password }));
  if (status !== 201) throw new Error(`no session: ${text}`);
  return browser;
}

const LIFETIMES = { idleTimeoutSec: 86_400, lifetimeSec: 2_592_000 };

/** As after signing in: verifying a password takes 40 ms of CPU time, which suites about other things save. */
export async function openSession(database: Knex, account: Listening, { email }: Person): Promise<Browser> {
  const browser = openBrowser(account);
  const { token } = await createTransact(database)(async (inside) => {
    const found = await findAccountByEmail(inside, email);
    if (found === undefined) throw new Error(`no account of ${email}`);
    return await completeSignIn(inside, {
      account: found,
      browser: { userAgent: 'node', previousToken: undefined },
      by: { address: browser.address, addressGroup: browser.address, request_id: randomUUID() },
      lifetimes: LIFETIMES,
      details: {},
    });
  });
  // The name depends on whether the service is reached by HTTPS.
  browser.cookie = `tollgate_session=${token}; __Host-tollgate_session=${token}`;
  browser.csrfToken = csrfTokenOf(token);
  return browser;
}

export type ReadMail = { to: string; subject: string; raw: string; text: string; token: string | undefined };

/** Oldest first. */
export function mailsTo(directory: string, email: string): ReadMail[] {
  let files: string[] = [];
  try {
    files = readdirSync(directory);
  } catch {
    // No mail has been sent yet.
  }
  return files
    .filter((file) => file.endsWith('.eml'))
    .toSorted((one, other) => Number.parseInt(one, 10) - Number.parseInt(other, 10))
    .map((file) => mailIn(join(directory, file)))
    .filter(({ to }) => to.toLowerCase() === email.toLowerCase());
}

/** By file, which is complete when it has its name: a wait looks at the same ones again and again. */
const mails = new Map<string, ReadMail>();

function mailIn(file: string): ReadMail {
  let mail = mails.get(file);
  if (mail === undefined) {
    mail = readMail(readFileSync(file, 'utf8'));
    mails.set(file, mail);
  }
  return mail;
}

/** Reads a mail's plain part. */
export function readMail(raw: string): ReadMail {
  const unfolded = raw.replace(/\r?\n[ \t]+/g, ' ');
  const field = (name: string) => new RegExp(`^${name}: (.*)\\r?$`, 'mi').exec(unfolded)?.[1]?.trim() ?? '';
  const text = raw.replace(/=\r?\n/g, '').replaceAll('=3D', '=');
  return {
    to: field('To'),
    subject: field('Subject'),
    raw,
    text,
    token: /[?&]token=([A-Za-z0-9_-]{43})/.exec(text)?.[1],
  };
}

/**
 * The first mail of that subject, once it has been sent. Mails are sent side by side, and not at all if they are no
 * longer true by then, so that the second one in the directory may be any or never come.
 */
export function mailAbout(directory: string, email: string, subject: string): Promise<ReadMail> {
  return waitFor(() => mailsTo(directory, email).find((mail) => mail.subject === subject), {
    what: `the mail "${subject}" to ${email}`,
  });
}

export function nthMail(directory: string, email: string, count = 1): Promise<ReadMail> {
  return waitFor(() => mailsTo(directory, email)[count - 1], {
    what: `mail number ${String(count)} to ${email}`,
  });
}
