import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { basicAuthorization } from '@tollgate/http/private-api-credential';
import { serviceCredential } from '@tollgate/testbed/service-process';
import { stalledRequest } from '@tollgate/testbed/stalled-request';
import { startPeople } from './suite/people.ts';
import type { PeopleUnderTest } from './suite/people.ts';

let suite: PeopleUnderTest;

beforeAll(async () => {
  suite = await startPeople({ REQUEST_IDLE_TIMEOUT_MS: '200' });
});

afterAll(async () => {
  await suite.close();
});

test.each([
  ['publicUrl', '/api/console/session'],
  ['privateUrl', '/private/manual-tokens/uses'],
] as const)('a body that stalls on %s%s is 408', async (listener, path) => {
  const answer = await stalledRequest(suite.account[listener], path, {
    'content-type': 'application/json',
    authorization: basicAuthorization(serviceCredential),
  });
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({
    code: 'request_timeout',
    status: 408,
  });
});
