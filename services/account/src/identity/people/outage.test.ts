import { expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { waitFor } from '@tollgate/stack/wait-for';
import { startPostgres } from '@tollgate/testbed/postgres';
import { becomeReady } from '@tollgate/testbed/service-process';
import {
  insertPerson,
  nthMail,
  openBrowser,
  signedInBrowser,
  startPeople,
} from '../../../test/suite/people.ts';

test('Postgres away: 503 and never a signed-out answer; then it goes on, with the session and the mails', async () => {
  const postgres = await startPostgres();
  const suite = await startPeople({ DATABASE_URL: postgres.url });
  try {
    const person = await insertPerson(suite.database);
    const browser = await signedInBrowser(suite.account, person);
    const { email, password } = person;
    await postgres.kill();
    const stranger = openBrowser(suite.account);
    const token = 'A'.repeat(43);
    for (const [who, method, path, body] of [
      [browser, 'GET', '/session', undefined],
      [browser, 'PATCH', '/account', { name: 'New' }],
      [browser, 'DELETE', '/sessions', undefined],
      [browser, 'GET', '/usage', undefined],
      [browser, 'GET', '/usage/pace', undefined],
      [stranger, 'POST', '/session', { email, password }],
      [stranger, 'POST', '/sign-up', { email: `${randomUUID()}@example.com`, name: 'New' }],
      [stranger, 'POST', '/verify-email', { token }],
      [stranger, 'POST', '/password-reset', { email }],
      [stranger, 'POST', '/password-reset/confirm', { token, password }],
    ] as const) {
      const answer = await who.request(method, path, body);
      expect([method, path, answer.status, answer.body['code']]).toEqual([
        method,
        path,
        503,
        'service_unavailable',
      ]);
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    await postgres.restart();
    await becomeReady(suite.account);
    expect((await browser.request('GET', '/session')).status).toBe(200);
    await waitFor(async () => (await stranger.request('POST', '/password-reset', { email })).status === 202);
    expect((await nthMail(suite.mailDirectory, email)).subject).toBe('[Tollgate] Reset your password');
  } finally {
    await suite.close();
    await postgres.stop();
  }
});
