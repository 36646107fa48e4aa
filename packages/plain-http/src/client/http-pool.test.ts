import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import dns from 'node:dns';
import { createServer as createHttpServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { POOL_OPTIONS } from '../../test/suite/raw-server.ts';
import { exchange } from './exchange.ts';
import { createHttpPool } from './http-pool.ts';
import type { HttpPool } from './http-pool.ts';

let servers: Server[];
let sockets: Set<Socket>;
let pool: HttpPool | undefined;

beforeEach(() => {
  servers = [];
  sockets = new Set();
});

afterEach(async () => {
  jest.restoreAllMocks();
  const closed = pool?.close();
  for (const socket of sockets) socket.destroy();
  await closed;
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
});

async function listen(server: Server, host = '127.0.0.1', port = 0): Promise<number> {
  servers.push(server);
  server.on('connection', (socket) => {
    sockets.add(socket.on('error', () => undefined));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

async function get(): Promise<string> {
  if (pool === undefined) throw new Error('there is no pool');
  const { status, text } = await exchange(
    pool,
    { method: 'GET', path: '/', headers: [], body: null },
    10_000,
  );
  return `${String(status)} ${text}`;
}

describe('a connection that has reached its age', () => {
  const answers =
    (name: string): RequestListener =>
    (_req, res) =>
      res.end(name);

  /** Until as many connections have come as that. */
  async function askUntil(connections: number): Promise<string[]> {
    const all: string[] = [];
    while (sockets.size < connections) all.push(await get());
    return all;
  }

  test('is replaced under steady load, and no request is lost', async () => {
    const port = await listen(createHttpServer(answers('ok')));
    pool = createHttpPool(`http://127.0.0.1:${String(port)}`, { ...POOL_OPTIONS, maxAgeMs: 50 });
    const all = await askUntil(5);
    expect(new Set(all)).toEqual(new Set(['200 ok']));
    expect(all.length).toBeGreaterThan(5);
  });

  test('is replaced where requests wait for it all the time', async () => {
    const port = await listen(createHttpServer(answers('ok')));
    pool = createHttpPool(`http://127.0.0.1:${String(port)}`, { ...POOL_OPTIONS, maxAgeMs: 50 });
    const all = await Promise.all(Array.from({ length: 8 }, () => askUntil(4)));
    expect(new Set(all.flat())).toEqual(new Set(['200 ok']));
  });

  test('finishes the answer under way on it', async () => {
    const server = createHttpServer((_req, res) => {
      res.write('begin,');
      setTimeout(() => res.end('end'), 150);
    });
    pool = createHttpPool(`http://127.0.0.1:${String(await listen(server))}`, {
      ...POOL_OPTIONS,
      maxAgeMs: 20,
    });
    expect([await get(), await get()]).toEqual(['200 begin,end', '200 begin,end']);
    expect(sockets.size).toBe(2);
  });

  test('makes room for one to where the name leads now', async () => {
    const port = await listen(createHttpServer(answers('old')));
    await listen(createHttpServer(answers('new')), '127.0.0.2', port);
    let address = '127.0.0.1';
    const lookUp = jest.spyOn(dns, 'lookup') as unknown as jest.Mock;
    lookUp.mockImplementation((_name, options, callback) => {
      const { all } = options as { all?: boolean };
      const answer = callback as (error: null, found: unknown, family?: number) => void;
      if (all === true) answer(null, [{ address, family: 4 }]);
      else answer(null, address, 4);
    });
    pool = createHttpPool(`http://upstream.example:${String(port)}`, { ...POOL_OPTIONS, maxAgeMs: 50 });
    expect(await get()).toBe('200 old');
    address = '127.0.0.2';
    const seen = new Set<string>();
    while (!seen.has('200 new')) seen.add(await get());
    expect([...seen].every((answer) => ['200 old', '200 new'].includes(answer))).toBe(true);
  });
});

test.each([1, 3])('a connection that has carried %i requests is replaced', async (maxRequests) => {
  const chunked: RequestListener = (_req, res) => {
    res.write('o');
    res.end('k');
  };
  const plain: RequestListener = (_req, res) => res.end('ok');
  for (const answer of [plain, chunked]) {
    sockets.clear();
    const port = await listen(createHttpServer(answer));
    const own = createHttpPool(`http://127.0.0.1:${String(port)}`, { ...POOL_OPTIONS, maxRequests });
    pool = own;
    for (let request = 1; request <= 7; request += 1) {
      expect(await get()).toBe('200 ok');
      expect(sockets.size).toBe(Math.ceil(request / maxRequests));
    }
    await own.close();
  }
});

describe('interim answers', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n';
  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

  /** What a request gets from a server that sends these pieces one after another, twice on one connection. */
  async function answersTo(pieces: string[]): Promise<string[]> {
    const server = createTcpServer((socket) => {
      socket.setNoDelay(true).on('data', () => {
        void (async () => {
          for (const piece of pieces) {
            socket.write(piece);
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
        })();
      });
    });
    pool = createHttpPool(`http://127.0.0.1:${String(await listen(server))}`, POOL_OPTIONS);
    const all = [await get(), await get()];
    expect(sockets.size).toBe(1);
    return all;
  }

  test.each([
    ['at once', [`${CONTINUE}${HEAD}ok`]],
    ['by itself', [CONTINUE, `${HEAD}ok`]],
    ['with fields', ['HTTP/1.1 100 Continue\r\nX: y\r\n\r\n', `${HEAD}ok`]],
    ['without a reason', ['HTTP/1.1 100 \r\n\r\n', `${HEAD}ok`]],
    ['in HTTP/1.0', ['HTTP/1.0 100 Continue\r\n\r\n', `${HEAD}ok`]],
    ['three times', [CONTINUE, `${CONTINUE}${CONTINUE}${HEAD}`, 'ok']],
    ['behind early hints', [`HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${CONTINUE}`, `${HEAD}ok`]],
    ['byte by byte', `${CONTINUE}${HEAD}ok`.match(/[^]/g) ?? []],
  ])('an unsolicited 100 Continue %s is dropped', async (_name, pieces) => {
    expect(await answersTo(pieces)).toEqual(['200 ok', '200 ok']);
  });

  test('a body that looks like one stays as it is', async () => {
    const length = `HTTP/1.1 200 OK\r\nContent-Length: ${String(CONTINUE.length)}\r\n\r\n`;
    expect(await answersTo([length, CONTINUE])).toEqual([`200 ${CONTINUE}`, `200 ${CONTINUE}`]);
  });

  test('what is no HTTP is an error at once', async () => {
    await expect(answersTo(['hello'])).rejects.toThrow('HTTP/1.1 protocol');
  });
});

test('a connection that doesn’t come about in time is an error by then', async () => {
  const server = createTcpServer();
  const port = await listen(server);
  pool = createHttpPool(`https://127.0.0.1:${String(port)}`, { ...POOL_OPTIONS, connectTimeoutMs: 100 });
  await expect(get()).rejects.toMatchObject({ code: 'UND_ERR_CONNECT_TIMEOUT' });
});

test('a request whose connection closes before it is sent keeps its place before those that wait', async () => {
  const asked: string[] = [];
  const firstCame = Promise.withResolvers<undefined>();
  const server = createHttpServer((req, res) => {
    const { url = '' } = req;
    asked.push(url);
    if (url === '/first') firstCame.resolve(undefined);
    // As one that takes long.
    if (url === '/second') void firstCame.promise.then(() => res.end());
    else res.end();
  });
  const port = await listen(server);
  const opened = createHttpPool(`http://127.0.0.1:${String(port)}`, { ...POOL_OPTIONS, connections: 1 });
  pool = opened;
  await get();
  const ask = (path: string, holder: number) =>
    exchange(opened, { method: 'GET', path, headers: [], body: null, holder }, 5_000);
  const answers = await new Promise<Promise<unknown>[]>((resolve) => {
    for (const socket of sockets) socket.destroy();
    // What the server has closed is seen only after this turn.
    setTimeout(() => {
      resolve([ask('/first', 1), ask('/second', 2)]);
    });
  });
  await Promise.all(answers);
  expect(asked).toEqual(['/', '/first', '/second']);
});
