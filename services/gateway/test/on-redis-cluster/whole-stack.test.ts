import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createLogger } from '@tollgate/log';
import { mastersOf, openRedis } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { FAILOVER, startRedisCluster } from '@tollgate/testbed/redis-topologies';
import type { RedisCluster } from '@tollgate/testbed/redis-topologies';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { startGraphqlUpstream } from '../suite/upstreams/graphql-upstream.ts';
import type { GraphqlUpstream } from '../suite/upstreams/graphql-upstream.ts';
import { call } from '../suite/http-client.ts';
import type { Answer } from '../suite/http-client.ts';
import { openReady } from '../suite/raw-socket.ts';
import { startServer } from '../suite/upstreams/server.ts';
import type { TestServer } from '../suite/upstreams/server.ts';
import { startWholeStack } from '../suite/whole-stack.ts';
import type { Payer, WholeStack } from '../suite/whole-stack.ts';

/** All three services, with two gateways, over a Redis Cluster of three masters with a replica each. */
let cluster: RedisCluster;
let http: TestServer;
let graphql: GraphqlUpstream;
let stack: WholeStack;

const POINTS = 7;
const ANSWER = '{"data":{}}';
/** So many consecutive account ids have shards on all three masters. */
const PAYERS = 12;
/** So many that each master has tokens of some. */
const PAYERS_ON_ALL_MASTERS = 24;

/** Answered calls by the account id that the upstream received. */
const answered = new Map<number, number>();

beforeAll(async () => {
  http = await startServer((req, res) => {
    req.resume().once('end', () => {
      const accountId = Number(req.headers['x-account-id']);
      answered.set(accountId, (answered.get(accountId) ?? 0) + 1);
      // With its length known, the response is held back as a whole until it is recorded.
      res.writeHead(200, { 'x-points': String(POINTS), 'content-length': ANSWER.length }).end(ANSWER);
    });
  });
  graphql = await startGraphqlUpstream();
  cluster = await startRedisCluster({ replicas: true });
  stack = await startWholeStack(cluster, { httpUrl: `${http.url}/graphql`, webSocketUrl: graphql.url });
});

afterAll(async () => {
  await stack.stop();
  await Promise.all([cluster.stop(), graphql.close(), http.close()]);
});

beforeEach(() => {
  answered.clear();
});

function query({ publicUrl }: ServiceProcess, { token }: Payer): Promise<Answer> {
  return call(`${publicUrl}/graphql`, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"query":"{ __typename }"}',
  });
}

function atBoth(payer: Payer): Promise<number[]> {
  return Promise.all(stack.gateways.map(async (gateway) => (await query(gateway, payer)).status));
}

async function requestsCounted(payer: Payer): Promise<number> {
  return (await stack.usage(payer)).billing_period.usage.requests_usage;
}

test('calls of payers on all masters through both gateways are in the usage, each once', async () => {
  const payers = await stack.addPayers(PAYERS_ON_ALL_MASTERS, {
    points_limit: 1_000,
    rate_limit: 600,
    session_limit: 10,
  });
  for (const payer of payers) expect(await atBoth(payer)).toEqual([200, 200]);
  for (const payer of payers) {
    await waitFor(async () => (await requestsCounted(payer)) >= 2);
    expect((await stack.usage(payer)).billing_period.usage).toMatchObject({
      requests_usage: 2,
      points_usage: 2 * POINTS,
    });
  }
  const store = openRedis(cluster.url, createLogger('suite', 'silent'));
  try {
    await waitFor(() => store.status === 'ready');
    const masters = mastersOf(store);
    expect(masters).toHaveLength(3);
    for (const master of masters) {
      expect(await master.keys('auth:*')).not.toEqual([]);
      expect(await master.keys('{s*}:usage')).not.toEqual([]);
    }
  } finally {
    store.disconnect();
  }
});

test('points and rate are held exactly over both gateways', async () => {
  const [frugal] = await stack.addPayers(1, { points_limit: 5 * POINTS });
  const [hasty] = await stack.addPayers(1, { points_limit: 1_000_000, rate_limit: 10 });
  if (frugal === undefined || hasty === undefined) throw new Error('no payers');
  const statuses: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    for (const gateway of stack.gateways) statuses.push((await query(gateway, frugal)).status);
  }
  expect(statuses).toEqual([200, 200, 200, 200, 200, 402, 402, 402]);
  const burst = (await Promise.all(Array.from({ length: 12 }, () => atBoth(hasty)))).flat();
  // A rate of ten a minute: one more accrues every six seconds.
  expect(burst.filter((status) => status === 429).length).toBeGreaterThanOrEqual(12);
  expect(burst.filter((status) => status === 200).length).toBeGreaterThanOrEqual(10);
});

test('a revoked application’s cached token and a blocked account are refused at both gateways', async () => {
  const payers = await stack.addPayers(2, { points_limit: 1_000 });
  const [revoked, blocked] = payers;
  if (revoked === undefined || blocked === undefined) throw new Error('no payers');
  for (const payer of payers) expect(await atBoth(payer)).toEqual([200, 200]);
  await stack.operate('POST', `/private/applications/${String(revoked.applicationId)}/revoke`);
  await waitFor(async () => (await atBoth(revoked)).every((status) => status === 401));
  await stack.block(blocked);
  await waitFor(async () => (await atBoth(blocked)).every((status) => status === 403));
});

test('a subscription over a WebSocket is metered', async () => {
  const [payer] = await stack.addPayers(1, { points_limit: 1_000, subscription_limit: 1 });
  if (payer === undefined) throw new Error('no payer');
  const raw = await openReady(`${stack.gateways[1].publicUrl.replace('http', 'ws')}/graphql`, payer.token);
  const TICKS = { query: 'subscription { ticks }' };
  raw.send({ id: 'a', type: 'subscribe', payload: TICKS });
  await raw.message({ type: 'next', id: 'a' });
  raw.send({ id: 'b', type: 'subscribe', payload: TICKS });
  await raw.message({ type: 'error', id: 'b' });
  raw.send({ id: 'a', type: 'complete' });
  await waitFor(async () => (await stack.usage(payer)).billing_period.usage.traffic_bytes_usage > 0);
  expect(await requestsCounted(payer)).toBe(1);
  raw.socket.close();
});

test('a master is killed under load: 503 meanwhile, then all by itself, and the usage is what was answered', async () => {
  const payers = await stack.addPayers(PAYERS, { points_limit: 1_000_000, session_limit: 50 });
  const seen = new Map<number, number>(payers.map(({ accountId }) => [accountId, 0]));
  const refusals = new Set<number>();
  let over = false;
  const callers = payers.flatMap((payer) =>
    stack.gateways.map(async (gateway) => {
      while (!over) {
        const { status } = await query(gateway, payer);
        if (status === 200) seen.set(payer.accountId, (seen.get(payer.accountId) ?? 0) + 1);
        else refusals.add(status);
      }
    }),
  );
  const eachHas = (more: number, before: ReadonlyMap<number, number>) => () =>
    [...seen].every(([accountId, count]) => count >= (before.get(accountId) ?? 0) + more);
  try {
    await waitFor(eachHas(5, new Map()));
    await cluster.nodes[0]?.kill();
    await waitFor(() => refusals.size > 0);
    await waitFor(eachHas(5, new Map(seen)), FAILOVER);
  } finally {
    over = true;
    await Promise.all(callers);
  }
  expect([...refusals]).toEqual([503]);
  for (const payer of payers) {
    const served = answered.get(payer.accountId) ?? 0;
    // The upstream's work counts, even if Redis was away too long for its response to be passed on.
    expect(served).toBeGreaterThanOrEqual(seen.get(payer.accountId) ?? 0);
    await waitFor(async () => (await requestsCounted(payer)) >= served);
    expect((await stack.usage(payer)).billing_period.usage).toMatchObject({
      requests_usage: served,
      points_usage: served * POINTS,
    });
  }
});
