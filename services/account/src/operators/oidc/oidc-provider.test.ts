import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startOidcProvider } from '@tollgate/testbed/oidc-provider';
import type { OidcProvider } from '@tollgate/testbed/oidc-provider';
import { freePort } from '@tollgate/stack/ports';
import { waitFor } from '@tollgate/stack/wait-for';
import { startOperatedAccount } from '../../../test/suite/operated-account.ts';
import type { OperatedAccount } from '../../../test/suite/operated-account.ts';
import { callConsole } from '../../../test/suite/operator-browser.ts';
import type { OperatorBrowser } from '../../../test/suite/operator-browser.ts';
import { openPage, signInAtProvider, submitPage } from '../../../test/suite/stand-ins/provider-pages.ts';
import type { Jar } from '../../../test/suite/stand-ins/provider-pages.ts';

/** Signing in by oidc-provider, an identity provider that others wrote, through its own pages. */

let suite: OperatedAccount;
let provider: OidcProvider;
let origin: string;

beforeAll(async () => {
  const port = String(await freePort());
  origin = `http://localhost:${port}`;
  provider = await startOidcProvider(`${origin}/operator`);
  suite = await startOperatedAccount({
    settings: {
      PRIVATE_PORT: port,
      OPERATORS_URL: `${origin}/operator`,
      OPERATORS_OIDC_ISSUER: provider.issuer,
      OPERATORS_OIDC_CLIENT_ID: provider.clientId,
      OPERATORS_OIDC_CLIENT_SECRET: provider.clientSecret,
      OPERATORS_OIDC_GROUPS: 'support team=support, admins=admin',
    },
  });
});

afterAll(async () => {
  await suite.close();
  await provider.stop();
});

async function signIn(name: string, { jar = new Map() as Jar, again = false } = {}) {
  const browser: OperatorBrowser = {};
  const begun = await callConsole(suite.account, browser, 'POST', '/sign-in/oidc/authorization', { again });
  const { url, asked } = await signInAtProvider(
    { jar, origin },
    String(begun.body['authorization_url']),
    name,
  );
  expect(url.pathname).toBe('/operator/oidc/callback');
  const parameters = url.search.slice(1);
  const answer = await callConsole(suite.account, browser, 'POST', '/sign-in/oidc', { parameters });
  return { browser, answer, jar, asked, parameters };
}

const session = (browser: OperatorBrowser) => callConsole(suite.account, browser, 'GET', '/session');

test('signs in with the role of the groups, which only its userinfo has', async () => {
  provider.groups.set('ada', ['staff', 'support team']);
  const { browser, answer } = await signIn('ada');
  expect(answer).toMatchObject({
    status: 201,
    body: { name: 'ada', email: 'ada@example.com', role: 'support' },
  });
  expect((await session(browser)).body).toMatchObject({ role: 'support' });
});

test('refuses someone without a group, and someone whose group is gone at the next sign-in', async () => {
  expect((await signIn('stranger')).answer.body).toMatchObject({ code: 'no_operator_role' });
  provider.groups.set('grace', ['admins']);
  const { jar, answer } = await signIn('grace');
  expect(answer.body).toMatchObject({ role: 'admin' });
  provider.groups.set('grace', []);
  expect((await signIn('grace', { jar })).answer.body).toMatchObject({ code: 'no_operator_role' });
});

test('an answer works once, in the browser that asked', async () => {
  provider.groups.set('ada', ['support team']);
  const { browser, parameters } = await signIn('ada');
  for (const one of [browser, {}]) {
    const again = await callConsole(suite.account, one, 'POST', '/sign-in/oidc', { parameters });
    expect(again.status).toBe(410);
  }
  // Another browser's sign-in with this one's answer.
  const other: OperatorBrowser = {};
  await callConsole(suite.account, other, 'POST', '/sign-in/oidc/authorization', { again: false });
  const mixed = await callConsole(suite.account, other, 'POST', '/sign-in/oidc', { parameters });
  expect(mixed.body).toMatchObject({ code: 'operator_sign_in_failed' });
});

test('asks who it is again after signing out, and only then', async () => {
  provider.groups.set('ada', ['support team']);
  const { jar } = await signIn('ada');
  expect((await signIn('ada', { jar })).asked).toBe(0);
  expect((await signIn('ada', { jar, again: true })).asked).toBe(1);
});

test('signing out leads to the provider, comes back, and ends its other sessions here by the back channel', async () => {
  provider.groups.set('ada', ['support team']);
  const { browser, jar } = await signIn('ada');
  // The same session of the provider, in another tab that has lost its cookie.
  const other = await signIn('ada', { jar });
  const { body } = await callConsole(suite.account, browser, 'DELETE', '/session');
  expect((await session(browser)).status).toBe(401);
  expect((await session(other.browser)).status).toBe(200);
  const page = await openPage({ jar, origin }, new URL(String(body['end_session_url'])));
  const back = await submitPage({ jar, origin }, page, { logout: 'yes' });
  expect(back.url.href).toBe(`${origin}/operator/`);
  await waitFor(async () => (await session(other.browser)).status === 401);
});
