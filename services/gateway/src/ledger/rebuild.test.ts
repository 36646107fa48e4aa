import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  usageShard,
  usageStreamKey,
  usageTrimmedKey,
  usageVersionKey,
} from '@tollgate/contracts/usage-stream';
import type { Limits } from '@tollgate/contracts/entitlement';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { unlessBusy } from '@tollgate/testbed/unless-busy';
import { leasesKey, rateKey } from './keys.ts';
import { startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest, Handler } from '../../test/suite/gateway.ts';
import { withLimits } from '../../test/suite/stand-ins.ts';

let gateway: GatewayUnderTest;
let redis: RedisConnection;
let nextAccount = 7_000;

beforeAll(async () => {
  gateway = await startGateway();
  redis = openRedis(gateway.redis.url, createLogger('suite', 'silent'));
  await waitFor(() => redis.status === 'ready');
  gateway.upstream(answerOfTen);
});

const answerOfTen: Handler = (_req, res) => {
  res.writeHead(200, { 'x-points': '10' }).end('{}');
};

afterAll(async () => {
  redis.disconnect();
  await gateway.stop();
});

function caller(points_limit: number, more: Partial<Limits> = {}) {
  const accountId = (nextAccount += 1);
  gateway.account.entitle(accountId, withLimits(accountId, { points_limit, ...more }));
  const shard = usageShard(accountId);
  return {
    accountId,
    periodId: accountId * 10,
    token: gateway.auth.issue({ accountId }),
    stream: usageStreamKey(shard),
    trimmed: usageTrimmedKey(shard),
    version: usageVersionKey(shard, accountId * 10),
  };
}

/** The remaining points that a response states. */
async function left(token: string): Promise<number> {
  const answer = await unlessBusy(() => gateway.query({ token }));
  expect(answer.status).toBe(200);
  return Number(answer.headers['x-points-remaining']);
}

async function restart(): Promise<void> {
  await gateway.redis.restart();
  await waitFor(async () => (await redis.ping().catch(() => undefined)) === 'PONG');
}

async function lastEntry(stream: string) {
  const [entry] = await redis.xrevrange(stream, '+', '-', 'COUNT', 1);
  return { id: entry?.[0] ?? '', body: entry?.[1][1] ?? '' };
}

test('kill -9 of Redis and a restart: nothing of what was used is forgotten', async () => {
  const { token } = caller(1_000);
  expect(await left(token)).toBe(990);
  expect(await left(token)).toBe(980);
  await gateway.redis.kill();
  await restart();
  expect(await left(token)).toBe(970);
});

test('Redis syncs the disk for usage, not for the rate and the slots of calls: these a restart forgets', async () => {
  const { token, accountId } = caller(1_000, { rate_limit: 600, session_limit: 5 });
  const entered = Promise.withResolvers<undefined>();
  const leave = Promise.withResolvers<undefined>();
  await left(token);
  gateway.upstream((_req, res) => {
    entered.resolve(undefined);
    void leave.promise.then(() => res.end('{}'));
  });
  const held = gateway.query({ token });
  await entered.promise;
  const volatile = [rateKey(accountId), leasesKey('calls', accountId)];
  expect(await redis.exists(volatile)).toBe(2);
  await gateway.redis.kill();
  await restart();
  expect(await redis.exists(volatile[0] ?? '')).toBe(0);
  // The gateway brings back the slot of the call that it still holds.
  await waitFor(async () => (await redis.zcard(volatile[1] ?? '')) === 1);
  leave.resolve(undefined);
  expect((await held).status).toBe(200);
  gateway.upstream(answerOfTen);
  expect(await left(token)).toBe(979);
});

test('what account has counted and what is still in the stream are added up, neither of them twice', async () => {
  const { token, periodId, stream } = caller(1_000);
  await left(token);
  const { id } = await lastEntry(stream);
  await left(token);
  // account has committed the first call, not yet the second.
  gateway.account.count(periodId, { points: 10, requests: 1, stream_position: id });
  await gateway.redis.kill();
  await restart();
  expect(await left(token)).toBe(970);
});

test('FLUSHALL while running: what account has counted is what counts, and the limit holds at once', async () => {
  const { token, periodId } = caller(50);
  await left(token);
  gateway.account.count(periodId, { points: 40, requests: 4 });
  await redis.flushall();
  expect(await left(token)).toBe(0);
  expect((await gateway.query({ token })).status).toBe(402);
});

test('an empty Redis whose ids are behind: what it writes comes after all that account has counted', async () => {
  const { token, periodId, stream } = caller(1_000);
  await left(token);
  const { id } = await lastEntry(stream);
  const ahead = `${String(Number(id.split('-')[0]) + 3_600_000)}-7`;
  gateway.account.count(periodId, { points: 10, requests: 1, stream_position: ahead });
  await redis.flushall();
  expect(await left(token)).toBe(980);
  const entry = await lastEntry(stream);
  expect(entry.id.split('-')[0]).toBe(ahead.split('-')[0]);
  expect(Number(entry.id.split('-')[1])).toBeGreaterThan(7);
});

test('a stream that is there and behind account, on another data set, goes on behind nothing that is counted', async () => {
  const { token, periodId, stream } = caller(1_000);
  await left(token);
  const { id } = await lastEntry(stream);
  const ahead = `${String(Number(id.split('-')[0]) + 3_600_000)}-0`;
  gateway.account.count(periodId, { points: 10, requests: 1, stream_position: ahead });
  await gateway.redis.kill();
  await restart();
  expect(await left(token)).toBe(980);
  expect((await lastEntry(stream)).id).toBe(`${ahead.split('-')[0] ?? ''}-1`);
});

test('a snapshot older than what account has trimmed is not believed; a newer one is', async () => {
  const { token, periodId, trimmed } = caller(1_000);
  await redis.set(trimmed, '18446744073709551615-5');
  const refused = await gateway.query({ token });
  expect(refused.status).toBe(503);
  expect(await gateway.metric('tollgate_primes_total', { outcome: 'stale' })).toBeGreaterThanOrEqual(1);
  gateway.account.count(periodId, { points: 30 });
  await redis.set(trimmed, '0-0');
  expect(await left(token)).toBe(960);
});

test('a snapshot from before what account has told of is not believed; one of that version, or a newer one, is', async () => {
  for (const newer of [0, 5]) {
    const { token, periodId, version } = caller(1_000);
    gateway.account.count(periodId, { points: 30, usage_version: 1_699_999_999_999 });
    await redis.set(version, '1700000000000');
    expect((await gateway.query({ token })).status).toBe(503);
    gateway.account.count(periodId, { points: 50, usage_version: 1_700_000_000_000 + newer });
    expect(await left(token)).toBe(940);
  }
});

test('account away while a period has to be rebuilt: 503 with Retry-After, and 200 by itself when it is back', async () => {
  const { token } = caller(1_000);
  await left(token);
  await gateway.account.goAway();
  await redis.flushall();
  const refused = await gateway.query({ token });
  expect(refused.status).toBe(503);
  expect(refused.headers['retry-after']).toBe('1');
  await gateway.account.comeBack();
  expect(await left(token)).toBe(990);
});

test('hundreds of calls after a loss ask account once for their period', async () => {
  const { token, periodId } = caller(1_000_000);
  await left(token);
  await redis.flushall();
  const before = gateway.account.requests.length;
  const answers = await Promise.all(Array.from({ length: 200 }, () => gateway.query({ token })));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const asked = gateway.account.requests
    .slice(before)
    .filter((path) => path.endsWith(`/${String(periodId)}`));
  expect(asked).toHaveLength(1);
});
