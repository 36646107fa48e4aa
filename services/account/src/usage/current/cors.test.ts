import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';

const PAGE = 'https://app.example';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount({ settings: { CORS_ALLOWED_ORIGINS: PAGE } });
});

afterAll(() => suite.close());

function ask(path: string, method: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(suite.account.publicUrl + path, { method, headers: { origin: PAGE, ...headers } });
}

const preflight = {
  'access-control-request-method': 'GET',
  'access-control-request-headers': 'authorization',
};
const originOf = ({ headers }: Response) => headers.get('access-control-allow-origin');

test('a page that is let in may ask for usage, and read a refusal', async () => {
  const asked = await ask('/api/usage', 'OPTIONS', preflight);
  expect([asked.status, originOf(asked)]).toEqual([204, PAGE]);
  expect(asked.headers.get('access-control-allow-headers')).toBe('authorization');
  const refused = await ask('/api/usage', 'GET');
  expect([refused.status, originOf(refused), refused.headers.get('vary')]).toEqual([401, PAGE, 'Origin']);
});

test('another page may not, and the console is open to none', async () => {
  expect(
    originOf(await ask('/api/usage', 'OPTIONS', { ...preflight, origin: 'https://other.example' })),
  ).toBeNull();
  expect(originOf(await ask('/api/console/session', 'OPTIONS', preflight))).toBeNull();
});
