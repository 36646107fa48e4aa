import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import {
  askForTokens,
  makePages,
  newPkce,
  obtainCode,
  openAuthorize,
  parametersOf,
  requestIdOf,
} from '../../../test/suite/authorization.ts';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { insertPeriod } from '../../../test/suite/database/records.ts';
import { operate, operatorCredentials } from '../../../test/suite/operator.ts';
import { getUsage } from '../../../test/suite/requests.ts';

/** Dynamic registration (RFC 7591), through auth. */

const pages = makePages();
const ISSUER = 'https://tokens.example';
const REDIRECT_URI = 'http://127.0.0.1/callback';
const INITIAL_TOKEN = 'initial-access-token-of-the-suite';

let suite: AccountUnderTest;
let byToken: ServiceProcess;
let off: ServiceProcess;
let person: Owner;
let addresses = 0;

beforeAll(async () => {
  const trusted = { TRUSTED_PROXIES: '127.0.0.0/8 ::1/128', ISSUER_URL: ISSUER };
  suite = await startAccount({
    settings: {
      CONSOLE_DIR: pages.directory,
      HOUSEKEEPING_INTERVAL_SEC: '1',
      OPERATOR_CREDENTIALS: operatorCredentials,
    },
    authSettings: { ...trusted, REGISTRATION: 'open' },
  });
  const further = {
    ...trusted,
    REDIS_URL: suite.redis.url,
    ACCOUNT_PRIVATE_URL: suite.account.privateUrl,
    FAILED_ATTEMPTS_PER_CLIENT_AND_ADDRESS: '3',
  };
  [byToken, off] = await Promise.all([
    startServiceProcess('auth', { ...further, REGISTRATION: 'token', REGISTRATION_TOKENS: INITIAL_TOKEN }),
    startServiceProcess('auth', further),
  ]);
  await Promise.all([becomeReady(byToken), becomeReady(off)]);
  person = await newOwner(suite);
  await insertPeriod(suite.database, person.account_id);
});

afterAll(async () => {
  await Promise.all([byToken.stop(), off.stop()]);
  await suite.close();
  pages.remove();
});

let address = '';

beforeEach(() => {
  addresses += 1;
  address = `198.51.100.${String(addresses)}`;
});

type Registered = {
  status: number;
  headers: Headers;
  client_id: string;
  redirect_uris: string[];
  error?: string;
} & Record<string, unknown>;

async function register(
  metadata: unknown,
  headers: Record<string, string> = {},
  auth: Pick<ServiceProcess, 'publicUrl'> = suite.auth,
): Promise<Registered> {
  const response = await fetch(`${auth.publicUrl}/oauth2/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address, ...headers },
    body: JSON.stringify(metadata),
  });
  const body = (await response.json()) as Omit<Registered, 'status' | 'headers'>;
  return { ...body, status: response.status, headers: response.headers } as Registered;
}

const GOOD = { client_name: 'Agent', redirect_uris: [REDIRECT_URI] };

/** As far as tokens. */
async function connectTo({ client_id }: Pick<Registered, 'client_id'>) {
  const client = { client_id, client_secret: null, redirect_uri: REDIRECT_URI };
  const { code, verifier } = await obtainCode(suite.account, client, person.browser);
  const fields = { code, code_verifier: verifier, redirect_uri: REDIRECT_URI };
  return askForTokens(suite.auth, client, { grant_type: 'authorization_code', ...fields });
}

async function applicationIdOf({ client_id }: Pick<Registered, 'client_id'>): Promise<number> {
  const found = await suite.database('applications').where({ client_id }).select('application_id');
  return (found as { application_id: number }[])[0]?.application_id ?? 0;
}

const authorizeStatus = async (client_id: string) =>
  (await openAuthorize(suite.account, parametersOf({ client_id, redirect_uri: REDIRECT_URI }, newPkce())))
    .status;

test('a client registers, is told that it is public, and a person connects it', async () => {
  const made = await register({
    ...GOOD,
    application_type: 'native',
    scope: 'mcp',
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'client_secret_post',
  });
  const { status, headers, ...body } = made;
  expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
  expect(body).toEqual({
    client_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    client_id_issued_at: expect.any(Number),
    client_name: 'Agent',
    redirect_uris: [REDIRECT_URI],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  });
  const asked = parametersOf({ client_id: made.client_id, redirect_uri: REDIRECT_URI }, newPkce());
  const id = await requestIdOf(await openAuthorize(suite.account, asked));
  const described = await person.browser.request('GET', `/authorization-requests/${id}`);
  expect(described.body['application']).toEqual({
    name: 'Agent',
    client_id: made.client_id,
    developer: null,
    is_verified: false,
  });
  const tokens = await connectTo(made);
  expect(tokens.status).toBe(200);
  const listed = await person.browser.request('GET', '/connections');
  expect(listed.body['connections']).toMatchObject([{ name: 'Agent', developer: null }]);
});

test('what a client says of itself is held to the rules of all applications', async () => {
  const uris = [
    'javascript:alert(1)',
    'data:text/html,x',
    'http://evil.example/callback',
    'https://app.example/callback#fragment',
    'https://user:password@app.example/callback',
    'https://*.example/callback',
    'myapp:/callback',
    'https://app.example\\@evil.example/',
    'https://APP.example/callback',
  ];
  for (const uri of uris) {
    const { status, error } = await register({ ...GOOD, redirect_uris: [REDIRECT_URI, uri] });
    expect([uri, status, error]).toEqual([uri, 400, 'invalid_redirect_uri']);
  }
  for (const redirect_uris of [
    [],
    Array.from({ length: 11 }, (_, n) => `https://app.example/${String(n)}`),
  ]) {
    expect(await register({ ...GOOD, redirect_uris })).toMatchObject({
      status: 400,
      error: 'invalid_redirect_uri',
    });
  }
  const names = ['x'.repeat(81), 'Bank\u202eknaB', 'Bank\u0000', 'Two\nlines', ' ', '\u2800'];
  for (const client_name of names) {
    const { status, error } = await register({ ...GOOD, client_name });
    expect([client_name, status, error]).toEqual([client_name, 400, 'invalid_client_metadata']);
  }
  for (const wrong of [
    { ...GOOD, redirect_uris: 'https://app.example' },
    { ...GOOD, token_endpoint_auth_method: 'private_key_jwt' },
    { ...GOOD, grant_types: ['client_credentials'] },
    { ...GOOD, response_types: ['token'] },
    {},
  ]) {
    expect(await register(wrong)).toMatchObject({ status: 400, error: 'invalid_client_metadata' });
  }
});

test('no logo, page or key of a client is ever fetched', async () => {
  const fetched: string[] = [];
  const server = createServer((req, res) => {
    fetched.push(req.url ?? '');
    res.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
  const made = await register({ ...GOOD, logo_uri: url, client_uri: url, jwks_uri: url, policy_uri: url });
  expect(made.status).toBe(201);
  expect((await connectTo(made)).status).toBe(200);
  expect(fetched).toEqual([]);
  server.close();
});

test('an address registers ten an hour, and others are not affected', async () => {
  for (let count = 0; count < 10; count += 1) expect((await register(GOOD)).status).toBe(201);
  const refused = await register(GOOD);
  expect([refused.status, refused.error]).toEqual([429, 'temporarily_unavailable']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000);
  address = '203.0.113.77';
  expect((await register(GOOD)).status).toBe(201);
});

test('an operator’s revocation of a client ends all that people gave it', async () => {
  const made = await register(GOOD);
  const tokens = await connectTo(made);
  const application_id = await applicationIdOf(made);
  const listed = await operate(suite.account, 'GET', `/${String(application_id)}`);
  expect(listed.body).toMatchObject({ account_id: null, name: 'Agent', public_client: true });
  expect((await operate(suite.account, 'POST', `/${String(application_id)}/revoke`)).status).toBe(200);
  await waitFor(async () => (await getUsage(suite.account, tokens.access_token)).status === 401);
  expect(await authorizeStatus(made.client_id)).toBe(400);
});

describe('by an initial access token', () => {
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  test('a client registers with it, and not without', async () => {
    expect((await register(GOOD, bearer(INITIAL_TOKEN), byToken)).status).toBe(201);
    for (const headers of [{}, bearer(`${INITIAL_TOKEN}x`), { authorization: `Basic ${INITIAL_TOKEN}` }]) {
      const refused = await register(GOOD, headers, byToken);
      expect([refused.status, refused.error]).toEqual([401, 'invalid_token']);
      expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer /);
    }
    // Guesses are limited; the right one never is, and its holder isn’t held to ten.
    expect((await register(GOOD, bearer('wrong'), byToken)).status).toBe(429);
    for (let count = 0; count < 12; count += 1) {
      expect((await register(GOOD, bearer(INITIAL_TOKEN), byToken)).status).toBe(201);
    }
  });
});

test('off, which is the default, there is no endpoint, and the metadata names none', async () => {
  expect((await register(GOOD, {}, off)).status).toBe(404);
  const metadataOf = async ({ publicUrl }: Pick<ServiceProcess, 'publicUrl'>) =>
    (await (await fetch(`${publicUrl}/.well-known/oauth-authorization-server`)).json()) as Record<
      string,
      unknown
    >;
  expect(await metadataOf(off)).not.toHaveProperty('registration_endpoint');
  for (const auth of [suite.auth, byToken]) {
    expect(await metadataOf(auth)).toMatchObject({ registration_endpoint: `${ISSUER}/oauth2/register` });
  }
});

describe('housekeeping', () => {
  const age = (client_id: string, days: number) =>
    suite.database.raw(
      `UPDATE client_registrations SET unconnected_since = now() - ? * interval '1 day' - interval '1 minute'
       WHERE application_id = (SELECT application_id FROM applications WHERE client_id = ?)`,
      [days, client_id],
    );
  const rowOf = (client_id: string) =>
    suite.database('applications').where({ client_id }).first('status') as Promise<
      { status: string } | undefined
    >;

  test('removes a client that no person has used within a day, and no other', async () => {
    const [unused, asking, connected] = [await register(GOOD), await register(GOOD), await register(GOOD)];
    const tokens = await connectTo(connected);
    expect(await authorizeStatus(asking.client_id)).toBe(303);
    for (const { client_id } of [unused, asking, connected]) await age(client_id, 1);
    await waitFor(async () => (await rowOf(unused.client_id)) === undefined);
    expect(await authorizeStatus(unused.client_id)).toBe(400);
    expect(await rowOf(asking.client_id)).toEqual({ status: 'active' });
    const client = { client_id: connected.client_id, client_secret: null };
    const again = await askForTokens(suite.auth, client, {
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token,
    });
    expect(again.status).toBe(200);
  });

  test('ends a client without connections for 30 days', async () => {
    const made = await register(GOOD);
    const tokens = await connectTo(made);
    const before = await person.browser.request('GET', '/connections');
    const [{ connection_id } = { connection_id: 0 }] = before.body['connections'] as {
      connection_id: number;
    }[];
    await person.browser.request('DELETE', `/connections/${String(connection_id)}`);
    await waitFor(async () => {
      const application_id = await applicationIdOf(made);
      const found = await suite.database('client_registrations').where({ application_id });
      return (found as { unconnected_since: Date | null }[])[0]?.unconnected_since !== null;
    });
    await age(made.client_id, 30);
    await waitFor(async () => (await rowOf(made.client_id))?.status === 'deleted');
    expect(await authorizeStatus(made.client_id)).toBe(400);
    expect(tokens.status).toBe(200);
  });
});

test('beyond 10,000 clients no further one registers', async () => {
  await suite.database.raw(
    `WITH made AS (
       INSERT INTO applications (name, type, token_lifespan_sec, client_id, public_client, redirect_uris)
       SELECT 'Flood', 'authorization', 3600, gen_random_uuid(), true, ARRAY['https://app.example/'] FROM generate_series(1, 10000)
       RETURNING application_id
     ) INSERT INTO client_registrations (application_id, read_at) SELECT application_id, now() FROM made`,
  );
  const refused = await register(GOOD);
  expect([refused.status, refused.error]).toEqual([429, 'temporarily_unavailable']);
});
