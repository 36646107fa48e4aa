import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { createLogger } from '@tollgate/log';
import { waitFor } from '@tollgate/stack/wait-for';
import { serviceDefaults } from '@tollgate/testbed/service-process';
import { compose } from '../../compose/compose.ts';
import { loadConfig } from '../../config.ts';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { makeAccount, makePlan, makePublicPlan, subscribe } from '../../../test/suite/billing.ts';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { ownContract } from '../../../test/suite/contract/contract.ts';
import { callerOf } from '../../../test/suite/contract/fuzz-caller.ts';
import { goodRequest, send } from '../../../test/suite/contract/fuzz-request.ts';
import { routesOf } from '../../../test/suite/contract/routes.ts';
import { insertPeriod } from '../../../test/suite/database/records.ts';
import {
  makeApplication,
  makeApplication as makeOperatedApplication,
  operatePath,
  operatorCredentials,
} from '../../../test/suite/operator.ts';
import { PUBLIC_URL, addPasskey, enrol, totpCode } from '../../../test/suite/peers/two-factor.ts';
import { nthMail, openBrowser, signedInBrowser } from '../../../test/suite/people.ts';
import { makeTeam } from '../../../test/suite/team.ts';
import { makeToken } from '../../../test/suite/tokens.ts';

/** Every operation that changes something, or that hands out a secret, leaves an entry in the audit log. */

let suite: AccountUnderTest;
let mails: string;

const UNLIMITED = String(1_000_000);

beforeAll(async () => {
  mails = await mkdtemp(join(tmpdir(), 'tollgate-mail-'));
  suite = await startAccount({
    settings: {
      PUBLIC_URL,
      OPERATOR_CREDENTIALS: operatorCredentials,
      SELF_SERVICE: 'subscribe change cancel slots',
      SIGN_IN_FAILURES_PER_ADDRESS: UNLIMITED,
      MAIL_REQUESTS_PER_ADDRESS: UNLIMITED,
      MAIL_DIR: mails,
      TRUSTED_PROXIES: '127.0.0.0/8 ::1/128',
    },
  });
});

afterAll(async () => {
  await suite.close();
  await rm(mails, { recursive: true });
});

type Answered = { status: number; headers: Headers };

/** The actions that the log has of a request. */
function recorded({ headers }: Answered): Promise<string[]> {
  const request_id = headers.get('x-request-id');
  return suite.database('audit_log').where({ request_id }).pluck<string[]>('action');
}

async function expectRecorded(answered: Answered): Promise<void> {
  expect(answered.status).toBeLessThan(300);
  await waitFor(async () => (await recorded(answered)).length > 0, { what: 'an entry of the audit log' });
}

describe('the console', () => {
  /** Why these leave nothing. */
  const UNRECORDED: Readonly<Record<string, string>> = {
    signUp: 'there is no account yet; account_created is recorded once its address is confirmed',
    resendSignUp: 'there is no account yet',
    lookUpInvitation: 'reads',
    getPasskeySignInOptions: 'a challenge alone; the sign-in is recorded',
    getConfirmationOptions: 'a challenge alone; the confirmation is recorded',
    getPasskeyOptions: 'a challenge alone; passkey_added is recorded',
    setUpTotp: 'a secret that counts for nothing until totp_added',
  };

  const BY_HAND: Readonly<Record<string, () => Promise<Answered>>> = {
    verifyEmail: async () => {
      const person = { email: `${randomUUID()}@example.com`, name: 'Ada', password: 'a good password' };
      const { request } = openBrowser(suite.account);
      await request('POST', '/sign-up', person);
      const { token } = await nthMail(mails, person.email);
      return request('POST', '/verify-email', { token, password: person.password });
    },
    resetPassword: async () => {
      const { email } = await newOwner(suite);
      const { request } = openBrowser(suite.account);
      await request('POST', '/password-reset', { email });
      const { token } = await nthMail(mails, email);
      return request('POST', '/password-reset/confirm', { token, password: 'another good one' });
    },
    acceptInvitationByToken: () => byInvitation('accept'),
    declineInvitationByToken: () => byInvitation('decline'),
    signInWithTotp: () =>
      secondStep(async (owner, request, sign_in_token) =>
        request('POST', '/session/totp', { sign_in_token, code: totpCode(owner.secret, 1) }),
      ),
    signInWithRecoveryCode: () =>
      secondStep(async ({ codes }, request, sign_in_token) =>
        request('POST', '/session/recovery-code', { sign_in_token, code: codes[0] }),
      ),
    signInWithPasskey: async () => {
      const { browser } = await newOwner(suite);
      const authenticator = await addPasskey(browser);
      const { request } = openBrowser(suite.account);
      const { body: options } = await request('POST', '/session/passkey/options', {});
      return request('POST', '/session/passkey', { credential: authenticator.get(options) });
    },
    confirmSessionWithTotp: async () => {
      const { browser, secret } = await withApp();
      return browser.request('POST', '/session/confirm/totp', { code: totpCode(secret, 1) });
    },
    confirmSessionWithRecoveryCode: async () => {
      const { browser, codes } = await withApp();
      return browser.request('POST', '/session/confirm/recovery-code', { code: codes[0] });
    },
    confirmSessionWithPasskey: async () => {
      const { browser } = await newOwner(suite);
      const authenticator = await addPasskey(browser);
      const { body: options } = await browser.request('POST', '/session/confirm/passkey/options');
      const credential = authenticator.get(options);
      return browser.request('POST', '/session/confirm/passkey', { credential });
    },
    confirmTotp: async () => {
      const { browser } = await newOwner(suite);
      const { body } = await browser.request('POST', '/two-factor/totp');
      const code = totpCode(String(body['secret']));
      return browser.request('POST', '/two-factor/totp/confirm', { code });
    },
    addPasskey: async () => {
      const { browser } = await newOwner(suite);
      let added: Answered | undefined;
      await addPasskey({
        ...browser,
        request: async (...request) => (added = await browser.request(...request)),
      });
      if (added === undefined) throw new Error('no passkey');
      return added as Answered;
    },
  };

  const changing = ownContract().operations.filter(
    ({ method, path }) => method !== 'GET' && path.startsWith('/api/console/'),
  );

  test.each(changing.map((operation) => [operation.operationId, operation] as const))(
    '%s',
    async (operationId, operation) => {
      const byHand = BY_HAND[operationId];
      const answered =
        byHand === undefined
          ? await send(suite.account.publicUrl, goodRequest(operation, await callerOf(operation, suite)))
          : await byHand();
      if (UNRECORDED[operationId] === undefined) await expectRecorded(answered);
      else expect(await recorded(answered)).toEqual([]);
    },
  );

  test('reading a temporary token that is there already', async () => {
    const { browser } = await newOwner(suite);
    await browser.request('POST', '/temporary-token');
    const again = await browser.request('POST', '/temporary-token');
    expect(await recorded(again)).toEqual(['token_copied']);
    const seen = await browser.request('GET', '/temporary-token');
    expect(await recorded(seen)).toEqual([]);
  });

  test.each([
    ['PUT', '/account/password', { new_password: 'another good one' }],
    ['POST', '/account/email', { email: 'new@example.com' }],
    ['POST', '/account/deletion', {}],
  ])('a wrong current password at %s %s', async (method, path, body) => {
    const { browser, email } = await newOwner(suite);
    const wanted = { email, ...body, current_password: 'wrong' };
    if (path === '/account/password') Reflect.deleteProperty(wanted, 'email');
    const refused = await browser.request(method, path, wanted);
    expect([refused.status, await recorded(refused)]).toEqual([400, ['confirmation_failed']]);
  });

  test('a wrong password, and a wrong code, at the confirmation of a session', async () => {
    const { browser } = await newOwner(suite);
    const password = await browser.request('POST', '/session/confirm', { password: 'wrong' });
    expect([password.status, await recorded(password)]).toEqual([400, ['confirmation_failed']]);
    const owner = await withApp();
    const code = await owner.browser.request('POST', '/session/confirm/recovery-code', { code: 'wrong' });
    expect([code.status, await recorded(code)]).toEqual([400, ['confirmation_failed']]);
  });

  test('a request for a reset says where it came from, and for an unknown address leaves nothing', async () => {
    const { email, account_id } = await newOwner(suite);
    const browser = openBrowser(suite.account);
    const unknown = await browser.request('POST', '/password-reset', { email: `${randomUUID()}@example.com` });
    await browser.request('POST', '/password-reset', { email });
    // The outbox is worked off in order.
    await nthMail(mails, email);
    expect(await recorded(unknown)).toEqual([]);
    const entries = await suite
      .database('audit_log')
      .where({ account_id, action: 'password_reset_requested' })
      .select('actor', 'address');
    expect(entries).toEqual([{ actor: 'unknown', address: browser.address }]);
  });
});

type WithApp = Owner & { secret: string; codes: string[] };

async function withApp(): Promise<WithApp> {
  const owner = await newOwner(suite);
  const { body } = await owner.browser.request('POST', '/two-factor/totp');
  const secret = String(body['secret']);
  const code = totpCode(secret);
  const confirmed = await owner.browser.request('POST', '/two-factor/totp/confirm', { code });
  return { ...owner, secret, codes: confirmed.body['recovery_codes'] as string[] };
}

async function secondStep(
  complete: (
    owner: WithApp,
    request: Owner['browser']['request'],
    signInToken: string,
  ) => Promise<Answered>,
): Promise<Answered> {
  const owner = await withApp();
  const { request } = openBrowser(suite.account);
  const { email, password } = owner;
  const { body } = await request('POST', '/session', { email, password });
  return complete(owner, request, String(body['sign_in_token']));
}

async function byInvitation(act: 'accept' | 'decline'): Promise<Answered> {
  const manager = await newOwner(suite);
  await insertPeriod(suite.database, manager.account_id, { description: { team_slots_limit: 5 } });
  await makeTeam(manager);
  const member = await newOwner(suite);
  await manager.browser.request('POST', '/team/invitations', { email: member.email });
  const { token } = await nthMail(mails, member.email);
  return member.browser.request('POST', `/invitation/${act}`, { token });
}

describe('operators', () => {
  const UNRECORDED: Readonly<Record<string, string>> = {
    'POST /private/usage-checks': 'reads',
  };

  type Recipe = () => Promise<{ path: string; body?: unknown }>;

  const id = (made: unknown) => String(made);
  const account = () => makeAccount(suite.account);

  async function operated(path: string, body?: unknown): Promise<Record<string, unknown>> {
    const answer = await operatePath(suite.account, 'POST', path, body);
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  const RECIPES: Readonly<Record<string, Recipe>> = {};

  test.todo('every route');
  void [RECIPES, UNRECORDED, id, account, operated, makePlan, makePublicPlan, subscribe, signedInBrowser];
  void [makeApplication, makeOperatedApplication, makeToken, enrol, routesOf, compose, loadConfig];
  void [Registry, createLogger, serviceDefaults];
});
