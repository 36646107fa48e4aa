import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connectRaw } from '@tollgate/plain-http/raw-client';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';
import { call } from '../../test/suite/http-client.ts';
import { startRecordingStandIn } from '../../test/suite/recording-stand-in.ts';
import type { RecordingStandIn, Seen } from '../../test/suite/recording-stand-in.ts';

/** What callers share on the plain routes is never held by slow ones, nor all of it by one of them. */

const CONNECTIONS = 4;
const PER_ADDRESS = 3;
const seen: Seen[] = [];
let gateway: GatewayUnderTest | undefined;
let standIn: RecordingStandIn | undefined;
let opened: Socket[] = [];

afterEach(async () => {
  for (const socket of opened) socket.destroy();
  opened = [];
  await gateway?.stop();
  await standIn?.goAway();
  seen.length = 0;
});

async function start(env: Record<string, string> = {}) {
  standIn = await startRecordingStandIn('stand-in', seen);
  const { url } = standIn;
  gateway = await startGateway({
    publicUrls: { auth: url, account: url },
    env: {
      PLAIN_ROUTE_CONNECTIONS: String(CONNECTIONS),
      PLAIN_ROUTE_MAX_OPEN_PER_ADDRESS: String(PER_ADDRESS),
      ...env,
    },
  });
  return { url: gateway.process.publicUrl, account: standIn };
}

/** Sends bytes from another address of this machine, which ends in `last`, and reads nothing until it is told to. */
async function from(last: number, url: string, bytes: string) {
  const { socket, received } = connectRaw(url, { localAddress: `127.0.0.${String(last)}` });
  opened.push(socket.pause());
  await once(socket, 'connect');
  socket.write(bytes);
  return { socket, read: () => socket.resume(), text: received };
}

const HEAD = 'HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n';

/** A request whose body doesn't arrive, which the gateway has begun to read: it has asked for the body. */
async function unfinished(last: number, url: string, path: string) {
  const caller = await from(
    last,
    url,
    `POST ${path} ${HEAD}Expect: 100-continue\r\nContent-Length: 100\r\n\r\n`,
  );
  caller.read();
  await waitFor(() => caller.text().startsWith('HTTP/1.1 100 '));
  caller.socket.write('grant_type=');
  return { ...caller, text: () => caller.text().replace(/^HTTP\/1\.1 100 .*\r\n\r\n/, '') };
}

test.each(['/oauth2/token', '/user/sign-in', '/api/console/session', '/api/usage'])(
  'bodies that do not arrive hold no connection: %s',
  async (path) => {
    const { url } = await start();
    for (let address = 2; address < 2 + CONNECTIONS; address += 1) {
      for (let number = 0; number < PER_ADDRESS; number += 1) await unfinished(address, url, path);
    }
    const answer = await call(url + path, { body: 'grant_type=client_credentials' });
    expect([answer.status, answer.body.toString()]).toEqual([200, 'stand-in']);
    expect(seen).toHaveLength(1);
  },
);

test('an address has its number of open requests, and leaves room to others', async () => {
  const { url, account } = await start();
  const slow = await Promise.all([1, 2, 3].map(() => unfinished(2, url, '/oauth2/token')));
  const refused = await from(2, url, 'GET /oauth2/x HTTP/1.1\r\nHost: a\r\n\r\n');
  refused.read();
  await waitFor(() => refused.text() !== '');
  expect(refused.text()).toContain('temporarily_unavailable');
  expect(refused.text()).toMatch(/^HTTP\/1\.1 503 [^]*\r\nretry-after: 1\r\n/i);
  const problem = await from(2, url, 'GET /user HTTP/1.1\r\nHost: a\r\n\r\n');
  problem.read();
  // Each peer has its own connections.
  await waitFor(() => problem.text().includes('200 OK'));
  expect((await call(`${url}/oauth2/x`, { method: 'GET' })).status).toBe(200);
  slow[0]?.socket.destroy();
  account.answers(null);
  await waitFor(async () => {
    const again = await from(2, url, 'GET /oauth2/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    again.read();
    await once(again.socket, 'close');
    return again.text().startsWith('HTTP/1.1 200');
  });
});

test('a body that does not arrive in time is 408, and on /oauth2 an OAuth error', async () => {
  const { url } = await start({ PLAIN_ROUTE_BODY_TIMEOUT_MS: '300' });
  const token = await unfinished(2, url, '/oauth2/token');
  const form = await unfinished(2, url, '/user/x');
  await waitFor(() => token.text().includes('}') && form.text().includes('}'));
  expect(token.text()).toMatch(/^HTTP\/1\.1 408 [^]*"error":"invalid_request"/);
  expect(form.text()).toMatch(/^HTTP\/1\.1 408 [^]*"code":"request_timeout"/);
  expect(seen).toEqual([]);
});

test('when too many bodies are under way, the oldest gives way to the next', async () => {
  const { url } = await start({ PLAIN_ROUTE_MAX_OPEN_PER_ADDRESS: '100' });
  const first = await unfinished(2, url, '/user/x');
  for (let number = 0; number < 4 * CONNECTIONS; number += 1) await unfinished(3, url, '/user/x');
  await waitFor(() => first.text().startsWith('HTTP/1.1 408'));
  expect((await call(`${url}/user/x`, { body: 'a=1' })).status).toBe(200);
});

describe('payment events, whose bodies are larger, have limits of their own', () => {
  const EVENTS = '/payments/stripe/events';
  const WAITING = 16;
  const env = {
    PLAIN_ROUTE_CONNECTIONS: '100',
    PLAIN_ROUTE_MAX_OPEN_PER_ADDRESS: '100',
    PLAIN_ROUTE_BODY_TIMEOUT_MS: '300000',
  };

  test('when too many bodies are under way, the oldest gives way to the next', async () => {
    const { url } = await start(env);
    const first = await unfinished(2, url, EVENTS);
    for (let number = 0; number < WAITING; number += 1) await unfinished(3, url, EVENTS);
    await waitFor(() => first.text().startsWith('HTTP/1.1 408'));
    expect((await call(url + EVENTS, { body: '{}' })).status).toBe(200);
  });

  test('when too many wait for a connection, the next is refused at once', async () => {
    const { url, account } = await start(env);
    account.answers(() => undefined);
    const event = `POST ${EVENTS} ${HEAD}Content-Length: 2\r\n\r\n{}`;
    const callers = await Promise.all(Array.from({ length: 4 + WAITING + 1 }, () => from(2, url, event)));
    for (const caller of callers) caller.read();
    await waitFor(() => callers.some(({ text }) => text().startsWith('HTTP/1.1 503')));
    expect(gateway?.process.logs()).toContain('POOL_FULL');
  });
});

test('a body that is too large is 413 before a connection is taken', async () => {
  const { url } = await start({ PLAIN_ROUTE_MAX_BODY_BYTES: '1024' });
  expect((await call(`${url}/user/x`, { body: 'x'.repeat(1_025) })).status).toBe(413);
  const chunked = { headers: { 'transfer-encoding': 'chunked' }, body: 'x'.repeat(2_000) };
  expect((await call(`${url}/user/x`, chunked)).status).toBe(413);
  expect((await call(`${url}/user/x`, { body: 'x'.repeat(1_024) })).status).toBe(200);
  expect(seen).toHaveLength(1);
});

test('an answer that is not taken gives its connection back', async () => {
  const { url, account } = await start({
    // Longer than a busy machine keeps this process from reading the last answer.
    PLAIN_ROUTE_SLOW_READER_MS: '1000',
    PLAIN_ROUTE_MAX_OPEN_PER_ADDRESS: '100',
  });
  let closed = 0;
  account.answers((_req, res) => {
    res.once('close', () => {
      closed += 1;
    });
    res.end(Buffer.alloc(32_000_000));
  });
  for (let number = 0; number < CONNECTIONS; number += 1) {
    await from(2, url, 'GET /user/asset.js HTTP/1.1\r\nHost: a\r\n\r\n');
  }
  await waitFor(() => seen.length === CONNECTIONS);
  // They wait for a connection of those that don't read.
  const answer = await call(`${url}/user/asset.js`, { method: 'GET' });
  expect([answer.status, answer.body.length]).toEqual([200, 32_000_000]);
  await waitFor(() => closed === CONNECTIONS + 1);
});

test('no request waits for a connection without end', async () => {
  const { url, account } = await start({ PLAIN_ROUTE_MAX_OPEN_PER_ADDRESS: '100' });
  account.answers(() => undefined);
  for (let number = 0; number < CONNECTIONS; number += 1) {
    await from(2, url, 'GET /user HTTP/1.1\r\nHost: a\r\n\r\n');
  }
  await waitFor(() => seen.length === CONNECTIONS);
  const answer = await call(`${url}/user`, { method: 'GET' });
  expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
  expect(answer.json()).toMatchObject({ code: 'service_unavailable' });
  expect(seen).toHaveLength(CONNECTIONS);
});
