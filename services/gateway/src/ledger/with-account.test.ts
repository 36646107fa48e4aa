import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import { freePort } from '@tollgate/stack/ports';
import { waitFor } from '@tollgate/stack/wait-for';
import { createDatabase } from '@tollgate/testbed/database';
import type { Database } from '@tollgate/testbed/database';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import { startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { countedUsage, insertPayer } from '../../test/suite/records/billing-records.ts';
import { call } from '../../test/suite/http-client.ts';
import { startAuthStandIn } from '../../test/suite/stand-ins.ts';
import type { AuthStandIn } from '../../test/suite/stand-ins.ts';
import { startServer } from '../../test/suite/upstreams/server.ts';
import type { TestServer } from '../../test/suite/upstreams/server.ts';

/** The gateway beside the real account over a real Postgres; auth and the upstream are stand-ins. */
let database: Database;
let redis: OwnRedis;
let auth: AuthStandIn;
let upstream: TestServer;
let account: ServiceProcess;
let gateway: ServiceProcess;

const POINTS = 7;

beforeAll(async () => {
  [database, redis, auth] = await Promise.all([createDatabase(), startRedis(), startAuthStandIn()]);
  upstream = await startServer((req, res) => {
    req.resume();
    res.writeHead(200, { 'x-points': String(POINTS) }).end('{}');
  });
  account = await startServiceProcess('account', {
    REDIS_URL: redis.url,
    DATABASE_URL: database.url,
    AUTH_PRIVATE_URL: `http://127.0.0.1:${String(await freePort())}`,
  });
  gateway = await startServiceProcess('gateway', {
    REDIS_URL: redis.url,
    AUTH_PRIVATE_URL: auth.url,
    AUTH_PUBLIC_URL: auth.url,
    ACCOUNT_PRIVATE_URL: account.privateUrl,
    ACCOUNT_PUBLIC_URL: account.publicUrl,
    UPSTREAM_URL: `${upstream.url}/graphql`,
  });
});

afterAll(async () => {
  await Promise.all([gateway.stop(), account.stop()]);
  await Promise.all([redis.stop(), auth.close(), upstream.close()]);
  await database.drop();
});

async function flush(): Promise<void> {
  const client = openRedis(redis.url, createLogger('suite', 'silent'));
  await waitFor(() => client.status === 'ready');
  await client.flushall();
  client.disconnect();
}

test('through kill -9 of Redis and a flush of it the limit holds to the point, and Postgres has each call once', async () => {
  const limit = 100 * POINTS;
  const { accountId, periodId } = await insertPayer(database.url, { points_limit: limit, session_limit: 50 });
  const countedPoints = async () => (await countedUsage(database.url)).totals.get(periodId)?.points ?? 0;
  const token = auth.issue({ accountId });
  let answered = 0;
  let exhausted = false;
  const query = async () => {
    const { status } = await call(`${gateway.publicUrl}/graphql`, {
      headers: { authorization: `Bearer ${token}` },
      body: '{}',
    });
    if (status === 200) answered += 1;
    if (status === 402) exhausted = true;
    return status;
  };
  await waitFor(async () => (await query()) === 200);
  const untilAnswered = (count: number) =>
    waitFor(
      async () => {
        await query();
        return answered >= count;
      },
      { intervalMs: 0 },
    );

  await untilAnswered(30);
  await redis.kill();
  await redis.restart();
  await untilAnswered(60);
  // Usage that account hasn't read yet would be lost with the flush.
  await waitFor(async () => (await countedPoints()) === answered * POINTS);
  await flush();
  await waitFor(
    async () => {
      await query();
      return exhausted;
    },
    { intervalMs: 0 },
  );
  expect(answered).toBe(100);
  await waitFor(async () => (await countedPoints()) === limit);
});
