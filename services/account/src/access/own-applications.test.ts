import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startAuthStandIn } from '../../test/suite/stand-ins/auth-stand-in.ts';
import type { AuthStandIn } from '../../test/suite/stand-ins/auth-stand-in.ts';
import { issueOwnToken, makeOwnApplication, newOwner } from '../../test/suite/console.ts';
import { startPeople } from '../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../test/suite/people.ts';

let auth: AuthStandIn;
let suite: PeopleUnderTest;

beforeAll(async () => {
  auth = await startAuthStandIn();
  suite = await startPeople({ AUTH_PRIVATE_URL: auth.url });
});

afterAll(async () => {
  await suite.close();
  await auth.close();
});

test('ends the overlap of a rotation early: auth is told once, and the current secret stays', async () => {
  const { browser } = await newOwner(suite);
  const { path, application_id, client_id } = await makeOwnApplication(browser);
  await browser.request('POST', `${path}/rotate-secret`, { overlap_sec: 3_600 });
  const before = (await browser.request('GET', path)).body['secrets'] as unknown[];
  expect(before).toHaveLength(2);
  const toldBefore = auth.told.length;
  for (let time = 0; time < 2; time += 1) {
    const { status, body } = await browser.request('DELETE', `${path}/previous-secret`);
    expect([status, body['delivered'], body['status']]).toEqual([200, true, 'active']);
  }
  expect((await browser.request('GET', path)).body['secrets']).toEqual([before[0]]);
  expect(auth.told.slice(toldBefore)).toEqual([{ client_id, revocation_epoch: 0 }]);
  const log = await suite.database('audit_log').where({ application_id, action: 'previous_secret_ended' });
  expect(log).toHaveLength(1);
});

test('is found by a part of its name or client id, in either case; says when it was used, and how many tokens it has', async () => {
  const { browser } = await newOwner(suite);
  const nightly = await makeOwnApplication(browser, { name: '100% Nightly_Report' });
  const other = await makeOwnApplication(browser, { name: 'Other' });
  const found = async (search: string) => {
    const { body } = await browser.request('GET', `/applications?search=${encodeURIComponent(search)}`);
    return (body['applications'] as { name: string }[]).map(({ name }) => name);
  };
  expect(await found('nightly_r')).toEqual(['100% Nightly_Report']);
  expect(await found(' % n')).toEqual(['100% Nightly_Report']);
  expect(await found('%r')).toEqual([]);
  expect(await found(other.client_id.slice(2, 20).toUpperCase())).toEqual(['Other']);
  expect(await found('')).toEqual(['Other', '100% Nightly_Report']);
  expect((await browser.request('GET', `/applications?search=${'x'.repeat(201)}`)).status).toBe(400);

  const last_used_at = '2026-11-01T12:00:00.000Z';
  await suite
    .database('application_uses')
    .insert({ application_id: nightly.application_id, last_used_at })
    .onConflict('application_id')
    .merge();
  const { path: revoked } = await issueOwnToken(browser, nightly);
  await browser.request('POST', `${revoked}/revoke`);
  await issueOwnToken(browser, nightly);
  expect((await browser.request('GET', nightly.path)).body).toMatchObject({
    last_used_at,
    active_manual_tokens: 1,
  });
});
