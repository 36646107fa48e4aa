/* eslint-disable @typescript-eslint/no-deprecated --
   allowInsecureRequests is marked so only to catch the eye; the suite's servers are local ones without TLS. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { waitFor } from '@tollgate/stack/wait-for';
import { findPython } from '@tollgate/testbed/python';
import {
  answerRequest,
  connect,
  newActingApplication,
  refresh,
  requestIdOf,
} from '../../../test/suite/authorization.ts';
import type { ActingApplication } from '../../../test/suite/authorization.ts';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { insertPeriod } from '../../../test/suite/database/records.ts';
import { openPublicDoor } from '../../../test/suite/stand-ins/public-door.ts';
import type { PublicDoor } from '../../../test/suite/stand-ins/public-door.ts';

/** Others' libraries, unmodified, through the gateway: what they make of our answers, and which attacks they see. */

const JUDGES = resolve('services/account/test/judges');
const QUERY = JSON.stringify({ query: '{ __typename }' });

let door: PublicDoor;
let person: Owner;
let confidential: ActingApplication;
let publicClient: ActingApplication;

beforeAll(async () => {
  door = await openPublicDoor();
  [person, confidential, publicClient] = await Promise.all([
    newOwner(door.suite),
    // openid-client takes the whole query of the answer for its own.
    newActingApplication(door.suite, { redirect_uris: ['https://app.example/callback'] }),
    newActingApplication(door.suite, { public_client: true, redirect_uris: ['http://127.0.0.1/callback'] }),
  ]);
  await insertPeriod(door.suite.database, person.account_id);
});

afterAll(() => door.close());

/** The browser, from the application's address to its redirect URI. */
async function browse(address: string): Promise<URL> {
  expect(new URL(address).origin).toBe(door.url);
  const opened = await fetch(address, { redirect: 'manual' });
  return answerRequest(person.browser, await requestIdOf(opened));
}

async function callStatus(token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(`${door.url}/graphql`, { method: 'POST', headers, body: QUERY });
  await response.arrayBuffer();
  return response.status;
}

/** Without a request to us. */
const REFUSED_BY_LIBRARY = { code: 'OAUTH_INVALID_RESPONSE' };

async function openidConfiguration({ client_id, client_secret }: ActingApplication) {
  const method = client_secret === null ? openid.None() : openid.ClientSecretBasic(client_secret);
  return openid.discovery(new URL(door.url), client_id, undefined, method, {
    algorithm: 'oauth2',
    execute: [openid.allowInsecureRequests],
  });
}

async function openidTokens(application: ActingApplication, redirect_uri: string) {
  const configuration = await openidConfiguration(application);
  const pkceCodeVerifier = openid.randomPKCECodeVerifier();
  const expectedState = openid.randomState();
  const address = openid.buildAuthorizationUrl(configuration, {
    redirect_uri,
    scope: 'api',
    resource: `${door.url}/graphql`,
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
  });
  const back = await browse(address.href);
  const exchange = (to: URL) =>
    openid.authorizationCodeGrant(configuration, to, { pkceCodeVerifier, expectedState });
  return { configuration, back, exchange };
}

describe('openid-client', () => {
  test.each([
    ['a confidential client', () => confidential, () => confidential.redirect_uri],
    ['a public client, at a port of its own', () => publicClient, () => 'http://127.0.0.1:51823/callback'],
  ])('%s: tokens, a call, a refresh, a revocation', async (_kind, application, redirectUri) => {
    const { configuration, back, exchange } = await openidTokens(application(), redirectUri());
    const tokens = await exchange(back);
    expect(await callStatus(tokens.access_token)).toBe(200);
    const next = await openid.refreshTokenGrant(configuration, tokens.refresh_token ?? '');
    expect(await callStatus(next.access_token)).toBe(200);
    await openid.tokenRevocation(configuration, next.refresh_token ?? '');
    await waitFor(async () => (await callStatus(next.access_token)) === 401);
  });

  test('three parallel refreshes, as MCP’s clients send them, all get the same tokens', async () => {
    const { configuration, back, exchange } = await openidTokens(publicClient, publicClient.redirect_uri);
    const { refresh_token = '' } = await exchange(back);
    const answers = await Promise.all(
      [1, 2, 3].map(() => openid.refreshTokenGrant(configuration, refresh_token)),
    );
    expect(new Set(answers.map(({ access_token }) => access_token)).size).toBe(1);
    expect(new Set(answers.map((answer) => answer.refresh_token)).size).toBe(1);
  });

  test('sees a mix-up by `iss`, and an injected answer by `state`', async () => {
    const { back, exchange } = await openidTokens(confidential, confidential.redirect_uri);
    const mixedUp = new URL(back);
    mixedUp.searchParams.set('iss', 'https://evil.example');
    await expect(exchange(mixedUp)).rejects.toMatchObject(REFUSED_BY_LIBRARY);
    mixedUp.searchParams.delete('iss');
    await expect(exchange(mixedUp)).rejects.toMatchObject(REFUSED_BY_LIBRARY);
    const injected = new URL(back);
    injected.searchParams.set('state', 'another');
    await expect(exchange(injected)).rejects.toMatchObject(REFUSED_BY_LIBRARY);
    expect((await exchange(back)).access_token).toMatch(/^tg_/);
  });

  test('a code injected into another person’s flow fails by PKCE, at the server', async () => {
    const stolen = await openidTokens(confidential, confidential.redirect_uri);
    const own = await openidTokens(confidential, confidential.redirect_uri);
    const injected = new URL(own.back);
    injected.searchParams.set('code', stolen.back.searchParams.get('code') ?? '');
    await expect(own.exchange(injected)).rejects.toMatchObject({ error: 'invalid_grant' });
  });
});

test("curl: the blocks of the customers' book, between which a person allows the application", async () => {
  const page = readFileSync('docs/customers/authorization.md', 'utf8');
  const blocksOf = (part: string) =>
    [...part.matchAll(/^```sh run\n([^]*?)^```/gm)].map(([, block]) => block);
  const runBlocks = async (part: string, env: Record<string, string>) => {
    const script = ['set -eu', ...blocksOf(part), 'printf %s "$CODE_VERIFIER"'].join("\nprintf '\\n'\n");
    const shown = script.replaceAll('https://auth.tollgate.example', door.url);
    const { stdout } = await promisify(execFile)('sh', ['-c', shown], {
      env: { PATH: process.env['PATH'], ...env },
    });
    return stdout.split('\n').filter((line) => line !== '');
  };
  const { client_id: CLIENT_ID, client_secret, redirect_uri: REDIRECT_URI } = confidential;
  const known = { CLIENT_ID, CLIENT_SECRET: client_secret ?? '', REDIRECT_URI };
  const [before = '', after = ''] = page.split(/^```sh setup\nexport CODE=.*\n```$/m);
  const [address = '', CODE_VERIFIER = ''] = (await runBlocks(before, known)).slice(-2);
  const CODE = (await browse(address)).searchParams.get('code') ?? '';
  const [granted = '', refreshed = ''] = await runBlocks(after, { ...known, CODE_VERIFIER, CODE });
  const printed = /^```json output\n([^]*?)^```/m.exec(after)?.[1] ?? '';
  const any = (_key: string, value: unknown): unknown => (value === '…' ? expect.any(String) : value);
  expect(JSON.parse(granted)).toEqual(JSON.parse(printed, any));
  const { access_token } = JSON.parse(refreshed) as { access_token: string };
  expect(await callStatus(access_token)).toBe(200);
});

test('oauth4webapi: discovery, a public client’s tokens, a refresh; its checks of the answer hold', async () => {
  const options = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(door.url);
  const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options });
  const server = await oauth.processDiscoveryResponse(issuer, discovered);
  expect(server).toMatchObject({
    issuer: door.url,
    authorization_endpoint: `${door.url}/oauth2/authorize`,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  });
  const client: oauth.Client = { client_id: publicClient.client_id };
  const { redirect_uri } = publicClient;
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const address = new URL(server.authorization_endpoint ?? '');
  const wanted = {
    client_id: client.client_id,
    redirect_uri,
    response_type: 'code',
    scope: 'api',
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(wanted)) address.searchParams.set(name, value);
  const back = await browse(address.href);
  const answer = oauth.validateAuthResponse(server, client, back, state);
  const none = oauth.None();
  const tokens = await oauth.processAuthorizationCodeResponse(
    server,
    client,
    await oauth.authorizationCodeGrantRequest(server, client, none, answer, redirect_uri, verifier, options),
  );
  expect(await callStatus(tokens.access_token)).toBe(200);
  const next = await oauth.processRefreshTokenResponse(
    server,
    client,
    await oauth.refreshTokenGrantRequest(server, client, none, tokens.refresh_token ?? '', options),
  );
  expect(await callStatus(next.access_token)).toBe(200);
});

test.each([
  ['a confidential', () => confidential],
  ['a public', () => publicClient],
])(
  'Authlib: %s client’s tokens, and a refresh',
  async (_kind, application) => {
    const python = await findPython(`${JUDGES}/requirements.txt`);
    if (python === null) return;
    const { client_id, client_secret, redirect_uri } = application();
    const metadata: unknown = await (
      await fetch(`${door.url}/.well-known/oauth-authorization-server`)
    ).json();
    const program = spawn(python, ['-W', 'ignore', `${JUDGES}/authlib_client.py`], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface(program.stdout)[Symbol.asyncIterator]();
    const read = async <T>() => JSON.parse((await lines.next()).value ?? 'null') as T;
    const say = (message: unknown) => program.stdin.write(`${JSON.stringify(message)}\n`);
    say([metadata, client_id, client_secret, redirect_uri]);
    const { address } = await read<{ address: string }>();
    say((await browse(address)).href);
    const { first, second } = await read<Record<'first' | 'second', { access_token: string }>>();
    for (const { access_token } of [first, second]) expect(await callStatus(access_token)).toBe(200);
    if (program.exitCode === null) await once(program, 'exit');
    expect(program.exitCode).toBe(0);
  },
  300_000,
);

test('calls are counted for the connection, and its open socket closes when it ends', async () => {
  const tokens = await connect(door.suite, publicClient, person.browser);
  expect(await callStatus(tokens.access_token)).toBe(200);
  const listed = async () =>
    (await person.browser.request('GET', '/connections')).body['connections'] as {
      connection_id: number;
      points_usage: number;
      last_used_at: string | null;
    }[];
  const [{ connection_id } = { connection_id: 0 }] = await listed();
  await waitFor(async () => {
    const found = (await listed()).find((one) => one.connection_id === connection_id);
    return found !== undefined && found.points_usage > 0 && found.last_used_at !== null;
  });

  const address = `${door.url.replace('http', 'ws')}/graphql?token=${tokens.access_token}`;
  const socket = new WebSocket(address, 'graphql-transport-ws');
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init' }));
  await once(socket, 'message');
  const query = 'subscription { countryOfTheMoment(intervalMs: 200, times: 1000) { name } }';
  socket.send(JSON.stringify({ type: 'subscribe', id: 'a', payload: { query } }));
  await once(socket, 'message');
  const closed = once(socket, 'close') as Promise<[CloseEvent]>;
  await person.browser.request('DELETE', `/connections/${String(connection_id)}`);
  const [{ code }] = await closed;
  expect(code).toBe(4401);
  expect(await refresh(door.suite.auth, publicClient, tokens.refresh_token)).toMatchObject({
    error: 'invalid_grant',
  });
});
