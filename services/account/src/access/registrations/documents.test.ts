import { once } from 'node:events';
import { createServer } from 'node:https';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { createCertificateAuthority } from '@tollgate/testbed/certificates';
import { startDnsServer } from '@tollgate/testbed/dns-server';
import type { DnsServer } from '@tollgate/testbed/dns-server';
import type { CertificateAuthority } from '@tollgate/testbed/certificates';
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

/** Client-ID metadata documents: an application whose client ID is the address of what it says of itself. */

const pages = makePages();
const ISSUER = 'https://tokens.example';
const REDIRECT_URI = 'http://127.0.0.1/callback';
const HOST = 'agent.example';

let suite: AccountUnderTest;
let dns: DnsServer;
let authority: CertificateAuthority;
let server: Server;
let port: number;
let person: Owner;
let fetched: string[] = [];
let answer: (req: IncomingMessage, res: ServerResponse) => void;
let documents = 0;

beforeAll(async () => {
  authority = createCertificateAuthority();
  const names = `DNS:${HOST},DNS:inside.example,DNS:other.example`;
  const { key, cert } = authority.issue(2, names);
  server = createServer({ key, cert }, (req, res) => {
    fetched.push(req.url ?? '');
    answer(req, res);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
  dns = await startDnsServer();
  for (const name of [HOST, 'other.example']) dns.names.set(name, ['127.0.0.1']);
  suite = await startAccount({
    settings: {
      CONSOLE_DIR: pages.directory,
      CIMD_HOSTS: `${HOST}:${String(port)} inside.example:${String(port)} agents.example`,
      WEBHOOK_DNS_SERVERS: dns.address,
      WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true',
      NODE_EXTRA_CA_CERTS: authority.file,
      OPERATOR_CREDENTIALS: operatorCredentials,
      TRUSTED_PROXIES: '127.0.0.0/8 ::1/128',
    },
    authSettings: { ISSUER_URL: ISSUER, CIMD_HOSTS: `${HOST}:${String(port)}` },
  });
  person = await newOwner(suite);
  await insertPeriod(suite.database, person.account_id);
});

afterAll(async () => {
  await suite.close();
  pages.remove();
  await dns.close();
  server.closeAllConnections();
  server.close();
  authority.remove();
});

let url: string;
let path: string;

beforeEach(() => {
  documents += 1;
  path = `/client-${String(documents)}.json`;
  url = `https://${HOST}:${String(port)}${path}`;
  fetched = [];
  serve({});
});

function serve(changes: Record<string, unknown>): void {
  answer = (_req, res) => {
    res.setHeader('content-type', 'application/json');
    res.end(
      JSON.stringify({ client_id: url, client_name: 'Agent', redirect_uris: [REDIRECT_URI], ...changes }),
    );
  };
}

const ask = (client_id = url, redirect_uri = REDIRECT_URI) =>
  openAuthorize(suite.account, parametersOf({ client_id, redirect_uri }, newPkce()), {
    // So that no test meets another's limit.
    'x-forwarded-for': `198.51.100.${String(documents)}`,
  });

const statusOf = async (response: Promise<Response>) => (await response).status;

test('such an application needs no registration: consent, tokens, a call, a refresh and a revocation', async () => {
  const id = await requestIdOf(await ask());
  const { body } = await person.browser.request('GET', `/authorization-requests/${id}`);
  expect(body['application']).toEqual({
    name: 'Agent',
    client_id: url,
    developer: null,
    is_verified: false,
  });
  const client = { client_id: url, client_secret: null, redirect_uri: REDIRECT_URI };
  const { code, verifier } = await obtainCode(suite.account, client, person.browser);
  const tokens = await askForTokens(suite.auth, client, {
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    redirect_uri: REDIRECT_URI,
  });
  expect(tokens.status).toBe(200);
  const { refresh_token } = tokens;
  const next = await askForTokens(suite.auth, client, { grant_type: 'refresh_token', refresh_token });
  expect(next.status).toBe(200);
  expect((await getUsage(suite.account, next.access_token)).status).toBe(200);
  const listed = await person.browser.request('GET', '/connections');
  expect(listed.body['connections']).toMatchObject([{ client_id: url, developer: null }]);
  await fetch(`${suite.auth.publicUrl}/oauth2/revoke`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: url, token: next.refresh_token }),
  });
  await waitFor(async () => (await getUsage(suite.account, next.access_token)).status === 401);
  expect(fetched).toEqual([path]);
});

test('auth’s metadata says so', async () => {
  const response = await fetch(`${suite.auth.publicUrl}/.well-known/oauth-authorization-server`);
  expect(await response.json()).toMatchObject({ client_id_metadata_document_supported: true });
});

test('a document is read again after an hour, and a redirect URI that it has lost gets no code', async () => {
  expect(await statusOf(ask())).toBe(303);
  serve({ redirect_uris: ['https://app.example/callback'] });
  expect(await statusOf(ask())).toBe(303);
  expect(fetched).toHaveLength(1);
  await suite
    .database('client_registrations')
    .where({ document_url: url })
    .update({ read_at: suite.database.raw("now() - interval '61 minutes'") });
  expect(await statusOf(ask())).toBe(400);
  expect(await statusOf(ask(url, 'https://app.example/callback'))).toBe(303);
  expect(fetched).toHaveLength(2);
});

test('a document that can’t be read any more isn’t used beyond its hour', async () => {
  expect(await statusOf(ask())).toBe(303);
  answer = (_req, res) => res.writeHead(404).end();
  await suite
    .database('client_registrations')
    .where({ document_url: url })
    .update({ read_at: suite.database.raw("now() - interval '61 minutes'") });
  expect(await statusOf(ask())).toBe(400);
});

describe('without a request to anyone', () => {
  test.each([
    ['another host', () => `https://other.example:${String(port)}/client.json`],
    ['another port', () => `https://${HOST}:${String(port + 1)}/client.json`],
    ['http', () => `http://${HOST}:${String(port)}/client.json`],
    ['a user name', () => `https://user@${HOST}:${String(port)}/client.json`],
    ['a fragment', () => `${url}#fragment`],
    ['a query', () => `${url}?query`],
    ['no path', () => `https://${HOST}:${String(port)}`],
    ['dots in the path', () => `https://${HOST}:${String(port)}/a/../client.json`],
    ['capitals in the host', () => `https://AGENT.example:${String(port)}/client.json`],
    ['a backslash', () => `https://${HOST}:${String(port)}\\client.json`],
    ['more than 255 characters', () => `${url}${'x'.repeat(256)}`],
  ])('refuses %s', async (_what, clientId) => {
    expect(await statusOf(ask(clientId()))).toBe(400);
    expect(fetched).toEqual([]);
  });
});

describe('refuses a document', () => {
  test.each<[string, Record<string, unknown>]>([
    ['of another client', { client_id: 'https://agent.example/other.json' }],
    ['without its address', { client_id: undefined }],
    ['with a secret', { client_secret: 'everyone reads it' }],
    ['of a client with a key', { token_endpoint_auth_method: 'private_key_jwt' }],
    ['without redirect URIs', { redirect_uris: [] }],
    ['with a script for a redirect URI', { redirect_uris: [REDIRECT_URI, 'javascript:alert(1)'] }],
    ['whose name turns the text around', { client_name: 'knaB\u202e' }],
    ['whose name is a page long', { client_name: 'x'.repeat(81) }],
    ['larger than 16 KiB', { padding: 'x'.repeat(16_384) }],
  ])('%s', async (_what, changes) => {
    serve(changes);
    expect(await statusOf(ask())).toBe(400);
    expect(await suite.database('client_registrations').where({ document_url: url })).toEqual([]);
  });

  test('that isn’t JSON, or isn’t there', async () => {
    for (const wrong of [
      (res: ServerResponse) => res.end('<html>'),
      (res: ServerResponse) => res.writeHead(404).end('{}'),
      (res: ServerResponse) => res.destroy(),
    ]) {
      answer = (_req, res) => wrong(res);
      expect(await statusOf(ask())).toBe(400);
    }
  });

  test('that is elsewhere: no redirect is followed', async () => {
    answer = (req, res) => {
      if (req.url === path) res.writeHead(302, { location: '/elsewhere.json' }).end();
      else res.end(JSON.stringify({ client_id: url, redirect_uris: [REDIRECT_URI] }));
    };
    expect(await statusOf(ask())).toBe(400);
    expect(fetched).toEqual([path]);
  });

  test('that never ends, within its bound, and one that never begins, within its time', async () => {
    answer = (_req, res) => {
      const pour = () => {
        while (!res.destroyed && res.write('x'.repeat(65_536)));
        if (!res.destroyed) res.once('drain', pour);
      };
      pour();
    };
    expect(await statusOf(ask())).toBe(400);
    answer = () => undefined;
    expect(await statusOf(ask())).toBe(400);
  });
});

test('what an operator has revoked stays so, whatever its document says', async () => {
  expect(await statusOf(ask())).toBe(303);
  const { application_id = 0 } =
    (await suite
      .database<{ application_id: number }>('client_registrations')
      .where('document_url', url)
      .first('application_id')) ?? {};
  await operate(suite.account, 'POST', `/${String(application_id)}/revoke`);
  await suite.database('client_registrations').update({
    read_at: suite.database.raw("now() - interval '61 minutes'"),
  });
  fetched = [];
  expect(await statusOf(ask())).toBe(400);
  expect(fetched).toEqual([]);
});

test('an address has documents read 30 times a minute', async () => {
  answer = (_req, res) => res.writeHead(404).end();
  const statuses = new Set<number>();
  for (let count = 0; count < 31; count += 1) statuses.add(await statusOf(ask()));
  expect([...statuses]).toEqual([400, 429]);
});

test('a name that leads inside is never connected to', async () => {
  await suite.account.stop();
  await suite.account.restart({ WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'false' });
  for (const [address] of [['127.0.0.1'], ['169.254.169.254'], ['10.0.0.1']] as [string][]) {
    dns.names.set('inside.example', [address]);
    url = `https://inside.example:${String(port)}${path}`;
    expect(await statusOf(ask())).toBe(400);
  }
  expect(fetched).toEqual([]);
});
