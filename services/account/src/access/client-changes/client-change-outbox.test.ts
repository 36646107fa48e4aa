import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { startPostgres } from '@tollgate/testbed/postgres';
import { becomeReady } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { insertAccount } from '../../../test/suite/database/records.ts';
import { makeApplication, operate } from '../../../test/suite/operator.ts';
import { startOperatedAccount } from '../../../test/suite/operated-account.ts';
import type { OperatedAccount } from '../../../test/suite/operated-account.ts';

let suite: OperatedAccount;

beforeAll(async () => {
  suite = await startOperatedAccount();
});

afterEach(async () => {
  suite.auth.moodOf = () => 'well';
  await waitFor(async () => (await waiting()) === 0);
});

afterAll(async () => {
  await suite.close();
});

const toldOf = (clientId: string) => suite.auth.told.filter(({ client_id }) => client_id === clientId);
const waiting = async () => (await suite.database('client_change_outbox').select()).length;

/** Resolves once auth has had a request more than now. */
function authIsAsked(): () => Promise<unknown> {
  const before = suite.auth.requests();
  return () => waitFor(() => suite.auth.requests() > before);
}

async function revoke(process: OperatedAccount['account'], path: string) {
  const { status, body } = await operate(process, 'POST', `${path}/revoke`);
  return { status, delivered: body['delivered'] };
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${suite.account.privateUrl}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(name));
  return Number(line?.split(' ').at(-1) ?? 0);
}

test('auth away: every cache is told before the answer, and auth when it is back', async () => {
  const { path, client_id } = await makeApplication(suite.account, suite.account_id);
  const attempts = 'tollgate_client_change_outbox_deliveries_total{outcome=';
  const before = {
    delivered: await metric(`${attempts}"delivered"`),
    failed: await metric(`${attempts}"failed"`),
  };
  await suite.auth.goAway();
  const { status, delivered } = await revoke(suite.account, path);
  expect([status, delivered]).toEqual([200, true]);
  const renamed = await operate(suite.account, 'PATCH', path, { name: 'Renamed' });
  // A change of name is in force only when auth has it.
  expect(renamed.body['delivered']).toBe(false);
  await waitFor(async () => (await metric('tollgate_client_change_outbox_pending')) === 2);
  await waitFor(async () => (await metric('tollgate_client_change_outbox_oldest_age_seconds')) > 0.5);
  await suite.auth.comeBack();
  await waitFor(() => toldOf(client_id).length > 0);
  expect(toldOf(client_id)[0]).toEqual({ client_id, revocation_epoch: 1 });
  await waitFor(async () => (await waiting()) === 0);
  await waitFor(async () => (await metric('tollgate_client_change_outbox_pending')) === 0);
  expect(await metric(`${attempts}"delivered"`)).toBe(before.delivered + 2);
  expect(await metric(`${attempts}"failed"`)).toBeGreaterThan(before.failed + 1);
});

test('an auth that never answers does not hold the operator up', async () => {
  const { path } = await makeApplication(suite.account, suite.account_id);
  suite.auth.moodOf = () => 'silent';
  expect(await revoke(suite.account, path)).toEqual({ status: 200, delivered: true });
});

test('a row that auth refuses, and one that it never answers, hold back no other', async () => {
  const bad = await makeApplication(suite.account, suite.account_id);
  const mute = await makeApplication(suite.account, suite.account_id);
  suite.auth.moodOf = (id) => (id === bad.client_id ? 'failing' : id === mute.client_id ? 'silent' : 'well');
  await Promise.all([revoke(suite.account, bad.path), revoke(suite.account, mute.path)]);
  for (let count = 0; count < 5; count += 1) {
    const { path } = await makeApplication(suite.account, suite.account_id);
    expect(await revoke(suite.account, path)).toMatchObject({ delivered: true });
  }
  expect(await waiting()).toBe(2);
  suite.auth.moodOf = () => 'well';
  await waitFor(() => toldOf(bad.client_id).length > 0 && toldOf(mute.client_id).length > 0);
});

test('account killed between commit and delivery: its next start delivers', async () => {
  const { path, client_id } = await makeApplication(suite.account, suite.account_id);
  const isAsked = authIsAsked();
  suite.auth.moodOf = () => 'silent';
  const lost = revoke(suite.account, path).catch(() => undefined);
  await isAsked();
  await suite.account.kill();
  await lost;
  expect(await waiting()).toBe(1);
  suite.auth.moodOf = () => 'well';
  await suite.account.restart();
  await waitFor(() => toldOf(client_id).length > 0);
  await waitFor(async () => (await waiting()) === 0);
});

test('a stop ends the process in order while auth does not answer, and the row stays', async () => {
  const { path } = await makeApplication(suite.account, suite.account_id);
  const isAsked = authIsAsked();
  suite.auth.moodOf = () => 'silent';
  const answer = revoke(suite.account, path);
  await isAsked();
  const exit = await suite.account.stop();
  expect(exit).toMatchObject({ code: 0 });
  expect(await answer).toMatchObject({ status: 200, delivered: true });
  expect(await waiting()).toBe(1);
  suite.auth.moodOf = () => 'well';
  await suite.account.restart();
  await waitFor(async () => (await waiting()) === 0);
});

/** From here on there are two replicas. */
let replica: ServiceProcess;

test('account killed between commit and delivery: another replica delivers', async () => {
  replica = await suite.startReplica();
  const { path, client_id } = await makeApplication(suite.account, suite.account_id);
  const isAsked = authIsAsked();
  suite.auth.moodOf = () => 'silent';
  const lost = revoke(suite.account, path).catch(() => undefined);
  await isAsked();
  await suite.account.kill();
  await lost;
  suite.auth.moodOf = () => 'well';
  await waitFor(() => toldOf(client_id).length > 0);
  await waitFor(async () => (await waiting()) === 0);
  expect((await fetch(`${replica.privateUrl}/health/live`)).status).toBe(200);
  await suite.account.restart();
});

test('a hundred rows that an outage has left are delivered by two replicas together, all of them', async () => {
  const applications = [];
  // An account has a hundred at most.
  const account_id = await insertAccount(suite.database);
  for (let count = 0; count < 100; count += 1) {
    applications.push(await makeApplication(suite.account, account_id));
  }
  await suite.auth.goAway();
  await Promise.all(
    applications.map(({ path }, index) =>
      // Some get 503 while no connection of the pool is free, and are repeated.
      waitFor(async () => (await revoke(index % 2 === 0 ? suite.account : replica, path)).status === 200),
    ),
  );
  expect(await waiting()).toBe(100);
  await suite.auth.comeBack();
  await waitFor(async () => (await waiting()) === 0);
  for (const { client_id } of applications) expect(toldOf(client_id)).not.toEqual([]);
});

test('Postgres away: changes are 503, and what was committed before is delivered when it is back', async () => {
  const postgres = await startPostgres();
  const own = await startOperatedAccount({ databaseUrl: postgres.url });
  try {
    const { path, client_id } = await makeApplication(own.account, own.account_id);
    own.auth.moodOf = () => 'failing';
    expect(await revoke(own.account, path)).toMatchObject({ status: 200, delivered: true });
    await postgres.kill();
    for (const [method, url, body] of [
      ['POST', '', { account_id: 1, name: 'App', type: 'manual', token_lifespan_sec: 60 }],
      ['GET', path, undefined],
      ['POST', `${path}/revoke`, undefined],
      ['POST', `${path}/rotate-secret`, { overlap_sec: 0 }],
      ['DELETE', path, undefined],
    ] as const) {
      const answer = await operate(own.account, method, url, body);
      expect([method, url, answer.status, answer.body['code']]).toEqual([
        method,
        url,
        503,
        'service_unavailable',
      ]);
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    }
    const said = () => own.account.logs().split('the client change outbox cannot reach Postgres').length - 1;
    await waitFor(() => said() > 0);
    own.auth.moodOf = () => 'well';
    await postgres.restart();
    await becomeReady(own.account);
    await waitFor(() => own.auth.told.some((one) => one.client_id === client_id));
    await waitFor(async () => (await operate(own.account, 'POST', `${path}/revoke`)).status === 200);
    const readAgain = () =>
      own.account.logs().split('the client change outbox is being read again').length - 1;
    await waitFor(() => readAgain() > 0);
    // Once for each outage, of which a busy machine may see two: not at each attempt.
    expect(said()).toBe(readAgain());
  } finally {
    await own.close();
    await postgres.stop();
  }
});
