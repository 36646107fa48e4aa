import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { accessTokenHash, applicationPart, newAccessToken } from '@tollgate/credentials/access-token';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import { tokenKey } from '../redis/keys.ts';
import { createTokenStore } from './store.ts';
import type { TokenStore } from './store.ts';

const CLIENT_ID = '00000000-0000-4000-8000-000000000001';
const PART = applicationPart(CLIENT_ID);
const CLIENT = { client_id: CLIENT_ID, revocation_epoch: 0 };

let server: OwnRedis;
let redis: RedisConnection;
let store: TokenStore;
let commands = 0;

beforeAll(async () => {
  server = await startRedis();
  redis = openRedis(server.url, createLogger('suite', 'silent'));
  await waitFor(() => redis.status === 'ready');
  store = createTokenStore({
    sendCommand: (command: Parameters<ScriptableRedis['sendCommand']>[0]) => {
      commands += 1;
      return redis.sendCommand(command);
    },
  });
  // Redis then knows both scripts, and each call is one command.
  const token = newAccessToken('tg', CLIENT_ID);
  await store.find(token, PART);
  await store.revoke(token, CLIENT);
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

async function storedToken(json?: string): Promise<string> {
  const token = newAccessToken('tg', CLIENT_ID);
  const iat = Math.floor(Date.now() / 1000);
  const ids = { client_id: CLIENT_ID, account_id: 1, application_id: 2 };
  const record = { ...ids, scope: 'api', iat, exp: iat + 60, epoch: 0 };
  await redis.set(tokenKey(accessTokenHash(token), PART), json ?? JSON.stringify(record));
  return token;
}

async function isLive(token: string): Promise<boolean> {
  return (await store.find(token, PART)).record !== null;
}

test('in one turn, a live, a dead and a broken token are told apart by one command, however often they come', async () => {
  const tokens = [await storedToken(), newAccessToken('tg', CLIENT_ID), await storedToken('not json')];
  commands = 0;
  const answers = await Promise.allSettled([...tokens, ...tokens].map(isLive));
  expect(commands).toBe(1);
  const told = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : answer.status));
  expect(told).toEqual([true, false, 'rejected', true, false, 'rejected']);
});

test('a token revoked in the turn in which it is asked for is dead for all of that turn', async () => {
  const token = await storedToken();
  const before = isLive(token);
  const revoked = store.revoke(token, CLIENT);
  const after = isLive(token);
  await revoked;
  expect([await before, await after]).toEqual([false, false]);
});

test('what is asked after a revocation doesn’t share the answer that is still on its way', async () => {
  const token = await storedToken();
  const before = isLive(token);
  await new Promise(setImmediate);
  const revoked = store.revoke(token, CLIENT);
  const after = isLive(token);
  await revoked;
  expect([await before, await after]).toEqual([true, false]);
});

test('the next turn asks anew', async () => {
  const token = await storedToken();
  commands = 0;
  expect(await isLive(token)).toBe(true);
  await redis.del(tokenKey(accessTokenHash(token), PART));
  expect(await isLive(token)).toBe(false);
  expect(commands).toBe(2);
});
