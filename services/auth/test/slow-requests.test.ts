import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { basicAuthorization } from '@tollgate/http/private-api-credential';
import { serviceCredential } from '@tollgate/testbed/service-process';
import { stalledRequest } from '@tollgate/testbed/stalled-request';
import { startAuth } from './suite/auth-under-test.ts';
import type { AuthUnderTest } from './suite/auth-under-test.ts';

let auth: AuthUnderTest;

beforeAll(async () => {
  auth = await startAuth({ REQUEST_IDLE_TIMEOUT_MS: '200' });
});

afterAll(() => auth.close());

test.each([
  ['publicUrl', '/oauth2/token'],
  ['publicUrl', '/oauth2/revoke'],
  ['privateUrl', '/oauth2/introspect'],
] as const)('a body that stalls on %s%s is 408', async (listener, path) => {
  const answer = await stalledRequest(auth.service[listener], path, {
    'content-type': 'application/x-www-form-urlencoded',
    authorization: basicAuthorization(serviceCredential),
  });
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  // One document for every listener: problem details, and RFC 6749's members for the public one.
  expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({
    code: 'request_timeout',
    error: 'invalid_request',
    error_description: expect.any(String),
  });
});
