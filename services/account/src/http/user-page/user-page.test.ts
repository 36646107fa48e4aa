import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount();
});

afterAll(async () => {
  await suite.close();
});

describe('GET /user', () => {
  test('is a page that names what works today', async () => {
    const response = await fetch(`${suite.account.publicUrl}/user`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const page = await response.text();
    for (const path of ['/oauth2/token', '/graphql', '/api/usage']) expect(page).toContain(path);
  });

  test('its policy lets nothing load but its own style', async () => {
    const response = await fetch(`${suite.account.publicUrl}/user`);
    const style = /<style>([^<]*)<\/style>/.exec(await response.text())?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(response.headers.get('content-security-policy')?.split(';').toSorted()).toEqual([
      "base-uri 'none'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      `style-src 'sha256-${hash}'`,
    ]);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('x-powered-by')).toBeNull();
  });

  test.each(['/user/', '/user/api_v2/applications', '/user/../secret', '/users'])(
    '%s is not here yet: 404 problem+json',
    async (path) => {
      const response = await fetch(`${suite.account.publicUrl}${path}`);
      expect(response.status).toBe(404);
      expect(response.headers.get('content-type')).toBe('application/problem+json');
    },
  );

  test('another method is 405', async () => {
    const response = await fetch(`${suite.account.publicUrl}/user`, { method: 'POST', body: 'x' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});
