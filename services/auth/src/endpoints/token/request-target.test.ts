import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { exchange } from '../../../test/differential/raw-request.ts';
import { addClient, startAuth } from '../../../test/suite/auth-under-test.ts';
import type { AuthUnderTest } from '../../../test/suite/auth-under-test.ts';
import { tokenForm } from '../../../test/suite/requests.ts';

const FORM = ['Content-Type', 'application/x-www-form-urlencoded'] as const;

let auth: AuthUnderTest;

beforeAll(async () => {
  auth = await startAuth();
});

afterAll(() => auth.close());

function ask(target: string, headers: (readonly [string, string])[] = []) {
  const body = new URLSearchParams(tokenForm(addClient(auth.account))).toString();
  return exchange(auth.service.publicUrl, { method: 'POST', target, headers: [FORM, ...headers], body });
}

test('a target in absolute form gets a token as the path does', async () => {
  expect((await ask('http://auth.example/oauth2/token')).status).toBe(200);
  expect((await ask('http://auth.example/oauth2/nothing')).status).toBe(404);
});

test.each([
  ['two Host fields', '/oauth2/token', [['Host', '127.0.0.1'] as const]],
  ['a target of another scheme', 'ftp://auth.example/oauth2/token', []],
  ['a target without a host', 'http:///oauth2/token', []],
])('%s: 400 invalid_request', async (_name, target, headers) => {
  expect(await ask(target, headers)).toMatchObject({ status: 400, error: 'invalid_request', noStore: true });
});
