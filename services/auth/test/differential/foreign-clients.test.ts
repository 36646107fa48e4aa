/* eslint-disable @typescript-eslint/no-deprecated --
   allowInsecureRequests is marked so only to catch the eye; the suite's servers are local ones without TLS. */
import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { OAuth2Client } from '@badgateway/oauth2-client';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { ClientCredentials } from 'simple-oauth2';
import { newClientSecret } from '@tollgate/credentials/client-secret';
import { freePort } from '@tollgate/stack/ports';
import { serviceCredential } from '@tollgate/testbed/service-process';
import { startAuth } from '../suite/auth-under-test.ts';
import type { AuthUnderTest } from '../suite/auth-under-test.ts';
import { postIntrospection } from '../suite/requests.ts';
import { CLIENT } from './corpus/corpus.ts';
import { addKnownClient } from './known-client.ts';

const run = promisify(execFile);

type Credentials = { client_id: string; client_secret: string };

type OpenidMethod = (secret: string) => openid.ClientAuth;

/** What every client library makes of auth's answer. */
type Grant = { token: string; expiresInSec: number };

/** Every library in each way in which it can authenticate, its encoding as RFC 6749 wants it. */
const clients: Record<string, (credentials: Credentials) => Promise<Grant>> = {
  'openid-client, body': (credentials) => openidClient(credentials, openid.ClientSecretPost),
  'openid-client, Basic': (credentials) => openidClient(credentials, openid.ClientSecretBasic),
  'oauth4webapi, body': (credentials) => oauth4webapi(credentials, oauth.ClientSecretPost),
  'oauth4webapi, Basic': (credentials) => oauth4webapi(credentials, oauth.ClientSecretBasic),
  'simple-oauth2, body': (credentials) => simpleOauth2(credentials, { authorizationMethod: 'body' }),
  'simple-oauth2, Basic': (credentials) => simpleOauth2(credentials, { authorizationMethod: 'header' }),
  '@badgateway/oauth2-client, body': (credentials) => badgateway(credentials, 'client_secret_post'),
  '@badgateway/oauth2-client, Basic': (credentials) => badgateway(credentials, 'client_secret_basic'),
};

/** Encodings of Basic that some libraries offer beside it: none, or hardly any. */
const looseClients: typeof clients = {
  'simple-oauth2, loose': (credentials) => simpleOauth2(credentials, { credentialsEncodingMode: 'loose' }),
  '@badgateway/oauth2-client, interop': (credentials) =>
    badgateway(credentials, 'client_secret_basic_interop'),
};

const SECRETS = ['-_.~+%:', '%41', '100%', '+', ':::', 'a b&c=d', '"\\', CLIENT.client_secret];

let auth: AuthUnderTest;
let issuer: string;

beforeAll(async () => {
  const port = String(await freePort());
  issuer = `http://127.0.0.1:${port}`;
  auth = await startAuth({ PUBLIC_PORT: port, ISSUER_URL: issuer });
});

afterAll(() => auth.close());

function discover({ client_id, client_secret }: Credentials, method: OpenidMethod = openid.ClientSecretPost) {
  return openid.discovery(new URL(issuer), client_id, undefined, method(client_secret), {
    algorithm: 'oauth2',
    execute: [openid.allowInsecureRequests],
  });
}

async function openidClient(credentials: Credentials, method: OpenidMethod): Promise<Grant> {
  const configuration = await discover(credentials, method);
  const { access_token, expires_in } = await openid.clientCredentialsGrant(configuration, { scope: 'api' });
  return { token: access_token, expiresInSec: expires_in ?? 0 };
}

async function oauth4webapi(
  { client_id, client_secret }: Credentials,
  method: (secret: string) => oauth.ClientAuth,
): Promise<Grant> {
  const server = { issuer, token_endpoint: `${issuer}/oauth2/token` };
  const client = { client_id };
  const response = await oauth.clientCredentialsGrantRequest(
    server,
    client,
    method(client_secret),
    { scope: 'api' },
    { [oauth.allowInsecureRequests]: true },
  );
  const { access_token, expires_in } = await oauth.processClientCredentialsResponse(server, client, response);
  return { token: access_token, expiresInSec: expires_in ?? 0 };
}

async function simpleOauth2(
  { client_id, client_secret }: Credentials,
  options: ConstructorParameters<typeof ClientCredentials>[0]['options'],
): Promise<Grant> {
  const client = new ClientCredentials({
    client: { id: client_id, secret: client_secret },
    auth: { tokenHost: issuer, tokenPath: '/oauth2/token' },
    ...(options === undefined ? {} : { options }),
  });
  const { token } = await client.getToken({ scope: 'api' });
  return { token: String(token['access_token']), expiresInSec: Number(token['expires_in']) };
}

async function badgateway(
  { client_id, client_secret }: Credentials,
  authenticationMethod: 'client_secret_basic' | 'client_secret_post' | 'client_secret_basic_interop',
): Promise<Grant> {
  const client = new OAuth2Client({
    clientId: client_id,
    clientSecret: client_secret,
    tokenEndpoint: `${issuer}/oauth2/token`,
    authenticationMethod,
  });
  const { accessToken, expiresAt } = await client.clientCredentials({ scope: ['api'] });
  return { token: accessToken, expiresInSec: Math.round(((expiresAt ?? 0) - Date.now()) / 1000) };
}

async function introspect(token: string): Promise<unknown> {
  return (await postIntrospection(auth.service, { token })).json();
}

describe.each(Object.entries(clients))('%s', (_name, getToken) => {
  test('gets a token, whatever characters the secret has', async () => {
    for (const secret of [...SECRETS, newClientSecret()]) {
      const client = addKnownClient(auth.account, secret);
      const { token, expiresInSec } = await getToken(client);
      expect(await introspect(token)).toMatchObject({ active: true, client_id: client.client_id });
      expect(Math.abs(expiresInSec - 3_600)).toBeLessThanOrEqual(1);
    }
  });

  test('fails with a wrong secret', async () => {
    const { client_id } = addKnownClient(auth.account, '-_.~+%:');
    await expect(getToken({ client_id, client_secret: '-_.~+%3A' })).rejects.toThrow(
      /invalid_client|401 Unauthorized|challenge in the WWW-Authenticate/,
    );
  });
});

describe.each(Object.entries(looseClients))('%s', (_name, getToken) => {
  test('gets a token with a secret as account issues them', async () => {
    const client = addKnownClient(auth.account, newClientSecret());
    const { token } = await getToken(client);
    expect(await introspect(token)).toMatchObject({ active: true, client_id: client.client_id });
  });
});

/** Programs that send credentials only when they are challenged (RFC 9110, section 11.6.1). */
const challenged: Record<string, (credentials: Credentials) => [program: string, ...args: string[]]> = {
  curl: ({ client_id, client_secret }) => [
    'curl',
    '--silent',
    '--anyauth',
    '--user',
    `${client_id}:${client_secret}`,
    '--data',
    GRANT,
    `${issuer}/oauth2/token`,
  ],
  wget: ({ client_id, client_secret }) => [
    'wget',
    '--quiet',
    '--output-document=-',
    `--user=${client_id}`,
    `--password=${client_secret}`,
    `--post-data=${GRANT}`,
    `${issuer}/oauth2/token`,
  ],
  python3: ({ client_id, client_secret }) => [
    'python3',
    '-c',
    PYTHON,
    `${issuer}/oauth2/token`,
    client_id,
    client_secret,
    GRANT,
  ],
};

const GRANT = 'grant_type=client_credentials&scope=api';

const PYTHON = `
import sys, urllib.request as r
url, user, password, grant = sys.argv[1:]
passwords = r.HTTPPasswordMgrWithDefaultRealm()
passwords.add_password(None, url, user, password)
opener = r.build_opener(r.HTTPBasicAuthHandler(passwords))
print(opener.open(url, grant.encode()).read().decode())
`;

describe.each(Object.entries(challenged))('%s, once challenged', (program, command) => {
  const isThere = spawnSync(program, ['--version']).status === 0;
  (isThere ? test : test.skip)('gets a token', async () => {
    const client = addKnownClient(auth.account, newClientSecret());
    const [file, ...args] = command(client);
    const { stdout } = await run(file, args);
    const { access_token } = JSON.parse(stdout) as { access_token: string };
    expect(await introspect(access_token)).toMatchObject({ active: true, client_id: client.client_id });
  });
});

test('openid-client finds the endpoints by discovery, and revokes its token', async () => {
  const configuration = await discover(addKnownClient(auth.account, CLIENT.client_secret));
  expect(configuration.serverMetadata()).toMatchObject({
    issuer,
    token_endpoint: `${issuer}/oauth2/token`,
    revocation_endpoint: `${issuer}/oauth2/revoke`,
  });
  const { access_token } = await openid.clientCredentialsGrant(configuration, { scope: 'api' });
  await openid.tokenRevocation(configuration, access_token);
  expect(await introspect(access_token)).toEqual({ active: false });
});

test('@badgateway/oauth2-client finds the endpoints by discovery, and revokes its token', async () => {
  const { client_id, client_secret } = addKnownClient(auth.account, newClientSecret());
  const client = new OAuth2Client({ server: issuer, clientId: client_id, clientSecret: client_secret });
  const token = await client.clientCredentials({ scope: ['api'] });
  await client.revoke(token);
  expect(await introspect(token.accessToken)).toEqual({ active: false });
});

test('the services’ introspection is one that openid-client understands', async () => {
  const { token } = await oauth4webapi(addKnownClient(auth.account, '-_.~+%:'), oauth.ClientSecretPost);
  const { id, secret } = serviceCredential;
  const server = { issuer, introspection_endpoint: `${auth.service.privateUrl}/oauth2/introspect` };
  const configuration = new openid.Configuration(server, id, undefined, openid.ClientSecretBasic(secret));
  openid.allowInsecureRequests(configuration);
  expect(await openid.tokenIntrospection(configuration, token)).toMatchObject({ active: true, scope: 'api' });
});
