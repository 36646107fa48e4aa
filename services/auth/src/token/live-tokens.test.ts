import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { accessTokenHash, applicationPart, newAccessToken } from '@tollgate/credentials/access-token';
import { CLIENT_CHANGE_CHANNEL } from '@tollgate/contracts/client-change';
import { waitFor } from '@tollgate/stack/wait-for';
import { addClient, startAuth } from '../../test/suite/auth-under-test.ts';
import type { AuthUnderTest, TestClient } from '../../test/suite/auth-under-test.ts';
import { counter, isActive, obtainToken, postClientChange } from '../../test/suite/requests.ts';
import { commitChange, revokeTokens } from '../../test/suite/revoke.ts';
import { keysOf } from '../../test/suite/store.ts';
import { subscribe } from '../../test/suite/subscribe.ts';
import { epochKey, issuedTokensKey, tokenKey } from '../redis/keys.ts';
import { defineScript } from '../redis/redis-script.ts';
import { ISSUE_LUA } from './issue-script.ts';
import { createTokenIssuing } from './token-issuing.ts';

const MOST = 4;

let auth: AuthUnderTest;
let client: TestClient;

beforeAll(async () => {
  auth = await startAuth({ MAX_LIVE_TOKENS_PER_APPLICATION: String(MOST) });
});

afterAll(() => auth.close());

beforeEach(() => {
  client = addClient(auth.account);
});

async function obtain(count: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let made = 0; made < count; made += 1) tokens.push(await obtainToken(auth.service, client));
  return tokens;
}

function whichAreActive(tokens: readonly string[]): Promise<boolean[]> {
  return Promise.all(tokens.map((token) => isActive(auth.service, token)));
}

const partOf = ({ client_id }: Pick<TestClient, 'client_id'>) => applicationPart(client_id);

async function kept(): Promise<{ listed: number; stored: number }> {
  const part = partOf(client);
  const stored = await keysOf(auth, `auth:{${part}}:token:*`);
  return { listed: await auth.store.llen(issuedTokensKey(part)), stored: stored.length };
}

/** Issues without the service, so that a suite can choose the maximum. */
function issuingAtMost(liveMax: { perApplication: number; perConnection: number }) {
  return createTokenIssuing({
    runScript: defineScript(auth.store, ISSUE_LUA),
    perMinute: 1_000_000,
    liveMax,
    onLimited: () => undefined,
    onSurplus: () => undefined,
  });
}

test('beyond the maximum the oldest token ends, its memory is freed, and caches hear of it', async () => {
  const messages: unknown[] = [];
  const about = { channel: CLIENT_CHANGE_CHANNEL, naming: client.client_id };
  const subscriber = await subscribe(auth, about, (message) => messages.push(JSON.parse(message)));
  const before = await counter(auth.service, 'tollgate_surplus_tokens_ended_total');
  const tokens = await obtain(MOST + 2);
  expect(await whichAreActive(tokens)).toEqual([false, false, true, true, true, true]);
  expect(await kept()).toEqual({ listed: MOST, stored: MOST });
  expect((await counter(auth.service, 'tollgate_surplus_tokens_ended_total')) - before).toBe(2);
  await waitFor(() => messages.length === 2);
  expect(messages).toEqual(
    tokens.slice(0, 2).map((token) => ({
      change: 'token',
      client_id: client.client_id,
      revocation_epoch: 0,
      source: 'auth',
      token_hash: accessTokenHash(token),
    })),
  );
  subscriber.close();
});

test('of tokens that are asked for at the same time no more live than the maximum', async () => {
  const rounds = await Promise.all([obtain(8), obtain(8), obtain(8), obtain(8)]);
  const active = await whichAreActive(rounds.flat());
  expect(active.filter(Boolean)).toHaveLength(MOST);
  expect(await kept()).toEqual({ listed: MOST, stored: MOST });
});

test('another application’s tokens don’t count', async () => {
  const tokens = await obtain(MOST);
  for (let made = 0; made <= MOST; made += 1) await obtainToken(auth.service, addClient(auth.account));
  expect(await whichAreActive(tokens)).toEqual(tokens.map(() => true));
});

test('what a client has revoked makes room, and leaves the list', async () => {
  const [first, ...others] = await obtain(MOST);
  const form = { client_id: client.client_id, client_secret: client.client_secret, token: first ?? '' };
  await fetch(`${auth.service.publicUrl}/oauth2/revoke`, { method: 'POST', body: new URLSearchParams(form) });
  const tokens = [...others, ...(await obtain(1))];
  expect(await whichAreActive(tokens)).toEqual(tokens.map(() => true));
  expect(await kept()).toEqual({ listed: MOST, stored: MOST });
});

test('the list lives as long as the longest token, whatever lifespan later ones have', async () => {
  const [long = ''] = await obtain(1);
  commitChange(auth, client, { token_lifespan_sec: 60 });
  await postClientChange(auth.service, client.client_id, { revocation_epoch: 0 });
  await obtain(1);
  const part = partOf(client);
  expect(await auth.store.expiretime(issuedTokensKey(part))).toBe(
    await auth.store.expiretime(tokenKey(accessTokenHash(long), part)),
  );
});

test('a lower maximum is reached in steps', async () => {
  await obtain(MOST);
  const { issue } = issuingAtMost({ perApplication: 1, perConnection: 1 });
  const left: number[] = [];
  for (let made = 0; made < 3; made += 1) {
    await issue(newAccessToken('tg', client.client_id), { client: client.record });
    left.push((await kept()).stored);
  }
  expect(left).toEqual([3, 2, 1]);
});

test('a connection has a maximum of its own', async () => {
  const { issue } = issuingAtMost({ perApplication: 1, perConnection: 2 });
  const tokens = Array.from({ length: 3 }, () => newAccessToken('tg', client.client_id));
  for (const token of tokens) {
    await issue(token, { client: client.record, delegation: { via: client.client_id, scope: 'api' } });
  }
  expect(await whichAreActive(tokens)).toEqual([false, true, true]);
});

test('a token that a repeated refresh stores again counts once', async () => {
  const { issue } = issuingAtMost({ perApplication: 1, perConnection: 2 });
  const tokens = Array.from({ length: 2 }, () => newAccessToken('tg', client.client_id));
  const wanted = { client: client.record, delegation: { via: client.client_id, scope: 'api' } };
  const [, last = ''] = tokens;
  for (const token of [...tokens, last, last, last]) await issue(token, wanted);
  expect(await whichAreActive(tokens)).toEqual([true, true]);
  expect(await kept()).toEqual({ listed: 2, stored: 2 });
});

test('a revocation frees the memory of thousands of tokens, and the next ones live', async () => {
  const { issue } = issuingAtMost({ perApplication: 5_000, perConnection: 1 });
  const tokens = Array.from({ length: 1_700 }, () => newAccessToken('tg', client.client_id));
  await Promise.all(tokens.map((token) => issue(token, { client: client.record })));
  expect(await kept()).toEqual({ listed: tokens.length, stored: tokens.length });
  await revokeTokens(auth, client);
  expect(await kept()).toEqual({ listed: 0, stored: 0 });
  expect(await whichAreActive(await obtain(2))).toEqual([true, true]);
});

test('what a crash left of a revoked application goes when account repeats the revocation; later tokens stay', async () => {
  const old = await obtain(2);
  await revokeTokens(auth, client);
  const part = partOf(client);
  // As if auth had died between raising the epoch and deleting the tokens.
  await auth.store.hset(epochKey(part), { epoch: '1' });
  for (const token of old) {
    await auth.store.set(tokenKey(accessTokenHash(token), part), JSON.stringify({ epoch: 0 }));
    await auth.store.rpush(issuedTokensKey(part), accessTokenHash(token));
  }
  const later = await obtain(1);
  expect(await kept()).toEqual({ listed: 3, stored: 3 });
  await postClientChange(auth.service, client.client_id, { revocation_epoch: 1 });
  expect(await kept()).toEqual({ listed: 1, stored: 1 });
  expect(await whichAreActive(later)).toEqual([true]);
});
