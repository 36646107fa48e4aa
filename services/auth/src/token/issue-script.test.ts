import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { defineScript } from '@tollgate/redis/script';
import type { Script } from '@tollgate/redis/script';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import { turnedTo, underTurnedClock } from '@tollgate/testbed/turned-clock';
import { ISSUE_LUA, limitArgs } from './issue-script.ts';

const MINUTE_US = 60_000_000;
/** The arithmetic must be exact for numbers as large as today's. */
const BEGIN_US = 1_790_000_000_000_000;
const LIFESPAN_SEC = 2_000_000_000;
const RECORD = '"epoch":0}';
const LIVE_MAX = 1_000;
/** With which a token's key ends. */
const HASH_CHARS = 43;

let server: OwnRedis;
let redis: RedisConnection;
let issueAt: Script;
let issueNow: Script;

beforeAll(async () => {
  server = await startRedis();
  redis = openRedis(server.url, createLogger('suite', 'silent'));
  await waitFor(() => redis.status === 'ready');
  // The counter's key expires by Redis' own clock.
  const clocked = underTurnedClock(ISSUE_LUA, 9, { ", 'PX', math.ceil((whole - now) / 1000)": '' });
  issueAt = defineScript(redis, clocked);
  issueNow = defineScript(redis, ISSUE_LUA);
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

function keysOf(client: string, tokens: readonly string[]): string[] {
  const ends = [
    'requests',
    'client',
    'epoch',
    'list',
    ...tokens.map((token) => token.padEnd(HASH_CHARS, '-')),
  ];
  return ends.map((end) => `auth:{${client}}:${end}`);
}

type Ask = { perMinute: number; tokens: readonly string[]; atUs: number };

/** For each token of one call, how long it is refused, if at all. */
async function ask(client: string, { perMinute, tokens, atUs }: Ask): Promise<number[]> {
  const args = [
    ...limitArgs(perMinute),
    tokens.length,
    RECORD,
    LIFESPAN_SEC,
    '',
    LIVE_MAX,
    '',
    ...turnedTo(atUs),
  ];
  const [fitted, waitUs] = (await issueAt(keysOf(client, tokens), args)) as [number, number];
  return tokens.map((_, index) => (index < fitted ? 0 : waitUs));
}

async function storedTokens(client: string): Promise<string[]> {
  const names = (await redis.keys(`auth:{${client}}:token*`)).map((key) =>
    (key.split(':').at(-1) ?? '').replaceAll('-', ''),
  );
  return names.sort();
}

test('tokens that are asked for together are answered as if each were by itself, in their order', async () => {
  const round = fc.record({
    gapUs: fc.integer({ min: 0, max: 20_000_000 }),
    tokens: fc.integer({ min: 1, max: 12 }),
  });
  const limits = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 10_000_000 }));
  await fc.assert(
    fc.asyncProperty(limits, fc.array(round, { minLength: 1, maxLength: 8 }), async (perMinute, rounds) => {
      const [together, alone] = [randomUUID(), randomUUID()];
      let atUs = BEGIN_US;
      for (const [index, { gapUs, tokens: count }] of rounds.entries()) {
        atUs += gapUs;
        const tokens = Array.from({ length: count }, (_, token) => `token${String(index)}.${String(token)}`);
        const expected = [];
        for (const token of tokens)
          expected.push(...(await ask(alone, { perMinute, tokens: [token], atUs })));
        expect(await ask(together, { perMinute, tokens, atUs })).toEqual(expected);
      }
      expect(await storedTokens(together)).toEqual(await storedTokens(alone));
      const [left, right] = [together, alone].map((client) => redis.get(`auth:{${client}}:requests`));
      expect(await left).toBe(await right);
    }),
    { numRuns: 40 },
  );
});

test('a minute’s worth fits at once, and one more as soon as a refusal has said', async () => {
  const client = randomUUID();
  const tokens = Array.from({ length: 10 }, (_, index) => `token${String(index)}`);
  const limit = { perMinute: 6, atUs: BEGIN_US };
  const waitUs = MINUTE_US / 6;
  expect(await ask(client, { ...limit, tokens })).toEqual([0, 0, 0, 0, 0, 0, waitUs, waitUs, waitUs, waitUs]);
  expect(await storedTokens(client)).toEqual(tokens.slice(0, 6));
  const one = (atUs: number) => ask(client, { perMinute: 6, tokens: ['token7'], atUs });
  expect(await one(BEGIN_US + waitUs - 1)).toEqual([1]);
  expect(await one(BEGIN_US + waitUs)).toEqual([0]);
});

test('of a client that has changed nothing is stored and nothing counted', async () => {
  const client = randomUUID();
  const keys = keysOf(client, ['token1', 'token2']);
  const answer = await issueNow(keys, [
    ...limitArgs(60),
    2,
    RECORD,
    LIFESPAN_SEC,
    'the record of before',
    LIVE_MAX,
    '',
  ]);
  expect(answer).toEqual([-1, 0, 0]);
  expect(await redis.keys(`auth:{${client}}:*`)).toEqual([]);
});

test('a restart of Redis keeps the tokens, and forgets what was counted', async () => {
  const client = randomUUID();
  expect(
    await issueNow(keysOf(client, ['token1']), [...limitArgs(60), 1, RECORD, LIFESPAN_SEC, '', LIVE_MAX, '']),
  ).toMatchObject({
    0: 1,
  });
  expect(await redis.pttl(`auth:{${client}}:requests`)).toBeGreaterThan(0);
  await server.kill();
  await server.restart();
  await waitFor(() => redis.status === 'ready');
  await waitFor(async () => (await redis.keys(`auth:{${client}}:*`)).length > 0);
  const [, , , list, token] = keysOf(client, ['token1']);
  expect((await redis.keys(`auth:{${client}}:*`)).sort()).toEqual([list, token]);
});
