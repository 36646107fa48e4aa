import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import {
  connect,
  newActingApplication,
  newPkce,
  openAuthorize,
  parametersOf,
  requestIdOf,
  verificationOf,
} from '../../../test/suite/authorization.ts';
import type { ActingApplication } from '../../../test/suite/authorization.ts';
import { makeOwnApplication, newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { operate, operatorCredentials } from '../../../test/suite/operator.ts';
import type { Answer } from '../../../test/suite/operator.ts';

let suite: AccountUnderTest;
let person: Owner;

beforeAll(async () => {
  suite = await startAccount({ settings: { OPERATOR_CREDENTIALS: operatorCredentials } });
  person = await newOwner(suite);
});

afterAll(() => suite.close());

type Identified = Pick<ActingApplication, 'application_id'>;

const verify = async (
  application: Identified,
  { read, headers }: { read?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> => {
  const path = `/${String(application.application_id)}/verify`;
  const body = read ?? (await verificationOf(suite, application));
  return operate(suite.account, 'POST', path, body, headers);
};

const endVerification = ({ application_id }: Identified): Promise<Answer> =>
  operate(suite.account, 'DELETE', `/${String(application_id)}/verification`);

/** As the consent page says. */
async function isVerified(application: ActingApplication): Promise<unknown> {
  const id = await requestIdOf(await openAuthorize(suite.account, parametersOf(application, newPkce())));
  const { body } = await person.browser.request('GET', `/authorization-requests/${id}`);
  return (body['application'] as { is_verified: boolean }).is_verified;
}

async function entriesOf({ application_id }: Identified): Promise<string[]> {
  const entries = await suite
    .database('audit_log')
    .where({ application_id })
    .orderBy('audit_id')
    .pluck<string[]>('action');
  return entries.filter((action) => action.includes('verif'));
}

test('an operator verifies an application: the consent page, its developer and who has connected it see it', async () => {
  const application = await newActingApplication(suite);
  await connect(suite, application, person.browser);
  expect(await isVerified(application)).toBe(false);
  const verified = await verify(application);
  expect([verified.status, verified.body['verified_at']]).toEqual([200, expect.any(String)]);
  expect(await isVerified(application)).toBe(true);
  const { developer, path } = application;
  expect((await developer.browser.request('GET', path)).body['verified_at']).toEqual(expect.any(String));
  const { body } = await person.browser.request('GET', '/connections');
  expect(body['connections']).toMatchObject([{ name: 'Chart maker', is_verified: true }]);

  // Again, it changes nothing.
  expect((await verify(application)).body).toEqual(verified.body);
  expect((await endVerification(application)).body['verified_at']).toBeNull();
  expect(await isVerified(application)).toBe(false);
  expect((await endVerification(application)).status).toBe(200);
  expect(await entriesOf(application)).toEqual(['application_verified', 'application_verification_ended']);
});

test('a new lifespan keeps it; a new name, redirect URI or name of the developer ends it', async () => {
  const application = await newActingApplication(suite);
  const { developer, path } = application;
  const change = (changes: object) => developer.browser.request('PATCH', path, changes);
  const lose = async (way: () => Promise<{ status: number }>) => {
    await verify(application);
    expect((await way()).status).toBe(200);
    return !(await isVerified(application));
  };
  expect(await lose(() => change({ token_lifespan_sec: 7_200, name: 'Chart maker' }))).toBe(false);
  expect(await lose(() => change({ name: 'A bank' }))).toBe(true);
  const redirect_uris = [application.redirect_uri, 'https://elsewhere.example/'];
  expect(await lose(() => change({ redirect_uris }))).toBe(true);
  expect(await lose(() => developer.browser.request('PATCH', '/account', { name: 'A bank' }))).toBe(true);
  const { body } = await developer.browser.request('GET', path);
  expect(body['verified_at']).toBeNull();
  const changed = await suite
    .database('audit_log')
    .where({ application_id: application.application_id, action: 'application_changed' })
    .orderBy('audit_id', 'desc')
    .first<{ details: object }>('details');
  expect(changed.details).toMatchObject({ verification_ended: true });
});

test('needs a reason, an application of the type, and one that isn’t revoked', async () => {
  const application = await newActingApplication(suite);
  const unreasoned = await verify(application, { headers: { 'x-reason': '' } });
  expect([unreasoned.status, unreasoned.body['code']]).toEqual([400, 'invalid_request']);
  const other = await verify(await makeOwnApplication(person.browser));
  expect([other.status, other.body['code']]).toEqual([400, 'invalid_request']);
  await application.developer.browser.request('POST', `${application.path}/revoke`);
  expect((await verify(application)).body['code']).toBe('application_revoked');
  const read = { name: 'None', developer: null, redirect_uris: [] };
  expect((await verify({ application_id: 999_999 }, { read })).status).toBe(404);
});

test.each<[string, (application: ActingApplication) => Promise<{ status: number }>]>([
  ['name', ({ developer, path }) => developer.browser.request('PATCH', path, { name: 'A bank' })],
  [
    'redirect URIs',
    ({ developer, path }) =>
      developer.browser.request('PATCH', path, { redirect_uris: ['https://elsewhere.example/'] }),
  ],
  ['developer', ({ developer }) => developer.browser.request('PATCH', '/account', { name: 'A bank' })],
])('another %s than the operator has read is not verified', async (_what, change) => {
  const application = await newActingApplication(suite);
  const read = await verificationOf(suite, application);
  expect((await change(application)).status).toBe(200);
  const refused = await verify(application, { read });
  expect([refused.status, refused.body['code']]).toEqual([409, 'changed_meanwhile']);
  expect(await entriesOf(application)).toEqual([]);
});

test('a developer who takes another name while it is verified isn’t verified under it', async () => {
  for (let round = 0; round < 10; round += 1) {
    const application = await newActingApplication(suite);
    const read = await verificationOf(suite, application);
    await Promise.all([
      verify(application, { read }),
      application.developer.browser.request('PATCH', '/account', { name: 'A bank' }),
    ]);
    const { developer, path } = application;
    expect((await developer.browser.request('GET', path)).body['verified_at']).toBeNull();
  }
});
