import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import { startGraphqlUpstream } from '../../../test/suite/upstreams/graphql-upstream.ts';
import type { GraphqlUpstream } from '../../../test/suite/upstreams/graphql-upstream.ts';
import { sendRaw } from '../../../test/suite/http-client.ts';
import { openRaw, openReady, refusedUpgrade } from '../../../test/suite/raw-socket.ts';

let upstream: GraphqlUpstream;
let gateway: GatewayUnderTest;
let url: string;
beforeAll(async () => {
  upstream = await startGraphqlUpstream();
  gateway = await startGateway({
    env: { UPSTREAM_WS_URL: upstream.url, WEBSOCKET_INIT_TIMEOUT_MS: '600' },
  });
  url = gateway.graphqlUrl.replace('http', 'ws');
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const refusal = (code: string) => ({
  errors: [{ message: expect.any(String), extensions: { code, request_id: expect.any(String) } }],
});

describe('before the upgrade', () => {
  test('401 with a challenge for a token that isn’t good, in the header and in the query', async () => {
    const dead = gateway.auth.issue();
    gateway.auth.revoke(dead);
    for (const refused of [
      await refusedUpgrade(url, bearer(dead)),
      await refusedUpgrade(url, bearer('no-token')),
      await refusedUpgrade(`${url}?token=${dead}`),
      await refusedUpgrade(`${url}?token=`),
    ]) {
      expect(refused.status).toBe(401);
      expect(refused.body).toEqual(refusal('unauthorized'));
      expect(refused.headers['www-authenticate']).toBe('Bearer realm="tollgate", error="invalid_token"');
    }
    expect((await refusedUpgrade(url, { headers: { authorization: 'Basic YTpi' } })).status).toBe(401);
  });

  test('402 without a period, 403 for a blocked account', async () => {
    gateway.account.entitle(21, { status: 'expired' });
    gateway.account.entitle(22, { status: 'blocked' });
    const expired = await refusedUpgrade(url, bearer(gateway.auth.issue({ accountId: 21 })));
    expect(expired).toMatchObject({ status: 402, body: refusal('no_active_billing_period') });
    const blocked = await refusedUpgrade(url, bearer(gateway.auth.issue({ accountId: 22 })));
    expect(blocked).toMatchObject({ status: 403, body: refusal('account_blocked') });
  });

  test('503 with Retry-After while auth is away', async () => {
    await gateway.auth.goAway();
    const refused = await refusedUpgrade(url, bearer(gateway.auth.issue()));
    await gateway.auth.comeBack();
    expect(refused).toMatchObject({ status: 503, body: refusal('service_unavailable') });
    expect(refused.headers['retry-after']).toBe('1');
  });

  test('400 for two different tokens, none for one that is said twice', async () => {
    const [one, other] = [gateway.auth.issue(), gateway.auth.issue()];
    const refused = await refusedUpgrade(`${url}?token=${other}`, bearer(one));
    expect(refused).toMatchObject({ status: 400, body: refusal('invalid_request') });
    expect(await refusedUpgrade(`${url}?token=${one}&token=${other}`)).toMatchObject({ status: 400 });
    (await openRaw(`${url}?token=${one}`, bearer(one))).socket.close();
  });

  test('400 without a subprotocol of the two, and for a broken handshake', async () => {
    const token = gateway.auth.issue();
    for (const protocol of ['', 'mqtt']) {
      const refused = await refusedUpgrade(url, { ...bearer(token), protocol });
      expect(refused).toMatchObject({ status: 400, body: refusal('invalid_request') });
    }
    const answer = await sendRaw(
      gateway.graphqlUrl,
      'GET /graphql HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        'Sec-WebSocket-Protocol: graphql-ws\r\nSec-WebSocket-Version: 7\r\nSec-WebSocket-Key: x\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1.1 400 [^]*"code":"invalid_request"/);
  });

  test('the newer subprotocol is taken where both are offered', async () => {
    const offered = { ...bearer(gateway.auth.issue()), protocol: 'graphql-ws,graphql-transport-ws' };
    const { socket } = await openRaw(url, offered);
    expect(socket.protocol).toBe('graphql-transport-ws');
    socket.close();
  });

  test('any other upgrade, or path, is a call like all others', async () => {
    const ask = (line: string, upgrade: string) =>
      sendRaw(
        gateway.graphqlUrl,
        `${line} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: ${upgrade}\r\n\r\n`,
      );
    expect(await ask('GET /graphql', 'h2c')).toMatch(/^HTTP\/1.1 401 /);
    expect(await ask('GET /other', 'websocket')).toMatch(/^HTTP\/1.1 404 /);
  });
});

describe('a token that a person granted', () => {
  const granted = (scope: string, aud?: string) =>
    gateway.auth.issue({ grant: { via: 'someone', scope, ...(aud !== undefined && { aud }) } });

  test('for MCP opens no socket, in the header and in the connection_init', async () => {
    const forMcp = granted('mcp', 'https://data.example/mcp');
    expect((await refusedUpgrade(url, bearer(forMcp))).status).toBe(401);
    expect((await refusedUpgrade(`${url}?token=${forMcp}`)).status).toBe(401);
    const raw = await openRaw(url);
    raw.send({ type: 'connection_init', payload: { token: forMcp } });
    expect(await raw.closed).toMatchObject({ code: 4401 });
  });

  test('without the scope of the data API opens none: 403 and 4403', async () => {
    const ofMcp = granted('mcp', 'https://data.example');
    expect((await refusedUpgrade(url, bearer(ofMcp))).status).toBe(403);
    const raw = await openRaw(url);
    raw.send({ type: 'connection_init', payload: { token: ofMcp } });
    expect(await raw.closed).toMatchObject({ code: 4403 });
  });

  test('for the data API, or for both, opens one', async () => {
    for (const token of [
      granted('api'),
      granted('api', 'https://data.example/graphql'),
      granted('api mcp', 'https://data.example'),
    ]) {
      (await openReady(url, token)).socket.close();
    }
  });
});

describe('by connection_init', () => {
  const initWith = async (payload: unknown, options = {}) => {
    const raw = await openRaw(url, options);
    raw.send({ type: 'connection_init', payload });
    return raw;
  };

  test('a token in any of the slots opens the socket', async () => {
    const token = gateway.auth.issue();
    const payloads = [
      { Authorization: `Bearer ${token}` },
      { authorization: `bearer ${token}`, token },
      { token },
      { headers: { Authorization: `Bearer ${token}` } },
    ];
    for (const payload of payloads) {
      const raw = await initWith(payload);
      await raw.message({ type: 'connection_ack' });
      raw.socket.close();
    }
  });

  test.each([
    ['no token', {}, 4401, /^unauthorized: /],
    ['no payload', undefined, 4401, /^unauthorized: /],
    ['a token that isn’t good', { token: 'nothing' }, 4401, /^unauthorized: /],
    ['a credential that is none', { Authorization: 'Basic YTpi' }, 4401, /^unauthorized: /],
    ['two tokens', { token: 'one', Authorization: 'Bearer other' }, 4400, /^invalid_request: /],
  ])('%s: closed', async (_name, payload, code, reason) => {
    expect(await (await initWith(payload)).closed).toMatchObject({
      code,
      reason: expect.stringMatching(reason),
    });
  });

  test('the acknowledgement tells what a subscription costs', async () => {
    const raw = await initWith({ token: gateway.auth.issue() });
    const { payload } = await raw.message({ type: 'connection_ack' });
    expect(payload).toEqual({ subscription_points_per_minute: 0, points_extension: 'points' });
    raw.socket.close();
  });

  test('another token than that of the upgrade: 4400; the same: fine', async () => {
    const token = gateway.auth.issue();
    const other = await initWith({ token: gateway.auth.issue() }, bearer(token));
    expect(await other.closed).toMatchObject({ code: 4400 });
    const same = await initWith({ token }, bearer(token));
    await same.message({ type: 'connection_ack' });
    same.socket.close();
  });

  test('a blocked account or one without a period: 4403; auth away: 1013', async () => {
    gateway.account.entitle(23, { status: 'none' });
    gateway.account.entitle(24, { status: 'blocked' });
    const without = await initWith({ token: gateway.auth.issue({ accountId: 23 }) });
    expect(await without.closed).toMatchObject({
      code: 4403,
      reason: expect.stringMatching(/^no_active_billing_period/),
    });
    const blocked = await initWith({ token: gateway.auth.issue({ accountId: 24 }) });
    expect(await blocked.closed).toMatchObject({
      code: 4403,
      reason: expect.stringMatching(/^account_blocked/),
    });
    const raw = await openRaw(url);
    await gateway.auth.goAway();
    raw.send({ type: 'connection_init', payload: { token: gateway.auth.issue() } });
    const { code, reason } = await raw.closed;
    await gateway.auth.comeBack();
    expect([code, reason]).toEqual([1013, expect.stringMatching(/^service_unavailable/)]);
  });

  test('none in time: 4401 without a token, 4408 with one in the header', async () => {
    expect(await (await openRaw(url)).closed).toMatchObject({ code: 4401 });
    const known = await openRaw(url, bearer(gateway.auth.issue()));
    expect(await known.closed).toMatchObject({
      code: 4408,
      reason: expect.stringMatching(/^connection_init_timeout/),
    });
  });

  test('the upstream is connected by the first operation, never before', async () => {
    const before = upstream.requests.length;
    const raw = await openReady(url, gateway.auth.issue());
    expect(upstream.requests.length).toBe(before);
    raw.send({ id: '1', type: 'subscribe', payload: { query: '{ hello }' } });
    await raw.message({ type: 'complete' });
    expect(upstream.requests.length).toBe(before + 1);
    raw.socket.close();
    await waitFor(() => upstream.sockets().length === 0);
  });
});
