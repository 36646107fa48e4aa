import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { freePort } from '@tollgate/stack/ports';
import { withClient } from '@tollgate/stack/postgres';
import { waitFor } from '@tollgate/stack/wait-for';
import { startPostgres } from '@tollgate/testbed/postgres';
import type { OwnPostgres } from '@tollgate/testbed/postgres';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { insertPayer } from '../../../test/suite/records/billing-records.ts';
import { call } from '../../../test/suite/http-client.ts';
import type { Answer } from '../../../test/suite/http-client.ts';
import { metricOf } from '../../../test/suite/metric.ts';
import { startAuthStandIn } from '../../../test/suite/stand-ins.ts';
import type { AuthStandIn } from '../../../test/suite/stand-ins.ts';
import { startServer } from '../../../test/suite/upstreams/server.ts';
import type { TestServer } from '../../../test/suite/upstreams/server.ts';

/** No answered call waited for account: caches expire within every outage, and a request outlasts every test. */
const CACHE_TTL_MS = 100;
const QUESTION_MS = 60_000;
const STALE_IF_ERROR_MS = 3_000;

let postgres: OwnPostgres;
let redis: OwnRedis;
let auth: AuthStandIn;
let upstream: TestServer;
/** The gateways call the first; the second stands for account's other replicas. */
let account: ServiceProcess;
let otherAccount: ServiceProcess;
let patient: ServiceProcess;
let gateway: ServiceProcess;
let bounded: ServiceProcess;

beforeAll(async () => {
  [postgres, redis, auth] = await Promise.all([startPostgres(), startRedis(), startAuthStandIn()]);
  upstream = await startServer((req, res) => {
    req.resume();
    res.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  const accountEnv = {
    REDIS_URL: redis.url,
    DATABASE_URL: postgres.url,
    AUTH_PRIVATE_URL: `http://127.0.0.1:${String(await freePort())}`,
  };
  [account, otherAccount] = await Promise.all([
    startServiceProcess('account', accountEnv),
    startServiceProcess('account', accountEnv),
  ]);
  const startGateway = (env: Record<string, string>) =>
    startServiceProcess('gateway', {
      REDIS_URL: redis.url,
      AUTH_PRIVATE_URL: auth.url,
      AUTH_PUBLIC_URL: auth.url,
      ACCOUNT_PRIVATE_URL: account.privateUrl,
      ACCOUNT_PUBLIC_URL: account.publicUrl,
      UPSTREAM_URL: `${upstream.url}/graphql`,
      ENTITLEMENT_CACHE_TTL_MS: String(CACHE_TTL_MS),
      ...env,
    });
  [patient, gateway, bounded] = await Promise.all([
    startGateway({ PRIVATE_API_TIMEOUT_MS: String(QUESTION_MS) }),
    startGateway({}),
    startGateway({ ENTITLEMENT_STALE_IF_ERROR_MS: String(STALE_IF_ERROR_MS) }),
  ]);
});

afterEach(async () => {
  account.thaw();
  await becomeReady(account);
});

afterAll(async () => {
  await Promise.all([patient, gateway, bounded, account, otherAccount].map((service) => service.stop()));
  await Promise.all([postgres.stop(), redis.stop(), auth.close(), upstream.close()]);
});

type Caller = { accountId: number; token: string };

async function newCaller(
  limits: Readonly<Record<string, number>> = { points_limit: 1_000_000 },
): Promise<Caller> {
  const { accountId } = await insertPayer(postgres.url, limits);
  // The inserted rows are a change, too: told late, it would drop what the test relies on.
  await waitFor(() =>
    withClient(postgres.url, async (client) => {
      const { rowCount } = await client.query('SELECT 1 FROM entitlement_outbox');
      return rowCount === 0;
    }),
  );
  return { accountId, token: auth.issue({ accountId }) };
}

function query({ publicUrl }: ServiceProcess, { token }: Caller): Promise<Answer> {
  return call(`${publicUrl}/graphql`, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"query":"{ __typename }"}',
  });
}

async function untilStatus(gateway: ServiceProcess, caller: Caller, status: number): Promise<void> {
  await waitFor(async () => (await query(gateway, caller)).status === status, {
    what: `a call to be answered with ${String(status)}`,
  });
}

const staleOf = (gateway: ServiceProcess) =>
  metricOf(gateway, 'tollgate_entitlements_total', { outcome: 'stale' });

/** Calls until that many were served without account; all of them are answered. */
async function passStale(gateway: ServiceProcess, caller: Caller, calls = 20): Promise<void> {
  const before = await staleOf(gateway);
  do expect((await query(gateway, caller)).status).toBe(200);
  while ((await staleOf(gateway)) < before + calls);
}

const linesWith = ({ logs }: ServiceProcess, text: string) =>
  logs()
    .split('\n')
    .filter((line) => line.includes(text)).length;

async function setBlocked({ accountId }: Caller, isBlocked: boolean): Promise<void> {
  await withClient(postgres.url, (client) =>
    client.query('UPDATE accounts SET blocked_at = CASE WHEN $2 THEN now() END WHERE account_id = $1', [
      accountId,
      isBlocked,
    ]),
  );
}

test('account frozen: known callers pass at once, one line says so, and one that it is back', async () => {
  const [known, another] = [await newCaller(), await newCaller()];
  for (const caller of [known, another]) expect((await query(patient, caller)).status).toBe(200);
  account.freeze();
  await passStale(patient, known);
  await passStale(patient, another);
  expect(linesWith(patient, 'known entitlements are served meanwhile')).toBe(1);
  account.thaw();
  await waitFor(async () => {
    await query(patient, known);
    return linesWith(patient, 'account answers again') === 1;
  });
  const stale = await staleOf(patient);
  for (let calls = 0; calls < 5; calls += 1) expect((await query(patient, known)).status).toBe(200);
  expect(await staleOf(patient)).toBe(stale);
});

test.each([
  ['account killed', () => account.kill(), () => account.restart()],
  ['Postgres killed', () => postgres.kill(), () => postgres.restart()],
])('%s: known callers pass, one that was never seen gets 503', async (_name, away, back) => {
  const [known, unknown] = [await newCaller(), await newCaller()];
  expect((await query(gateway, known)).status).toBe(200);
  await away();
  await passStale(gateway, known, 5);
  expect((await query(gateway, unknown)).status).toBe(503);
  await back();
  await untilStatus(gateway, unknown, 200);
});

test('a change that another account publishes arrives: 503, and the new state when account is back', async () => {
  const [blocked, other] = [await newCaller(), await newCaller()];
  for (const caller of [blocked, other]) expect((await query(gateway, caller)).status).toBe(200);
  account.freeze();
  await passStale(gateway, blocked, 5);
  await setBlocked(blocked, true);
  await untilStatus(gateway, blocked, 503);
  expect((await query(gateway, other)).status).toBe(200);
  account.thaw();
  await untilStatus(gateway, blocked, 403);
});

test('a refusal is never served stale: 503', async () => {
  const caller = await newCaller();
  await setBlocked(caller, true);
  await untilStatus(gateway, caller, 403);
  account.freeze();
  await untilStatus(gateway, caller, 503);
});

test('after its time a known entitlement is not served any more: 503', async () => {
  const caller = await newCaller();
  expect((await query(bounded, caller)).status).toBe(200);
  account.freeze();
  await passStale(bounded, caller, 1);
  await untilStatus(bounded, caller, 503);
  account.thaw();
  await untilStatus(bounded, caller, 200);
});

test('where the setting is 0, nothing is served without account', async () => {
  await bounded.stop();
  await bounded.restart({ ENTITLEMENT_STALE_IF_ERROR_MS: '0' });
  const caller = await newCaller();
  await untilStatus(bounded, caller, 200);
  account.freeze();
  await untilStatus(bounded, caller, 503);
  expect(await staleOf(bounded)).toBe(0);
});

test('Redis restarted meanwhile may have lost a change: 503 until account is back', async () => {
  const caller = await newCaller({});
  expect((await query(gateway, caller)).status).toBe(200);
  account.freeze();
  await passStale(gateway, caller, 5);
  await redis.stop();
  await redis.restart();
  await becomeReady(gateway);
  const served = await staleOf(gateway);
  expect((await query(gateway, caller)).status).toBe(503);
  expect((await query(gateway, caller)).status).toBe(503);
  expect(await staleOf(gateway)).toBe(served);
  account.thaw();
  await untilStatus(gateway, caller, 200);
});
