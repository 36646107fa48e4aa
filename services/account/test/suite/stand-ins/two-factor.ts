import { Secret, TOTP } from 'otpauth';
import type { Knex } from 'knex';
import { singleRow } from '../../../src/platform/database/single-row.ts';
import { newAuthenticator } from './authenticator.ts';
import type { Authenticator } from './authenticator.ts';
import { insertPerson, openBrowser, signedInBrowser } from '../people.ts';
import type { Browser, PeopleUnderTest, Person } from '../people.ts';

/** Where the suites' accounts have passkeys. */
export const PUBLIC_URL = 'https://tollgate.example';

const STEP_MS = 30_000;

/** The code of an authenticator app, now or some steps away. */
export function totpCode(secret: string, steps = 0): string {
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  return totp.generate({ timestamp: Date.now() + steps * STEP_MS });
}

export type Protected = Person & {
  browser: Browser;
  secret: string;
  /** The code that has enabled the app. */
  usedCode: string;
  /** The one after it, good for at least half a minute. */
  nextCode: string;
  codes: string[];
};

/** A signed-in person with an authenticator app. */
export async function withTotp(suite: PeopleUnderTest): Promise<Protected> {
  const person = await insertPerson(suite.database);
  const browser = await signedInBrowser(suite.account, person);
  const { body } = await browser.request('POST', '/two-factor/totp');
  const secret = String(body['secret']);
  const [usedCode, nextCode] = [totpCode(secret), totpCode(secret, 1)];
  const confirmed = await browser.request('POST', '/two-factor/totp/confirm', { code: usedCode });
  if (confirmed.status !== 200) throw new Error(`no authenticator app: ${confirmed.text}`);
  const codes = confirmed.body['recovery_codes'] as string[];
  return { ...person, browser, secret, usedCode, nextCode, codes };
}

/** Gives a signed-in account an authenticator app, and a passkey that nobody holds. */
export async function enrol(
  { account_id, browser }: { account_id: number; browser: Browser },
  database: Knex,
): Promise<{ passkey_id: number }> {
  const { body } = await browser.request('POST', '/two-factor/totp');
  const code = totpCode(String(body['secret']));
  await browser.request('POST', '/two-factor/totp/confirm', { code });
  const passkey = { account_id, credential_id: `of-${String(account_id)}`, public_key: Buffer.alloc(1) };
  const rows = await database('passkeys')
    .insert({ ...passkey, sign_count: 0, transports: [], name: 'Laptop' })
    .returning<{ passkey_id: number }[]>('passkey_id');
  return singleRow(rows);
}

/** Makes an account's used codes good again, in place of waiting for the next step. */
export async function forgetUsedCodes(database: Knex, { account_id }: Person): Promise<void> {
  await database('totp_secrets').where({ account_id }).update({ last_step: 0 });
}

/** A browser that has sent the password. */
export async function passwordStep(
  suite: Pick<PeopleUnderTest, 'account'>,
  { email, password }: Pick<Person, 'email' | 'password'>,
  address?: string,
): Promise<{ browser: Browser; sign_in_token: string; factors: unknown }> {
  const browser = openBrowser(suite.account, address);
  const { status, text, body } = await browser.request('POST', '/session', { email, password });
  if (status !== 202) throw new Error(`no second step: ${text}`);
  return { browser, sign_in_token: String(body['sign_in_token']), factors: body['factors'] };
}

export async function addPasskey(browser: Browser, name = 'Laptop'): Promise<Authenticator> {
  const authenticator = newAuthenticator(PUBLIC_URL);
  const { body: options } = await browser.request('POST', '/two-factor/passkeys/options');
  const credential = authenticator.create(options);
  const { status, text } = await browser.request('POST', '/two-factor/passkeys', { name, credential });
  if (status !== 201) throw new Error(`no passkey: ${text}`);
  return authenticator;
}

export const isSignedIn = async ({ request }: Browser) => (await request('GET', '/session')).status === 200;
