import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { operatePath, operatorCredentials } from '../../../test/suite/operator.ts';
import { insertPeriod } from '../../../test/suite/database/records.ts';
import { PUBLIC_URL, addPasskey, enrol, totpCode } from '../../../test/suite/stand-ins/two-factor.ts';
import { nthMail, openBrowser, signedInBrowser } from '../../../test/suite/people.ts';
import { getUsage } from '../../../test/suite/requests.ts';

/** What a stolen session could have taken with it must not outlive the session (docs/design/identity.md). */

let suite: AccountUnderTest;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tollgate-mail-'));
  suite = await startAccount({
    settings: {
      PUBLIC_URL,
      OPERATOR_CREDENTIALS: operatorCredentials,
      MAIL_DIR: directory,
      TRUSTED_PROXIES: '127.0.0.0/8 ::1/128',
    },
  });
});

afterAll(async () => {
  await suite.close();
  await rm(directory, { recursive: true });
});

/** `GET /api/usage` is 404 without a period. */
async function newCustomer(): Promise<Owner> {
  const owner = await newOwner(suite);
  await insertPeriod(suite.database, owner.account_id);
  return owner;
}

async function temporaryToken({ browser }: Pick<Owner, 'browser'>): Promise<string> {
  const { status, text, body } = await browser.request('POST', '/temporary-token');
  if (status !== 200) throw new Error(`no temporary token: ${text}`);
  return String(body['access_token']);
}

const statusOf = async (token: string) => (await getUsage(suite.account, token)).status;

const NEW_PASSWORD = 'another good one';

async function expectSuccess(answer: Promise<{ status: number; text: string }>): Promise<void> {
  const { status, text } = await answer;
  if (status >= 300) throw new Error(`${String(status)}: ${text}`);
}

async function confirmTotp({ browser }: Owner): Promise<void> {
  const { body } = await browser.request('POST', '/two-factor/totp');
  const code = totpCode(String(body['secret']));
  await expectSuccess(browser.request('POST', '/two-factor/totp/confirm', { code }));
}

const ENDS: Record<string, (owner: Owner) => Promise<unknown>> = {
  'a change of the password': ({ browser, password }) =>
    expectSuccess(
      browser.request('PUT', '/account/password', {
        current_password: password,
        new_password: NEW_PASSWORD,
      }),
    ),
  'a reset of the password': async ({ email }) => {
    const { request } = openBrowser(suite.account);
    await request('POST', '/password-reset', { email });
    const { token } = await nthMail(directory, email);
    await expectSuccess(request('POST', '/password-reset/confirm', { token, password: NEW_PASSWORD }));
  },
  'signing out everywhere': ({ browser }) => expectSuccess(browser.request('DELETE', '/sessions')),
  'the end of another session': async (owner) => {
    const other = await signedInBrowser(suite.account, owner);
    const { session_id } = (await other.request('GET', '/session')).body;
    await expectSuccess(owner.browser.request('DELETE', `/sessions/${String(session_id)}`));
  },
  'an authenticator app': confirmTotp,
  'a passkey': ({ browser }) => addPasskey(browser),
  'a reset of two-factor sign-in by an operator': async (owner) => {
    await enrol(owner, suite.database);
    // Setting it up has ended the first one.
    await temporaryToken(owner);
    const path = `/private/accounts/${String(owner.account_id)}/reset-two-factor`;
    const { status } = await operatePath(suite.account, 'POST', path);
    expect(status).toBe(200);
  },
};

describe('the temporary token', () => {
  test.each(Object.entries(ENDS))('ends with %s, and the next one is another', async (_, end) => {
    const owner = await newCustomer();
    const stolen = await temporaryToken(owner);
    expect(await statusOf(stolen)).toBe(200);
    await end(owner);
    await waitFor(async () => (await statusOf(stolen)) === 401, { what: 'the copy to be refused' });
    const log = await suite
      .database('audit_log')
      .where({ account_id: owner.account_id, action: 'token_revoked' });
    expect(log.length).toBeGreaterThan(0);
    const password = (await signsIn(owner, NEW_PASSWORD)) ? NEW_PASSWORD : owner.password;
    await suite.database('totp_secrets').where({ account_id: owner.account_id }).delete();
    await suite.database('passkeys').where({ account_id: owner.account_id }).delete();
    const browser = await signedInBrowser(suite.account, { ...owner, password });
    const next = await temporaryToken({ browser });
    expect(next).not.toBe(stolen);
    expect(await statusOf(next)).toBe(200);
  });

  test('stays while nothing but the own session ends, and when another signs in', async () => {
    const owner = await newCustomer();
    const token = await temporaryToken(owner);
    const other = await signedInBrowser(suite.account, owner);
    await expectSuccess(owner.browser.request('DELETE', '/session'));
    expect(await temporaryToken({ browser: other })).toBe(token);
    expect(await statusOf(token)).toBe(200);
  });

  test('is not made by ending sessions', async () => {
    const owner = await newOwner(suite);
    await expectSuccess(owner.browser.request('DELETE', '/sessions'));
    expect(await suite.database('applications').where({ account_id: owner.account_id })).toEqual([]);
  });
});

async function signsIn({ email }: Owner, password: string): Promise<boolean> {
  const { status } = await openBrowser(suite.account).request('POST', '/session', { email, password });
  return status < 300;
}
