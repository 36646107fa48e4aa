import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { once } from 'node:events';
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startOidcProvider } from '@tollgate/testbed/oidc-provider';
import type { OidcProvider } from '@tollgate/testbed/oidc-provider';
import { insertPeriod } from '../../../test/suite/database/records.ts';
import { issueOwnToken, makeOwnApplication, newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { operatePath, operatorCredentials } from '../../../test/suite/operator.ts';
import { mailAbout, openBrowser, signedInBrowser, startPeople } from '../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../test/suite/people.ts';
import { openSsoBrowser } from '../../../test/suite/sso-browser.ts';
import type { SsoAnswer, SsoBrowser } from '../../../test/suite/sso-browser.ts';
import { startDnsServer } from '@tollgate/testbed/dns-server';
import type { DnsServer } from '@tollgate/testbed/dns-server';
import { startLyingProvider } from '../../../test/suite/stand-ins/identity-provider.ts';
import type { LyingProvider } from '../../../test/suite/stand-ins/identity-provider.ts';
import { signInAtProvider } from '../../../test/suite/stand-ins/provider-pages.ts';
import { enrol, totpCode } from '../../../test/suite/stand-ins/two-factor.ts';
import { inviteTo, joinTeam, makeTeam } from '../../../test/suite/team.ts';

/** Single sign-on of a team: by providers that lie, and by oidc-provider, which others wrote. */

let dns: DnsServer;
let suite: PeopleUnderTest;
/** The team's own; another team's. */
let provider: LyingProvider;
let other: LyingProvider;

beforeAll(async () => {
  [dns, provider, other] = await Promise.all([startDnsServer(), startLyingProvider(), startLyingProvider()]);
  suite = await startPeople({
    DNS_SERVERS: dns.address,
    WEBHOOK_DNS_SERVERS: dns.address,
    TEAM_SSO_ALLOWED_HOSTS: '127.0.0.1',
    HOUSEKEEPING_INTERVAL_SEC: '1',
    OPERATOR_CREDENTIALS: operatorCredentials,
  });
});

afterAll(async () => {
  await suite.close();
  await Promise.all([dns.close(), provider.goAway(), other.goAway()]);
});

let domain: string;

beforeEach(() => {
  domain = `company-${randomUUID()}.com`;
  for (const one of [provider, other]) {
    one.lie = {};
    one.metadata = {};
    one.userInfo = {};
    one.claims = {};
  }
});

type Team = { manager: Owner; team_id: number; domain: string };

/** With the domain proven in DNS. */
async function prove({ browser }: Owner, name: string): Promise<number> {
  const { body } = await browser.request('POST', '/team/domains', { domain: name });
  const { domain_id, record } = body as { domain_id: number; record: { name: string; value: string } };
  dns.texts.set(record.name, [[record.value]]);
  const checked = await browser.request('POST', `/team/domains/${String(domain_id)}/check`);
  expect(checked.body['result']).toBe('proven');
  return domain_id;
}

const settingsOf = ({ issuer, clientId, clientSecret }: LyingProvider | OidcProvider) => ({
  issuer,
  client_id: clientId,
  client_secret: clientSecret,
});

async function newTeam(by: LyingProvider | OidcProvider = provider, name = domain): Promise<Team> {
  const manager = await newOwner(suite);
  const team_id = await makeTeam(manager, 'Team');
  await prove(manager, name);
  const set = await manager.browser.request('PUT', '/team/sso', settingsOf(by));
  expect([set.status, set.text]).toEqual([200, expect.any(String)]);
  return { manager, team_id, domain: name };
}

/** Gives an account an address in the team's domain, as its owner's. */
async function moveTo({ account_id }: Owner, email: string): Promise<void> {
  await suite.database('accounts').where({ account_id }).update({ email });
}

async function newColleague(local: string, at = domain): Promise<Owner> {
  const person = await newOwner(suite);
  const email = `${local}@${at}`;
  await moveTo(person, email);
  return { ...person, email };
}

const claimsOf = (local: string, changes: Record<string, unknown> = {}) => ({
  sub: `${local} at ${domain}`,
  email: `${local}@${domain}`,
  email_verified: true,
  name: local,
  ...changes,
});

async function begin(browser: SsoBrowser, email = `ada@${domain}`): Promise<string> {
  const answer = await browser.call('POST', '/sign-in/sso', { email });
  expect(answer).toMatchObject({ status: 201 });
  return String(answer.body['authorization_url']);
}

const finish = (browser: SsoBrowser, { team_id }: Pick<Team, 'team_id'>, parameters: string) =>
  browser.call('POST', '/session/sso', { team_id, parameters });

/** In a new browser, unless one is given. */
async function signIn(
  team: Pick<Team, 'team_id'>,
  {
    browser = openSsoBrowser(suite.account),
    changes = {},
    by = provider,
    email,
  }: {
    browser?: SsoBrowser;
    changes?: Record<string, string | null>;
    by?: LyingProvider;
    email?: string;
  } = {},
): Promise<{ browser: SsoBrowser; answer: SsoAnswer }> {
  const url = await begin(browser, email);
  return { browser, answer: await finish(browser, team, by.answerTo(url, changes)) };
}

const codeOf = ({ status, body }: SsoAnswer) => [status, body['code'] ?? null];

const statusOf = async ({ session }: SsoBrowser, path = '/team') =>
  (await session.request('GET', path)).status;

const actionsOf = (account_id: number) =>
  suite.database('audit_log').where({ account_id }).orderBy('audit_id').pluck<string[]>('action');

const sessionOf = async ({ session }: SsoBrowser) => (await session.request('GET', '/session')).body;

describe('the settings', () => {
  test('are the manager’s, show no secret, and the database has none either', async () => {
    const team = await newTeam();
    const { manager, team_id } = team;
    const { body, text } = await manager.browser.request('GET', '/team/sso');
    expect(body).toMatchObject({
      redirect_uri: `http://tollgate.example/user/sso/${String(team_id)}`,
      provider: { issuer: provider.issuer, client_id: provider.clientId, required_at: null },
      members: { covered: 0, uncovered: 0 },
      can_require: { signed_in_by_it: false, has_second_factor: false },
    });
    expect(text).not.toContain(provider.clientSecret);
    const [row] = await suite.database<Record<string, unknown>>('team_sso_providers').where({ team_id });
    expect(String(row?.['sealed_secret'])).not.toContain(provider.clientSecret);
    const member = await newOwner(suite);
    await joinTeam(manager, member);
    for (const [method, path, sent] of [
      ['GET', '/team/sso', undefined],
      ['PUT', '/team/sso', settingsOf(provider)],
      ['DELETE', '/team/sso', undefined],
      ['POST', '/team/sso/test', undefined],
      ['PUT', '/team/sso/requirement', undefined],
      ['DELETE', '/team/sso/requirement', undefined],
    ] as const) {
      expect((await member.browser.request(method, path, sent)).status).toBe(403);
    }
    expect(await actionsOf(manager.account_id)).toContain('team_sso_set');
  });

  test('a session that was confirmed long ago changes nothing', async () => {
    const { manager } = await newTeam();
    await suite
      .database('sessions')
      .where({ account_id: manager.account_id })
      .update({ confirmed_at: new Date(Date.now() - 1_000_000) });
    for (const method of ['PUT', 'DELETE']) {
      const sent = method === 'PUT' ? settingsOf(provider) : undefined;
      const { body } = await manager.browser.request(method, '/team/sso', sent);
      expect(body['code']).toBe('confirmation_required');
    }
  });

  test('without a secret, the stored one stays for its issuer, and goes to no other', async () => {
    const { manager } = await newTeam();
    const { client_secret: _, ...kept } = settingsOf(provider);
    expect((await manager.browser.request('PUT', '/team/sso', kept)).status).toBe(200);
    const moved = await manager.browser.request('PUT', '/team/sso', { ...kept, issuer: other.issuer });
    expect([moved.status, moved.body['errors']]).toEqual([
      400,
      [{ field: 'client_secret', message: 'must be given for a new issuer' }],
    ]);
  });

  test.each([
    ['that calls itself otherwise', { issuer: 'https://elsewhere.example' }, 'by another issuer'],
    ['whose page is a script', { authorization_endpoint: 'javascript:alert(1)' }, 'no page to sign in at'],
    ['whose answer is too long', { more: 'x'.repeat(70_000) }, '64 KiB'],
  ])('an issuer %s is refused', async (_, metadata, fault) => {
    const { manager } = await newTeam();
    provider.metadata = metadata;
    const { status, body } = await manager.browser.request('PUT', '/team/sso', settingsOf(provider));
    expect([status, JSON.stringify(body['errors'])]).toEqual([400, expect.stringContaining(fault)]);
  });

  test('no redirect is followed', async () => {
    const { manager } = await newTeam();
    provider.lie = { status: 302 };
    const { status } = await manager.browser.request('PUT', '/team/sso', settingsOf(provider));
    expect([status, provider.requests.get('/moved')]).toEqual([400, undefined]);
  });

  describe('of an issuer in the operator’s network', () => {
    let inside: Server;
    let port: number;
    let connections = 0;

    beforeAll(async () => {
      inside = createServer((socket) => {
        connections += 1;
        socket.destroy();
      });
      inside.listen(0, '127.0.0.1');
      await once(inside, 'listening');
      ({ port } = inside.address() as AddressInfo);
    });

    afterAll(() => {
      inside.close();
    });

    test('are refused by its address, by a name that leads there, and without TLS', async () => {
      dns.names.set('inside.example', ['127.0.0.1']);
      dns.names.set('metadata.example', ['169.254.169.254']);
      const { manager } = await newTeam();
      for (const issuer of [
        `https://10.0.0.1:${String(port)}`,
        `https://169.254.169.254`,
        `https://localhost:${String(port)}`,
        `https://[::1]:${String(port)}`,
        `https://2130706433:${String(port)}`,
        `https://inside.example:${String(port)}`,
        'https://metadata.example',
        'https://missing.example',
        'http://login.example',
        'https://login.example:22',
        'https://user:secret@login.example',
      ]) {
        const wanted = { ...settingsOf(provider), issuer };
        const { status, body } = await manager.browser.request('PUT', '/team/sso', wanted);
        expect([issuer, status, (body['errors'] as { field: string }[])[0]?.field]).toEqual([
          issuer,
          400,
          'issuer',
        ]);
      }
      // 2130706433 is 127.0.0.1, which is allowed here: all others have reached nothing.
      expect(connections).toBeLessThanOrEqual(1);
    });

    test('and so are its keys, wherever the issuer itself is', async () => {
      const team = await newTeam();
      const before = connections;
      provider.metadata = { token_endpoint: `http://10.0.0.1:${String(port)}/token` };
      await team.manager.browser.request('PUT', '/team/sso', settingsOf(provider));
      provider.claims = claimsOf('ada');
      expect(codeOf((await signIn(team)).answer)).toEqual([503, 'identity_provider_unavailable']);
      const { body } = await team.manager.browser.request('GET', '/team/sso');
      expect(body['provider']).toMatchObject({
        last_failure: expect.stringContaining('an address of the identity provider'),
      });
      expect(connections).toBe(before);
    });
  });
});

describe('someone new', () => {
  test('gets an account without a password, and is a member', async () => {
    const team = await newTeam();
    const { manager } = team;
    provider.claims = claimsOf('ada');
    const browser = openSsoBrowser(suite.account);
    const url = new URL(await begin(browser));
    expect(url.origin + url.pathname).toBe(`${provider.issuer}/auth`);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      redirect_uri: `http://tollgate.example/user/sso/${String(team.team_id)}`,
      scope: 'openid profile email',
      code_challenge_method: 'S256',
      login_hint: `ada@${domain}`,
    });
    const answer = await finish(browser, team, provider.answerTo(url.href));
    expect(answer).toMatchObject({
      status: 201,
      body: { email: `ada@${domain}`, name: 'ada', member_role: 'developer', sso_required: false },
    });
    expect(await statusOf(browser)).toBe(200);
    const account_id = Number(answer.body['account_id']);
    expect(await actionsOf(account_id)).toEqual([
      'account_created',
      'team_joined',
      'team_sso_linked',
      'signed_in',
    ]);
    const row = suite.database('accounts').where({ account_id }).first<{ password_hash: string }>();
    expect(await row).toMatchObject({ password_hash: 'none' });
    const { body } = await manager.browser.request('GET', '/team/sso');
    expect(body).toMatchObject({
      provider: { last_signed_in_at: expect.any(String) },
      members: { covered: 1, uncovered: 0 },
    });

    // Known by issuer and subject, whatever the provider calls them later.
    provider.claims = claimsOf('ada', { email: `countess@${domain}`, name: 'Countess' });
    const again = await signIn(team);
    expect(again.answer.body).toMatchObject({ account_id, email: `ada@${domain}` });
  });

  test('the cookie of a sign-in is HttpOnly and Strict', async () => {
    await newTeam();
    const { cookies } = await openSsoBrowser(suite.account).call('POST', '/sign-in/sso', {
      email: `ada@${domain.toUpperCase()}`,
    });
    for (const part of ['Path=/api/console/session/sso', 'HttpOnly', 'SameSite=Strict']) {
      expect(cookies[0]).toContain(part);
    }
  });

  test('of two first sign-ins at once, both are the same account', async () => {
    const team = await newTeam();
    provider.claims = claimsOf('twin');
    const both = await Promise.all([signIn(team), signIn(team)]);
    expect(both.map(({ answer }) => answer.status)).toEqual([201, 201]);
    expect(new Set(both.map(({ answer }) => answer.body['account_id'])).size).toBe(1);
  });

  test('has the role of their invitation, whose slot they take; without a slot they are refused', async () => {
    const team = await newTeam();
    const description = { team_slots_limit: 2 };
    await insertPeriod(suite.database, team.manager.account_id, { description });
    await team.manager.browser.request('POST', '/team/invitations', {
      email: `grace@${domain}`,
      member_role: 'viewer',
    });
    provider.claims = claimsOf('grace');
    expect((await signIn(team)).answer.body).toMatchObject({ member_role: 'viewer' });
    provider.claims = claimsOf('ada');
    const refused = await signIn(team);
    expect(codeOf(refused.answer)).toEqual([409, 'team_slots_limit_exceeded']);
    expect(await suite.database('accounts').where({ email: `ada@${domain}` })).toEqual([]);
    expect(await actionsOf(team.manager.account_id)).toContain('team_sso_refused');
  });

  test.each([
    ['an unverified address', { email_verified: false }],
    ['an unverified address, as text', { email_verified: 'false' }],
    ['an address of which the provider says nothing', { email_verified: undefined }],
    ['an address that Entra ID knows to be foreign', { email_verified: undefined, xms_edov: false }],
    ['no address', { email: undefined }],
    ['a text that is no address', { email: 'ada' }],
    ['an address of another domain', { email: 'ada@elsewhere.example' }],
    ['an address of a subdomain', { email: 'ada@sub.DOMAIN' }],
    ['an address whose domain is in its local part', { email: 'ada@DOMAIN@elsewhere.example' }],
  ])('with %s is refused, and the manager sees why', async (_, claims: Record<string, unknown>) => {
    const team = await newTeam();
    const { email } = claims;
    const own = typeof email === 'string' ? { ...claims, email: email.replace('DOMAIN', domain) } : claims;
    provider.claims = claimsOf('ada', own);
    const { answer, browser } = await signIn(team);
    expect(codeOf(answer)).toEqual([403, 'sso_not_allowed']);
    expect(await statusOf(browser)).toBe(401);
    const { body } = await team.manager.browser.request('GET', '/team/sso');
    expect(body['provider']).toMatchObject({ last_failure: answer.body['detail'] });
  });

  test.each([
    ['says so in userinfo alone', { email_verified: undefined }, { email_verified: true }],
    ['is Entra ID, and says so in its own claim', { email_verified: undefined, xms_edov: '1' }, {}],
    ['says so as text', { email_verified: 'true' }, {}],
  ])('is let in where the provider %s', async (_, claims, more) => {
    const team = await newTeam();
    provider.claims = claimsOf('ada', claims);
    provider.userInfo = { sub: `ada at ${domain}`, ...more };
    expect((await signIn(team)).answer.status).toBe(201);
  });
});

test('an address that has asked providers too often sets none', async () => {
  const { manager } = await newTeam();
  const subject = `single sign-on address ${manager.browser.address}`;
  const counted = await suite
    .database('attempt_counts')
    .where({ subject: createHash('sha256').update(subject).digest('base64url') })
    .update({ attempts: 100 });
  expect(counted).toBe(1);
  const { status, headers } = await manager.browser.request('PUT', '/team/sso', settingsOf(provider));
  expect([status, headers.get('retry-after')]).toEqual([429, expect.any(String)]);
});

test('all of a company can sign in from one address: what succeeds isn’t counted', async () => {
  const team = await newTeam();
  provider.claims = claimsOf('ada');
  const browser = openSsoBrowser(suite.account);
  const subject = `single sign-on address ${browser.session.address}`;
  const attemptsOf = async () =>
    (
      (await suite
        .database('attempt_counts')
        .where({ subject: createHash('sha256').update(subject).digest('base64url') })
        .first()) as { attempts: number } | undefined
    )?.attempts;
  const url = await begin(browser);
  expect(await attemptsOf()).toBe(1);
  expect((await finish(browser, team, provider.answerTo(url))).status).toBe(201);
  expect(await attemptsOf()).toBe(0);
});

describe('an account that exists', () => {
  test('is linked only once its owner has signed in to it', async () => {
    const team = await newTeam();
    const ada = await newColleague('ada');
    provider.claims = claimsOf('ada');
    const { answer, browser } = await signIn(team);
    expect(codeOf(answer)).toEqual([409, 'sso_link_required']);
    expect(answer.body['email']).toBe(ada.email);
    expect(await statusOf(browser)).toBe(401);

    // Someone else's session is no proof, nor is one that has shown nothing lately.
    const stranger = openSsoBrowser(suite.account, (await newOwner(suite)).browser);
    expect(codeOf((await signIn(team, { browser: stranger })).answer)).toEqual([409, 'sso_link_required']);
    const own = openSsoBrowser(suite.account, await signedInBrowser(suite.account, ada));
    const { account_id } = ada;
    await suite
      .database('sessions')
      .where({ account_id })
      .update({ confirmed_at: new Date(Date.now() - 1_000_000) });
    expect(codeOf((await signIn(team, { browser: own })).answer)).toEqual([409, 'sso_link_required']);

    const confirmed = openSsoBrowser(suite.account, await signedInBrowser(suite.account, ada));
    const linked = await signIn(team, { browser: confirmed });
    expect(linked.answer).toMatchObject({ status: 201, body: { account_id } });
    await mailAbout(suite.mailDirectory, ada.email, '[Tollgate] Single sign-on was linked to your account');
    // From then on in any browser, and the password still works.
    expect((await signIn(team)).answer).toMatchObject({ status: 201, body: { account_id } });
    await signedInBrowser(suite.account, ada);
  });

  test('with a second factor is not linked by its password alone', async () => {
    const team = await newTeam();
    const ada = await newColleague('ada');
    await enrol(ada, suite.database);
    provider.claims = claimsOf('ada');
    const browser = openSsoBrowser(suite.account);
    const { email, password } = ada;
    expect((await browser.session.request('POST', '/session', { email, password })).status).toBe(202);
    expect(codeOf((await signIn(team, { browser })).answer)).toEqual([409, 'sso_link_required']);
  });

  test('needs no verification that the provider doesn’t state, but none that it denies', async () => {
    const team = await newTeam();
    const ada = await newColleague('ada');
    const browser = openSsoBrowser(suite.account, await signedInBrowser(suite.account, ada));
    provider.claims = claimsOf('ada', { email_verified: false });
    expect(codeOf((await signIn(team, { browser })).answer)).toEqual([403, 'sso_not_allowed']);
    provider.claims = claimsOf('ada', { email_verified: undefined });
    expect((await signIn(team, { browser })).answer.status).toBe(201);
  });

  test('of a member of another team stays there, whatever its owner shows', async () => {
    const team = await newTeam();
    const ada = await newColleague('ada');
    const elsewhere = await newOwner(suite);
    await makeTeam(elsewhere);
    await joinTeam(elsewhere, ada);
    provider.claims = claimsOf('ada');
    expect(codeOf((await signIn(team)).answer)).toEqual([409, 'already_in_team']);
    const browser = openSsoBrowser(suite.account, await signedInBrowser(suite.account, ada));
    expect(codeOf((await signIn(team, { browser })).answer)).toEqual([409, 'already_in_team']);
  });

  test('of another company is out of reach for a team that names its address, or its domain', async () => {
    const victims = await newTeam();
    const victim = `victim@${domain}`;
    provider.claims = claimsOf('victim');
    await signIn(victims);

    const evil = `evil-${randomUUID()}.com`;
    const attackers = await newTeam(other, evil);
    // The domain is listed, without its record.
    await attackers.manager.browser.request('POST', '/team/domains', { domain });
    other.claims = { sub: 'x', email: victim, email_verified: true };
    const attack = await signIn(attackers, { by: other, email: `mallory@${evil}` });
    expect(codeOf(attack.answer)).toEqual([403, 'sso_not_allowed']);
    // The same issuer and subject, told by another team's provider.
    const same = { sub: `victim at ${domain}`, email: `mallory@${evil}`, email_verified: true };
    other.claims = same;
    const { answer } = await signIn(attackers, { by: other, email: `mallory@${evil}` });
    expect(answer).toMatchObject({ status: 201, body: { email: `mallory@${evil}` } });
    const next = openSsoBrowser(suite.account);
    expect(new URL(await begin(next, victim)).origin).toBe(provider.issuer);
  });

  test('whose address has passed to another person at the provider is not theirs', async () => {
    const team = await newTeam();
    provider.claims = claimsOf('ada');
    await signIn(team);
    provider.claims = claimsOf('ada', { sub: 'another person' });
    expect(codeOf((await signIn(team)).answer)).toEqual([409, 'sso_link_required']);
  });

  test('that single sign-on has made is found again by the team’s next provider', async () => {
    const team = await newTeam();
    provider.claims = claimsOf('ada');
    const first = await signIn(team);
    await team.manager.browser.request('PUT', '/team/sso', settingsOf(other));
    expect(await statusOf(first.browser)).toBe(401);
    other.claims = claimsOf('ada', { sub: 'as the other one knows her' });
    const second = await signIn(team, { by: other });
    expect(second.answer).toMatchObject({
      status: 201,
      body: { account_id: first.answer.body['account_id'] },
    });
  });

  test('a session of single sign-on changes nothing that protects the account without it', async () => {
    const team = await newTeam();
    provider.claims = claimsOf('ada');
    const { browser } = await signIn(team);
    for (const path of ['/two-factor/totp', '/two-factor/passkeys/options']) {
      expect((await browser.session.request('POST', path)).body['code']).toBe('confirmation_required');
    }
  });
});

describe('an answer is refused', () => {
  const now = Math.floor(Date.now() / 1_000);

  test.each([
    ['for another audience', { aud: 'another' }],
    ['for ours and another, with another azp', { aud: ['console', 'another'], azp: 'another' }],
    ['of another issuer', { iss: 'http://127.0.0.1:1' }],
    ['with another nonce', { nonce: 'a'.repeat(43) }],
    ['without a nonce', { nonce: undefined }],
    ['that has expired', { exp: now - 120 }],
    ['not yet valid', { nbf: now + 900 }],
    ['without a subject', { sub: undefined }],
    ['with a subject that no database holds', { sub: 'a\u0000' }],
  ])('whose ID token is %s', async (_, claims) => {
    const team = await newTeam();
    provider.claims = claimsOf('ada', claims);
    const { answer, browser } = await signIn(team);
    expect(codeOf(answer)).toEqual([400, 'sso_sign_in_failed']);
    expect(await statusOf(browser)).toBe(401);
    const { body } = await team.manager.browser.request('GET', '/team/sso');
    expect(body['provider']).toMatchObject({ last_failure: expect.stringContaining('Not accepted') });
  });

  test.each(['foreign', 'none', 'client_secret', 'ES512'] as const)(
    'whose ID token is signed by: %s',
    async (key) => {
      const team = await newTeam();
      provider.claims = claimsOf('ada');
      provider.lie = { key };
      expect(codeOf((await signIn(team)).answer)).toEqual([400, 'sso_sign_in_failed']);
    },
  );

  test.each([
    ['another state', { state: 'b'.repeat(43) }],
    ['no state', { state: null }],
    ['another issuer', { iss: 'https://elsewhere.example' }],
    ['no issuer, which the provider has promised', { iss: null }],
    ['another code', { code: 'c' }],
    ['an error', { code: null, error: 'access_denied' }],
  ])('that has %s', async (_, changes) => {
    const team = await newTeam();
    provider.claims = claimsOf('ada');
    expect(codeOf((await signIn(team, { changes })).answer)).toEqual([400, 'sso_sign_in_failed']);
  });

  test('that comes again, in another browser, late, or after the settings have changed', async () => {
    const team = await newTeam();
    provider.claims = claimsOf('ada');
    const browser = openSsoBrowser(suite.account);
    const parameters = provider.answerTo(await begin(browser));
    const { binding } = browser;
    expect(codeOf(await finish(openSsoBrowser(suite.account), team, parameters))).toEqual([
      410,
      'sign_in_expired',
    ]);
    const copies = [browser, openSsoBrowser(suite.account)];
    for (const copy of copies) copy.binding = binding;
    const answers = await Promise.all(copies.map((copy) => finish(copy, team, parameters)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 410]);

    const late = openSsoBrowser(suite.account);
    const lateParameters = provider.answerTo(await begin(late));
    await suite.database('team_sso_sign_ins').update({ expires_at: new Date() });
    expect((await finish(late, team, lateParameters)).status).toBe(410);

    const changed = openSsoBrowser(suite.account);
    const changedParameters = provider.answerTo(await begin(changed));
    await team.manager.browser.request('PUT', '/team/sso', settingsOf(provider));
    expect((await finish(changed, team, changedParameters)).status).toBe(410);
  });

  test('that was mixed up with another team’s, or its provider', async () => {
    const team = await newTeam();
    const elsewhere = `elsewhere-${randomUUID()}.com`;
    const others = await newTeam(other, elsewhere);
    provider.claims = claimsOf('ada');
    other.claims = { sub: 'x', email: `mallory@${elsewhere}`, email_verified: true };
    // Begun with one, and brought to the address of the other.
    const first = openSsoBrowser(suite.account);
    const url = await begin(first);
    expect((await finish(first, others, provider.answerTo(url))).status).toBe(410);
    // Begun with one, answered by the other.
    const second = openSsoBrowser(suite.account);
    const answer = await finish(second, team, other.answerTo(await begin(second)));
    expect(codeOf(answer)).toEqual([400, 'sso_sign_in_failed']);
  });

  test('from another origin', async () => {
    for (const path of ['/session/sso', '/sign-in/sso']) {
      const { status } = await openBrowser(suite.account).request(
        'POST',
        path,
        {},
        { origin: 'https://evil.example' },
      );
      expect(status).toBe(403);
    }
  });
});

test('keys that were replaced are found at the next attempt', async () => {
  const team = await newTeam();
  provider.claims = claimsOf('ada');
  expect((await signIn(team)).answer.status).toBe(201);
  await provider.rotateKeys();
  await signIn(team);
  expect((await signIn(team)).answer.status).toBe(201);
});

test('an address without a team, and one whose team has no provider, have none', async () => {
  const browser = openSsoBrowser(suite.account);
  expect(codeOf(await browser.call('POST', '/sign-in/sso', { email: 'ada@nowhere.example' }))).toEqual([
    404,
    'sso_not_available',
  ]);
  const { manager } = await newTeam();
  await manager.browser.request('DELETE', '/team/sso');
  expect((await browser.call('POST', '/sign-in/sso', { email: `ada@${domain}` })).status).toBe(404);
});

test('a test by the manager says what the answer holds, and signs in no one', async () => {
  const team = await newTeam();
  const browser = openSsoBrowser(suite.account, team.manager.browser);
  const begun = await browser.call('POST', '/team/sso/test');
  provider.claims = claimsOf('ada', { email_verified: undefined });
  const parameters = provider.answerTo(String(begun.body['authorization_url']));
  expect(await finish(browser, team, parameters)).toMatchObject({
    status: 200,
    body: { email: `ada@${domain}`, email_verified: null, name: 'ada', domain_proven: true },
  });
  expect(await sessionOf(browser)).toMatchObject({ account_id: team.manager.account_id });
  expect(await suite.database('accounts').where({ email: `ada@${domain}` })).toEqual([]);
});

describe('while the provider is down', () => {
  test('sessions go on, signing in is 503, and the manager signs in with the password', async () => {
    const team = await newTeam();
    provider.claims = claimsOf('ada');
    const { browser } = await signIn(team);
    const begun = openSsoBrowser(suite.account);
    const url = await begin(begun);
    await provider.goAway();
    try {
      expect(await statusOf(browser)).toBe(200);
      expect(codeOf(await finish(begun, team, provider.answerTo(url)))).toEqual([
        503,
        'identity_provider_unavailable',
      ]);
      await signedInBrowser(suite.account, team.manager);
      const set = await team.manager.browser.request('PUT', '/team/sso', settingsOf(provider));
      expect(set.status).toBe(400);
    } finally {
      await provider.comeBack();
    }
    expect((await signIn(team)).answer.status).toBe(201);
  });
});

describe('what single sign-on has begun ends', () => {
  async function newMember(): Promise<Team & { browser: SsoBrowser; account_id: number; email: string }> {
    const team = await newTeam();
    provider.claims = claimsOf('ada');
    const { browser, answer } = await signIn(team);
    expect(await statusOf(browser)).toBe(200);
    return { ...team, browser, account_id: Number(answer.body['account_id']), email: `ada@${domain}` };
  }

  const subject = '[Tollgate] Set a password for Tollgate';

  test('with the membership', async () => {
    const { browser, account_id, manager, team_id } = await newMember();
    await manager.browser.request('DELETE', `/team/members/${String(account_id)}`);
    expect(await statusOf(browser)).toBe(401);
    expect(codeOf((await signIn({ team_id })).answer)).toEqual([409, 'sso_link_required']);
  });

  test('with the provider: those without a password get a link, which works', async () => {
    const { browser, manager, email } = await newMember();
    expect((await manager.browser.request('DELETE', '/team/sso')).status).toBe(204);
    expect(await statusOf(browser)).toBe(401);
    const { token } = await mailAbout(suite.mailDirectory, email, subject);
    const password = 'correct horse battery staple';
    const reset = openBrowser(suite.account);
    expect((await reset.request('POST', '/password-reset/confirm', { token, password })).status).toBe(204);
    expect((await reset.request('POST', '/session', { email, password })).status).toBe(201);
  });

  test('with the team', async () => {
    const { browser, manager, email } = await newMember();
    expect((await manager.browser.request('DELETE', '/team')).status).toBe(204);
    expect(await statusOf(browser)).toBe(401);
    await mailAbout(suite.mailDirectory, email, subject);
  });

  test('with the domain, when the manager removes it, or another team proves it', async () => {
    const removed = await newMember();
    const { body } = await removed.manager.browser.request('GET', '/team/domains');
    const [{ domain_id } = { domain_id: 0 }] = body['domains'] as { domain_id: number }[];
    await removed.manager.browser.request('DELETE', `/team/domains/${String(domain_id)}`);
    expect(await statusOf(removed.browser)).toBe(401);

    domain = `second-${domain}`;
    const lost = await newMember();
    const taker = await newOwner(suite);
    await makeTeam(taker);
    await prove(taker, domain);
    expect(await statusOf(lost.browser)).toBe(401);
    await mailAbout(suite.mailDirectory, lost.email, subject);
    const asked = openSsoBrowser(suite.account);
    expect((await asked.call('POST', '/sign-in/sso', { email: lost.email })).status).toBe(404);
  });

  test('but not with a domain that has lapsed, which lets no one in', async () => {
    const { browser, team_id } = await newMember();
    const begun = openSsoBrowser(suite.account);
    const url = await begin(begun);
    await suite
      .database('team_domains')
      .where({ team_id })
      .update({ missing_since: new Date(Date.now() - 31 * 86_400_000), asked_at: new Date() });
    expect(await statusOf(browser)).toBe(200);
    expect(codeOf(await finish(begun, { team_id }, provider.answerTo(url)))).toEqual([
      403,
      'sso_not_allowed',
    ]);
    expect(
      (await openSsoBrowser(suite.account).call('POST', '/sign-in/sso', { email: `ada@${domain}` })).status,
    ).toBe(404);
  });
});

describe('required of members', () => {
  /** A manager who has signed in by single sign-on, and has an authenticator app. */
  async function readyTeam() {
    const team = await newTeam();
    const email = `manager@${domain}`;
    await moveTo(team.manager, email);
    const manager = { ...team.manager, email };
    const { body: app } = await manager.browser.request('POST', '/two-factor/totp');
    const secret = String(app['secret']);
    await manager.browser.request('POST', '/two-factor/totp/confirm', { code: totpCode(secret) });
    provider.claims = claimsOf('manager');
    const { browser, answer } = await signIn(team, {
      browser: openSsoBrowser(suite.account, manager.browser),
      email,
    });
    expect(answer.status).toBe(201);
    const confirm = async () => {
      await suite.database('totp_secrets').where({ account_id: manager.account_id }).update({ last_step: 0 });
      const code = totpCode(secret);
      const confirmed = await browser.session.request('POST', '/session/confirm/totp', { code });
      expect(confirmed.status).toBe(204);
    };
    return { ...team, manager, browser, secret, confirm };
  }

  async function requiringTeam() {
    const team = await readyTeam();
    await team.confirm();
    const set = await team.browser.session.request('PUT', '/team/sso/requirement');
    expect([set.status, set.body['code']]).toEqual([200, undefined]);
    return team;
  }

  test('needs a manager who has just signed in by it, confirms, and has a second factor', async () => {
    const plain = await newTeam();
    const refused = await plain.manager.browser.request('PUT', '/team/sso/requirement');
    expect(refused.body['code']).toBe('sso_session_required');

    domain = `second-${domain}`;
    const { browser, manager, confirm } = await readyTeam();
    const require = () => browser.session.request('PUT', '/team/sso/requirement');
    expect((await require()).body['code']).toBe('confirmation_required');
    await confirm();
    await suite
      .database('sessions')
      .where({ account_id: manager.account_id })
      .update({ created_at: new Date(Date.now() - 1_000_000) });
    expect((await require()).body['code']).toBe('sso_session_required');
    await suite
      .database('sessions')
      .where({ account_id: manager.account_id })
      .update({ created_at: new Date() });
    await suite.database('totp_secrets').where({ account_id: manager.account_id }).delete();
    expect((await require()).body['code']).toBe('sso_needs_second_factor');
  });

  test('ends their other sessions, not their tokens; a password opens only the way to it', async () => {
    const team = await readyTeam();
    const ada = await newColleague('ada');
    const guest = await newOwner(suite);
    await joinTeam({ browser: team.browser.session }, ada, guest);
    const token = await issueOwnToken(ada.browser, await makeOwnApplication(ada.browser));
    await team.confirm();
    const set = await team.browser.session.request('PUT', '/team/sso/requirement');
    expect(set.body).toMatchObject({
      provider: { required_at: expect.any(String) },
      members: { covered: 1, uncovered: 1 },
    });
    expect((await ada.browser.request('GET', '/team')).status).toBe(401);
    expect((await guest.browser.request('GET', '/team')).status).toBe(200);
    await mailAbout(suite.mailDirectory, ada.email, '[Tollgate] Your team now requires single sign-on');

    const browser = openSsoBrowser(suite.account, await signedInBrowser(suite.account, ada));
    expect(await sessionOf(browser)).toMatchObject({ sso_required: true });
    for (const [method, path] of [
      ['GET', '/team'],
      ['GET', '/applications'],
      ['POST', '/temporary-token'],
      ['POST', '/team/leave'],
      ['POST', '/two-factor/totp'],
    ] as const) {
      const { status, body } = await browser.session.request(method, path);
      expect([path, status, body['code']]).toEqual([path, 403, 'sso_required']);
    }
    // It is the proof that her account asks for.
    provider.claims = claimsOf('ada');
    const linked = await signIn(team, { browser });
    expect(linked.answer).toMatchObject({
      status: 201,
      body: { account_id: ada.account_id, sso_required: false },
    });
    const tokens = await browser.session.request('GET', '/tokens');
    expect(tokens.text).toContain(String(token.token_id));
    // An address elsewhere, and a new password, are no way out.
    const { password } = ada;
    const change = { email: 'ada@elsewhere.example', current_password: password };
    expect((await browser.session.request('POST', '/account/email', change)).body['code']).toBe(
      'sso_required',
    );
    const changed = await browser.session.request('PUT', '/account/password', {
      current_password: password,
      new_password: 'another horse, another battery',
    });
    expect(changed.status).toBe(200);
    const { account_id } = ada;
    await team.browser.session.request('DELETE', `/team/members/${String(account_id)}`);
    expect(await statusOf(browser, '/session')).toBe(401);
  });

  test('of a sign-in at the same moment, the session opens nothing', async () => {
    const team = await readyTeam();
    const ada = await newColleague('ada');
    await joinTeam({ browser: team.browser.session }, ada);
    await team.confirm();
    const [signedIn] = await Promise.all([
      signedInBrowser(suite.account, ada),
      team.browser.session.request('PUT', '/team/sso/requirement'),
    ]);
    const { status } = await signedIn.request('GET', '/team');
    expect([401, 403]).toContain(status);
  });

  test('never covers the manager, who keeps a second factor, and hands over only to another who has one', async () => {
    const { manager, browser, secret, confirm } = await requiringTeam();
    const { email, password } = manager;
    const way = openBrowser(suite.account);
    const { body } = await way.request('POST', '/session', { email, password });
    await suite.database('totp_secrets').where({ account_id: manager.account_id }).update({ last_step: 0 });
    const sign_in_token = String(body['sign_in_token']);
    const code = totpCode(secret);
    expect((await way.request('POST', '/session/totp', { sign_in_token, code })).status).toBe(201);
    expect((await way.request('GET', '/team')).status).toBe(200);
    const removed = await way.request('DELETE', '/two-factor/totp');
    expect(removed.body['code']).toBe('sso_needs_second_factor');

    const member = await newColleague('ada');
    await inviteTo({ browser: browser.session }, member);
    provider.claims = claimsOf('ada');
    const joined = await signIn(
      { team_id: Number((await way.request('GET', '/team')).body['team_id']) },
      {
        browser: openSsoBrowser(suite.account, member.browser),
      },
    );
    expect(joined.answer.status).toBe(201);
    const handOver = () => way.request('POST', '/team/hand-over', { account_id: member.account_id });
    expect((await handOver()).body['code']).toBe('sso_needs_second_factor');
    await suite.database('passkeys').insert({
      account_id: member.account_id,
      credential_id: `of-${String(member.account_id)}`,
      public_key: Buffer.alloc(1),
      sign_count: 0,
      transports: [],
      name: 'Laptop',
    });
    expect((await handOver()).status).toBe(200);
    // The former manager is a member now.
    expect((await way.request('GET', '/team')).body['code']).toBe('sso_required');
    await confirm();
  });

  test('keeps its provider until it is required no more; an operator can lift it, with a reason and a mail', async () => {
    const { manager, browser, team_id, confirm } = await requiringTeam();
    const { issuer, client_id, client_secret } = settingsOf(other);
    const exchanged = await browser.session.request('PUT', '/team/sso', { issuer, client_id, client_secret });
    expect(exchanged.body['code']).toBe('sso_enforced');
    const renewed = await browser.session.request('PUT', '/team/sso', settingsOf(provider));
    expect(renewed.status).toBe(200);

    const ada = await newColleague('ada');
    await joinTeam({ browser: browser.session }, { ...ada, browser: ada.browser });
    expect((await ada.browser.request('GET', '/team')).body['code']).toBe('sso_required');
    const path = `/private/teams/${String(team_id)}/sso`;
    expect((await operatePath(suite.account, 'GET', path)).body).toMatchObject({ issuer: provider.issuer });
    const without = await operatePath(suite.account, 'DELETE', `${path}/requirement`, undefined, {
      'x-reason': '',
    });
    expect(without.status).toBe(400);
    const lifted = await operatePath(suite.account, 'DELETE', `${path}/requirement`);
    expect(lifted).toMatchObject({ status: 200, body: { required_at: null } });
    expect((await ada.browser.request('GET', '/team')).status).toBe(200);
    await mailAbout(
      suite.mailDirectory,
      manager.email,
      '[Tollgate] Your team no longer requires single sign-on',
    );
    expect(await actionsOf(manager.account_id)).toContain('team_sso_lifted');
    await confirm();
  });
});

describe('by oidc-provider', () => {
  let real: OidcProvider;

  beforeAll(async () => {
    real = await startOidcProvider('http://127.0.0.1:1/operator', '127.0.0.1');
  });

  afterAll(() => real.stop());

  test('through its own pages: someone new, and again without being asked', async () => {
    const team = await newTeam(real);
    const redirectUri = `http://tollgate.example/user/sso/${String(team.team_id)}`;
    real.redirectUris.add(redirectUri);
    real.domain = domain;
    const jar = new Map<string, string>();
    for (const times of [1, 0]) {
      const browser = openSsoBrowser(suite.account);
      const pages = { jar, origin: 'http://tollgate.example' };
      const { url, asked } = await signInAtProvider(pages, await begin(browser), 'ada');
      expect([url.origin + url.pathname, asked]).toEqual([redirectUri, times]);
      const parameters = url.search.slice(1);
      expect(await finish(browser, team, parameters)).toMatchObject({
        status: 201,
        body: { email: `ada@${domain}`, name: 'ada' },
      });
      // Replayed, and with another browser's sign-in.
      const thief = openSsoBrowser(suite.account);
      await begin(thief);
      expect((await finish(thief, team, parameters)).status).toBe(400);
    }
  });
});
