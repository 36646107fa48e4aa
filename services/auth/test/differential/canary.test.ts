import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mastersOf } from '@tollgate/redis';
import type { Redis } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { serviceCredential } from '@tollgate/testbed/service-process';
import { addManualToken, startAuth } from '../suite/auth-under-test.ts';
import type { AuthUnderTest } from '../suite/auth-under-test.ts';
import { obtainToken } from '../suite/requests.ts';
import { FORM, basic } from './corpus/corpus.ts';
import { addKnownClient } from './known-client.ts';
import { formsOf, leaks } from './marker.ts';
import { exchangeText } from './raw-request.ts';
import type { RawRequest } from './raw-request.ts';

const SECRET = 'canary>secret?~-_.~+%:-of-a-client';
const WRONG_SECRET = 'canary>wrong?~-_.~+%:-of-a-client';

let auth: AuthUnderTest;
let monitors: Redis[];
let id: string;
let token: string;
let manualToken: string;
/** Must not appear anywhere. A token is secret by its last part. */
let marked: string[];

/** All that auth has sent to Redis. */
const redisCommands: string[] = [];
const answers: string[] = [];

beforeAll(async () => {
  auth = await startAuth({
    LOG_LEVEL: 'trace',
    PRIVATE_API_TIMEOUT_MS: '500',
    FAILED_ATTEMPTS_PER_CLIENT_AND_ADDRESS: '1000000',
    FAILED_ATTEMPTS_PER_ADDRESS: '1000000',
  });
  monitors = await Promise.all(mastersOf(auth.store).map((master) => master.monitor()));
  for (const monitor of monitors) {
    monitor.on('monitor', (_time: string, command: string[]) => redisCommands.push(command.join(' ')));
  }
  ({ client_id: id } = addKnownClient(auth.account, SECRET));
  token = await obtainToken(auth.service, { client_id: id, client_secret: SECRET });
  manualToken = addManualToken(auth.account, { client_id: id });
  marked = [
    SECRET,
    WRONG_SECRET,
    ...[token, manualToken].flatMap((each) => [each, each.slice(each.lastIndexOf('_') + 1)]),
  ];
});

afterAll(async () => {
  for (const monitor of monitors) monitor.disconnect();
  await auth.close();
});

/** Every place of a token or revocation request where a secret or token can be, right or wrong. */
function publicRequests(endpoint: string, secret: string): RawRequest[] {
  const pair = `client_id=${id}&client_secret=${encodeURIComponent(secret)}`;
  const fields = `grant_type=client_credentials&scope=api&token=${token}`;
  const good = `${fields}&${pair}`;
  const inBasic = basic(`${id}:${encodeURIComponent(secret)}`);
  return [
    post(endpoint, good),
    post(endpoint, fields, [FORM, inBasic]),
    post(endpoint, good, [FORM, inBasic]),
    post(endpoint, `${good}&client_secret=x`),
    post(endpoint, `${good}&x=%zz`),
    post(endpoint, `${good}&x=\xff`),
    post(endpoint, `${good}\0`),
    post(endpoint, `${good}&x=${'x'.repeat(20_000)}`),
    post(endpoint, good.replace('client_secret=', `${encodeURIComponent(secret)}=`)),
    post(endpoint, good.replace('=client_credentials', `=${encodeURIComponent(secret)}`)),
    post(endpoint, good.replace('=api', `=${encodeURIComponent(secret)}`)),
    post(endpoint, good.replace('=api', `=${token}`)),
    post(endpoint, `${fields}&client_id=${encodeURIComponent(secret)}&client_secret=x`),
    post(endpoint, `${fields}&client_id=${token}&client_secret=${token}`),
    post(endpoint, `{"client_id":"${id}","client_secret":"${secret}","token":"${token}"}`),
    post(endpoint, good, []),
    post(endpoint, good, [['Content-Type', `text/${token}`]]),
    post(endpoint, good, [['Content-Type', `${FORM[1]}; charset=${token}`]]),
    post(endpoint, good, [FORM, ['Content-Encoding', token]]),
    post(endpoint, fields, [FORM, ['Authorization', `Basic ${secret}`]]),
    post(endpoint, fields, [FORM, basic(secret)]),
    post(endpoint, fields, [FORM, basic(`${encodeURIComponent(secret)}:${id}`)]),
    post(endpoint, fields, [FORM, basic(`${id}:${secret}%zz`)]),
    post(endpoint, fields, [FORM, ['Authorization', `Bearer ${token}`]]),
    ...elsewhere(endpoint, good, secret),
  ];
}

/** In the URL, in a method's name, in headers of other purposes. */
function elsewhere(endpoint: string, body: string, secret: string): RawRequest[] {
  const query = `?client_secret=${encodeURIComponent(secret)}&token=${token}`;
  const headers = ['Cookie', 'User-Agent', 'Referer', 'X-Forwarded-For', 'Forwarded', 'Origin', 'X-Api-Key'];
  const ids = ['X-Request-Id', 'traceparent', 'tracestate'];
  return [
    post(endpoint + query, body),
    { ...post(endpoint + query, ''), method: 'GET' },
    post(`${endpoint}/${token}${query}`, body),
    post(`/${token}`, body),
    post(`/${token}%zz`, body),
    post(`/oauth2%2F${token}`, body),
    { ...post(endpoint, body), method: `X${token}` },
    ...[...headers, ...ids].map((name) => post(endpoint, body, [FORM, [name, token]])),
    ...headers.map((name) => post(endpoint, body, [FORM, [name, secret]])),
  ];
}

/** The same for the private listener. */
function introspections(): RawRequest[] {
  const service = basic(`${serviceCredential.id}:${serviceCredential.secret}`);
  const endpoint = '/oauth2/introspect';
  const bodies = [
    `token=${token}`,
    `token=${token}x`,
    `token=${manualToken}`,
    `token=${manualToken}x`,
    `token=Bearer+${token}`,
    `token=${token.slice(0, -1)}`,
    `token=${token}&token=${token}`,
    `token=${token}%zz`,
    `token=${token}&token_type_hint=${token}`,
    `token=${encodeURIComponent(SECRET)}`,
    `${token}=`,
  ];
  return [
    ...bodies.map((body) => post(endpoint, body, [FORM, service])),
    post(endpoint, `token=${token}`),
    post(endpoint, `token=${token}`, [FORM, basic(`${serviceCredential.id}:${SECRET}`)]),
    post(endpoint, `token=${token}`, [FORM, ['Authorization', `Bearer ${token}`]]),
    post('/private/client-changes', `{"client_id":"${token}","revocation_epoch":"${SECRET}"}`, [service]),
    ...elsewhere(endpoint, `token=${token}`, SECRET),
  ];
}

function post(target: string, body: string, headers: RawRequest['headers'] = [FORM]): RawRequest {
  return { method: 'POST', target, headers, body };
}

async function sendAll(): Promise<void> {
  const { publicUrl, privateUrl } = auth.service;
  // Revocation comes last: it ends the token's life.
  const requests = [
    ...[SECRET, WRONG_SECRET].flatMap((secret) => publicRequests('/oauth2/token', secret)),
    ...publicRequests('/oauth2/revoke', WRONG_SECRET),
  ];
  for (const request of introspections()) answers.push(await exchangeText(privateUrl, request));
  for (const request of requests) answers.push(await exchangeText(publicUrl, request));
  const pair = `client_id=${id}&client_secret=${encodeURIComponent(SECRET)}`;
  const givenBack = post('/oauth2/revoke', `token=${manualToken}&${pair}`);
  for (const request of [givenBack, ...publicRequests('/oauth2/revoke', SECRET)]) {
    answers.push(await exchangeText(publicUrl, request));
  }
}

function statuses(): Set<number> {
  return new Set(answers.map((answer) => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1])));
}

/** No response, log line, metric, Redis command or request to account contains a marked text. */
async function expectNoLeak(): Promise<void> {
  const metrics = await (await fetch(`${auth.service.privateUrl}/metrics`)).text();
  const places = {
    answers: answers.filter((answer) => leaks(answer, marked).length > 0),
    log: auth.service
      .logs()
      .split('\n')
      .filter((line) => leaks(line, marked).length > 0),
    metrics: metrics.split('\n').filter((line) => leaks(line, marked).length > 0),
    redis: redisCommands.filter((command) => leaks(command, marked).length > 0),
    account: [...auth.account.requests, JSON.stringify([auth.account.uses, auth.account.revoked])].filter(
      (text) => leaks(text, marked).length > 0,
    ),
  };
  expect(places).toEqual({ answers: [], log: [], metrics: [], redis: [], account: [] });
}

test('the search finds a secret in each of its forms', () => {
  for (const before of ['', 'a', 'ab', 'abc']) {
    for (const encoding of ['utf8', 'base64', 'base64url'] as const) {
      const text = Buffer.from(`${before}${SECRET}behind`).toString(encoding);
      expect(leaks(`x ${text} y`, [SECRET])).not.toEqual([]);
    }
  }
  expect(leaks(new URLSearchParams({ SECRET }).toString(), [SECRET])).not.toEqual([]);
  expect(formsOf(SECRET).every((form) => form.length > 30)).toBe(true);
});

test('all well: what is marked is nowhere but in the request', async () => {
  await sendAll();
  await waitFor(() => redisCommands.some((command) => command.includes('auth:')));
  expect([...statuses()]).toEqual(expect.arrayContaining([200, 400, 401, 404, 405, 413]));
  await expectNoLeak();
});

test('account away or failing: nor then', async () => {
  for (const mood of ['failing', 'away'] as const) {
    auth.account.mood = mood;
    await auth.store.flushall();
    await sendAll();
  }
  auth.account.mood = 'well';
  expect(statuses()).toContain(503);
  await expectNoLeak();
});

test('Redis refusing writes, then away: nor then', async () => {
  await auth.store.flushall();
  await auth.store.config('SET', 'maxmemory', '1');
  await sendAll();
  for (const monitor of monitors) monitor.disconnect();
  await auth.redis.kill();
  await sendAll();
  expect(auth.service.logs()).toContain('Redis');
  await expectNoLeak();
});
