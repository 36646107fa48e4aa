import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePort } from '@tollgate/stack/ports';
import { addClient, startAuth } from '../../test/suite/auth-under-test.ts';
import type { AuthUnderTest, TestClient } from '../../test/suite/auth-under-test.ts';
import { postIntrospection, postToken, postTokenInChunks, tokenForm } from '../../test/suite/requests.ts';

/** Pages of any origin may use a public client, which has no secret; nothing lets a page keep one. */

const ORIGIN = { origin: 'https://page.example' };
const PATHS = [
  '/oauth2/token',
  '/oauth2/revoke',
  '/oauth2/register',
  '/.well-known/oauth-authorization-server',
];

let auth: AuthUnderTest;
let publicClient: TestClient;

beforeAll(async () => {
  const port = String(await freePort());
  auth = await startAuth({
    PUBLIC_PORT: port,
    ISSUER_URL: `http://127.0.0.1:${port}`,
    FAILED_ATTEMPTS_PER_ADDRESS: '1000000',
    FAILED_ATTEMPTS_PER_CLIENT_AND_ADDRESS: '1000000',
  });
  publicClient = addClient(auth.account, { authorization: 'public', secrets: [] });
});

afterAll(() => auth.close());

const allowed = ({ headers }: Response) => headers.get('access-control-allow-origin');

function refreshForm(): Record<string, string> {
  return { grant_type: 'refresh_token', refresh_token: 'unknown', client_id: publicClient.client_id };
}

describe('a page of another origin', () => {
  test('reads what a public client is answered, errors too', async () => {
    const answer = await postToken(auth.service, refreshForm(), ORIGIN);
    expect([answer.status, allowed(answer)]).toEqual([400, '*']);
    expect(answer.headers.get('access-control-expose-headers')).toContain('Retry-After');
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
    const revoked = await fetch(`${auth.service.publicUrl}/oauth2/revoke`, {
      method: 'POST',
      headers: ORIGIN,
      body: new URLSearchParams({ token: 'unknown', client_id: publicClient.client_id }),
    });
    expect([revoked.status, allowed(revoked)]).toEqual([200, '*']);
  });

  test('reads the metadata', async () => {
    const answer = await fetch(`${auth.service.publicUrl}/.well-known/oauth-authorization-server`);
    expect([answer.status, allowed(answer)]).toEqual([200, '*']);
  });

  test('reads nothing that a client secret has bought, however it is sent', async () => {
    const client = addClient(auth.account);
    const { client_id, client_secret, ...form } = tokenForm(client);
    const basic = `Basic ${Buffer.from(`${client_id ?? ''}:${client_secret ?? ''}`).toString('base64')}`;
    const answers = await Promise.all([
      postToken(auth.service, tokenForm(client), ORIGIN),
      postToken(auth.service, form, { ...ORIGIN, authorization: basic }),
      postToken(auth.service, { ...tokenForm(client), client_secret: 'wrong' }, ORIGIN),
    ]);
    expect(answers.map((answer) => [answer.status, allowed(answer)])).toEqual([
      [200, null],
      [200, null],
      [401, null],
    ]);
  });

  test('may ask first, and is never allowed an Authorization header or a cookie', async () => {
    for (const path of PATHS) {
      const answer = await fetch(`${auth.service.publicUrl}${path}`, {
        method: 'OPTIONS',
        headers: {
          ...ORIGIN,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization,mcp-protocol-version',
        },
      });
      expect([path, answer.status, allowed(answer)]).toEqual([path, 204, '*']);
      // `*` names every field but Authorization (Fetch, section 4.8).
      expect(answer.headers.get('access-control-allow-headers')).toBe('*');
      expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
    }
  });

  test('reads nothing on the private listener', async () => {
    const answer = await postIntrospection(auth.service, { token: 'unknown' }, ORIGIN);
    expect([answer.status, allowed(answer)]).toEqual([200, null]);
  });
});

test('programs without an origin get no such header', async () => {
  const answers = [
    await postToken(auth.service, refreshForm()),
    await postTokenInChunks(auth.service, refreshForm()),
  ];
  expect(answers.map(allowed)).toEqual([null, null]);
});

test('an OPTIONS that isn’t a preflight is 405 as before', async () => {
  const answer = await fetch(`${auth.service.publicUrl}/oauth2/token`, { method: 'OPTIONS' });
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
});
