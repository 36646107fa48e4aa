import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { UnavailableError, createClient } from '../src/index.ts';
import type { SubscriptionEvent } from '../src/index.ts';
import { reconnectDelayMs } from '../src/subscriptions.ts';

type Message = { id?: string; type: string; payload?: Record<string, unknown> };

let server: WebSocketServer;
let url: string;
/** Tokens of connection_init, in order. */
let tokens: unknown[];
let sockets: { socket: WebSocket; atMs: number; ids: string[] }[];
/** Of each client in turn. */
let asked: number;

beforeEach(async () => {
  [tokens, sockets, asked] = [[], [], 0];
  server = new WebSocketServer({ host: '127.0.0.1', port: 0, handleProtocols: () => 'graphql-transport-ws' });
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});

afterEach(async () => {
  for (const socket of server.clients) socket.terminate();
  await new Promise((resolve) => {
    server.close(resolve);
  });
});

/** Acknowledges, and then does as told with each socket in turn. */
function behave(
  act: (socket: WebSocket, nth: number, id: string) => void,
  onInit?: (socket: WebSocket) => boolean,
): void {
  server.on('connection', (socket) => {
    const own = { socket, atMs: performance.now(), ids: [] as string[] };
    const nth = sockets.push(own);
    socket.on('message', (data: Buffer) => {
      const { type, id = '', payload } = JSON.parse(data.toString()) as Message;
      if (type === 'connection_init') {
        tokens.push(payload?.['Authorization']);
        if (onInit?.(socket) !== false) socket.send(JSON.stringify({ type: 'connection_ack' }));
      }
      if (type === 'subscribe') {
        own.ids.push(id);
        act(socket, nth, id);
      }
    });
  });
}

const next = (socket: WebSocket, id: string, n: number) => {
  socket.send(JSON.stringify({ id, type: 'next', payload: { data: { n } } }));
};

const newClient = () => createClient({ url, token: () => `t${String((asked += 1))}` });

async function take(
  count: number,
  events: AsyncIterable<SubscriptionEvent<unknown>>,
): Promise<SubscriptionEvent<unknown>[]> {
  const taken: SubscriptionEvent<unknown>[] = [];
  for await (const event of events) if (taken.push(event) === count) break;
  return taken;
}

const gapOf = (reason: string) => ({ gap: { from: expect.any(Date), to: expect.any(Date), reason } });

test('after 4401 it connects once with a fresh token, and tells the gap', async () => {
  behave((socket, nth, id) => {
    next(socket, id, nth);
    if (nth === 1) socket.close(4401, 'unauthorized: The token has expired');
  });
  const client = newClient();
  expect(await take(3, client.subscribe('subscription { n }'))).toEqual([
    { data: { n: 1 } },
    gapOf('unauthorized'),
    { data: { n: 2 } },
  ]);
  expect(tokens).toEqual(['Bearer t1', 'Bearer t2']);
  await client.close();
});

test('a second 4401 is final', async () => {
  behave(
    () => undefined,
    (socket) => {
      socket.close(4401, 'unauthorized: No');
      return false;
    },
  );
  const client = newClient();
  await expect(take(1, client.subscribe('subscription { n }'))).rejects.toMatchObject({
    code: 'unauthorized',
    name: 'AuthenticationError',
  });
  expect(tokens).toEqual(['Bearer t1', 'Bearer t2']);
});

test.each([
  [4403, 'account_blocked', 'AccessDeniedError'],
  [4429, 'points_limit_exceeded', 'PlanError'],
  [1011, 'internal_error', 'UnavailableError'],
])('%d is final: %s', async (closeCode, code, name) => {
  behave((socket) => {
    socket.close(closeCode, `${code}: Sorry`);
  });
  const client = newClient();
  await expect(take(1, client.subscribe('subscription { n }'))).rejects.toMatchObject({
    code,
    name,
    message: 'Sorry',
  });
  expect(sockets).toHaveLength(1);
});

test.each([
  [1012, 'service_restart: Reconnect', 'service_restart'],
  [1013, 'service_unavailable: Later', 'service_unavailable'],
  [1000, '', 'connection_failed'],
])('%d: every subscription resumes and is told the gap', async (closeCode, reason, code) => {
  behave((socket, nth, id) => {
    next(socket, id, nth);
    if (nth === 1 && sockets[0]?.ids.length === 2) socket.close(closeCode, reason);
  });
  const client = newClient();
  const seen = await Promise.all([
    take(3, client.subscribe('subscription { a }')),
    take(3, client.subscribe('subscription { b }')),
  ]);
  for (const events of seen) expect(events).toEqual([{ data: { n: 1 } }, gapOf(code), { data: { n: 2 } }]);
  expect(sockets).toHaveLength(2);
  await client.close();
});

test('a socket that is cut without a close is resumed, too', async () => {
  behave((socket, nth, id) => {
    next(socket, id, nth);
    if (nth === 1)
      setImmediate(() => {
        socket.terminate();
      });
  });
  const client = newClient();
  expect(await take(3, client.subscribe('subscription { n }'))).toEqual([
    { data: { n: 1 } },
    gapOf('connection_failed'),
    { data: { n: 2 } },
  ]);
  await client.close();
});

test('clients of a gateway that restarts come back over at least five seconds', async () => {
  behave((socket, nth, id) => {
    next(socket, id, nth);
  });
  const clients = Array.from({ length: 100 }, newClient);
  const all = Promise.all(clients.map((client) => take(3, client.subscribe('subscription { n }'))));
  await waitFor(() => sockets.filter(({ ids }) => ids.length === 1).length === 100);
  const restarted = performance.now();
  for (const { socket } of sockets) socket.close(1012, 'service_restart: Reconnect');
  await all;
  const waits = sockets
    .slice(100)
    .map(({ atMs }) => atMs - restarted)
    .sort((a, b) => a - b);
  expect(waits).toHaveLength(100);
  // Of 100 uniform draws, a quarter within a second has a chance of one in 100,000.
  expect(waits.filter((wait) => wait < 1_000).length).toBeLessThan(35);
  expect(waits.at(-1)).toBeGreaterThan(5_000);
  await Promise.all(clients.map((client) => client.close()));
});

test('waits double, to a minute at most', () => {
  for (const [retries, most] of [
    [0, 6_000],
    [1, 12_000],
    [3, 48_000],
    [50, 60_000],
  ] as const) {
    const waits = Array.from({ length: 200 }, () => reconnectDelayMs(retries));
    expect(Math.max(...waits)).toBeLessThanOrEqual(most);
    expect(Math.max(...waits)).toBeGreaterThan(most * 0.8);
  }
});

test('the signal ends it, also while nothing comes', async () => {
  behave(() => undefined);
  const client = newClient();
  const controller = new AbortController();
  const taken = take(1, client.subscribe('subscription { n }', {}, { signal: controller.signal }));
  await waitFor(() => sockets[0]?.ids.length === 1);
  controller.abort();
  await expect(taken).rejects.toBe(controller.signal.reason);
  await waitFor(() => server.clients.size === 0);
});

test('a token that cannot be had is the error of the subscription', async () => {
  behave(() => undefined);
  const client = createClient({ url, token: () => '' });
  await expect(take(1, client.subscribe('subscription { n }'))).rejects.toMatchObject({
    code: 'invalid_response',
  });
});

test('a token that cannot be had for a moment ends nothing', async () => {
  behave((socket, nth, id) => {
    next(socket, id, nth);
    if (nth === 1) socket.close(4401, 'unauthorized: The token has expired');
  });
  const token = () => {
    asked += 1;
    if (asked === 2) throw new UnavailableError({ code: 'temporarily_unavailable', message: 'Later' });
    return `t${String(asked)}`;
  };
  const client = createClient({ url, token });
  expect(await take(3, client.subscribe('subscription { n }'))).toEqual([
    { data: { n: 1 } },
    gapOf('unauthorized'),
    // The second socket was left without a token.
    { data: { n: 3 } },
  ]);
  expect(tokens).toEqual(['Bearer t1', 'Bearer t3']);
  await client.close();
});

test('an error of the operation is typed by its code', async () => {
  behave((socket, _, id) => {
    const extensions = { code: 'subscription_limit_exceeded', request_id: 'r', limit: 1, retry_after_sec: 2 };
    socket.send(JSON.stringify({ id, type: 'error', payload: [{ message: 'Full', extensions }] }));
  });
  const client = newClient();
  await expect(take(1, client.subscribe('subscription { n }'))).rejects.toMatchObject({
    code: 'subscription_limit_exceeded',
    limit: 1,
    retryAfterMs: 2_000,
  });
  await client.close();
});
