import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as oauth from 'openid-client';
import { freePort } from '@tollgate/stack/ports';
import { addClient, startAuth } from '../../../test/suite/auth-under-test.ts';
import type { AuthUnderTest } from '../../../test/suite/auth-under-test.ts';
import { postIntrospection } from '../../../test/suite/requests.ts';

let auth: AuthUnderTest;
let issuer: string;
let metadataUrl: string;

beforeAll(async () => {
  const port = String(await freePort());
  issuer = `http://127.0.0.1:${port}`;
  auth = await startAuth({ PUBLIC_PORT: port, ISSUER_URL: issuer });
  metadataUrl = `${issuer}/.well-known/oauth-authorization-server`;
});

afterAll(() => auth.close());

test('the metadata names what a client needs, and nothing private', async () => {
  const response = await fetch(metadataUrl);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(response.headers.get('cache-control')).toBe('public, max-age=300');
  expect(await response.json()).toStrictEqual({
    issuer,
    authorization_endpoint: `${issuer}/oauth2/authorize`,
    authorization_response_iss_parameter_supported: true,
    code_challenge_methods_supported: ['S256'],
    token_endpoint: `${issuer}/oauth2/token`,
    revocation_endpoint: `${issuer}/oauth2/revoke`,
    scopes_supported: ['api', 'mcp', 'mcp:write', 'offline_access'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['client_credentials', 'authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
  });
});

test.each([
  ['client_secret_basic', oauth.ClientSecretBasic],
  ['client_secret_post', oauth.ClientSecretPost],
] as const)('openid-client discovers it and gets a token by %s', async (_name, authentication) => {
  const { client_id, client_secret } = addClient(auth.account);
  const server = await oauth.discovery(
    new URL(issuer),
    client_id,
    undefined,
    authentication(client_secret),
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to be noticed; this issuer has no TLS
    { algorithm: 'oauth2', execute: [oauth.allowInsecureRequests] },
  );
  const { access_token } = await oauth.clientCredentialsGrant(server, { scope: 'api' });
  const introspection = await postIntrospection(auth.service, { token: access_token });
  expect(await introspection.json()).toMatchObject({ active: true, client_id });
});

test('HEAD is answered like GET; other methods are 405', async () => {
  expect((await fetch(metadataUrl, { method: 'HEAD' })).status).toBe(200);
  const post = await fetch(metadataUrl, { method: 'POST' });
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

test('the Host header changes nothing', async () => {
  const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example' };
  expect(await (await fetch(metadataUrl, { headers })).text()).not.toContain('evil');
});

test('without ISSUER_URL there is none: 404 problem+json', async () => {
  const without = await startAuth();
  try {
    const response = await fetch(`${without.service.publicUrl}/.well-known/oauth-authorization-server`);
    expect([response.status, await response.json()]).toMatchObject([404, { code: 'not_found' }]);
  } finally {
    await without.close();
  }
});
