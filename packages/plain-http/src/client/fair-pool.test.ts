import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Dispatcher } from 'undici';
import { waitFor } from '@tollgate/stack/wait-for';
import { bodyOf, GET, startRawServer } from '../../test/suite/raw-server.ts';
import type { RawServer } from '../../test/suite/raw-server.ts';
import type { HttpPool, HttpPoolOptions, PoolRequest } from './http-pool.ts';

/** Holders share a pool: one that takes all it can get keeps no other waiting. */

let server: RawServer;
let asked: string[];
let answers: (() => void)[];

beforeAll(async () => {
  server = await startRawServer();
});
afterEach(() => server.reset());
afterAll(() => server.stop());

/** A server that answers a request with its path, once the test lets it. */
function open(options: Partial<HttpPoolOptions>): HttpPool {
  asked = [];
  answers = [];
  return server.open((socket, request) => {
    const path = /^GET (\S+)/.exec(request)?.[1] ?? '';
    asked.push(path);
    answers.push(() => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${String(path.length)}\r\n\r\n${path}`);
    });
  }, options);
}

const of = (holder: string, number = 1): PoolRequest => ({
  ...GET,
  path: `/${holder}${String(number)}`,
  holder,
});

async function answerUntil(all: Promise<unknown>): Promise<void> {
  let isOver = false;
  const over = all.then(() => {
    isOver = true;
  });
  await waitFor(() => {
    for (const answer of answers.splice(0)) answer();
    return isOver;
  });
  await over;
}

test('a holder has its connections at most, and another one is served at once', async () => {
  const pool = open({ connections: 4, connectionsPerHolder: 2 });
  const ofA = Array.from({ length: 10 }, (_, index) => bodyOf(pool.dispatch, of('a', index)));
  const ofB = bodyOf(pool.dispatch, of('b'));
  await waitFor(() => asked.length === 3);
  expect(asked.toSorted()).toEqual(['/a0', '/a1', '/b1']);
  await answerUntil(Promise.all([...ofA, ofB]));
  expect(asked).toHaveLength(11);
  expect(server.connections).toHaveLength(3);
});

test('several holders don’t have all connections between them: a further one is served at once', async () => {
  const pool = open({ connections: 16, connectionsPerHolder: 8 });
  const ofTwo = ['a', 'b'].flatMap((holder) =>
    Array.from({ length: 10 }, (_, index) => bodyOf(pool.dispatch, of(holder, index))),
  );
  const ofC = bodyOf(pool.dispatch, of('c'));
  await waitFor(() => asked.includes('/c1'));
  expect(asked.filter((path) => path.startsWith('/a'))).toHaveLength(8);
  expect(asked.filter((path) => path.startsWith('/b'))).toHaveLength(7);
  await answerUntil(Promise.all([...ofTwo, ofC]));
  expect(asked).toHaveLength(21);
});

test('a holder that may have all connections has them', async () => {
  const pool = open({ connections: 8, connectionsPerHolder: 8 });
  const all = Array.from({ length: 8 }, (_, index) => bodyOf(pool.dispatch, of('a', index)));
  await waitFor(() => asked.length === 8);
  await answerUntil(Promise.all(all));
});

test('holders wait in turn', async () => {
  const pool = open({ connections: 1 });
  const all = ['a', 'a', 'a', 'a', 'b', 'c', 'b'].map((holder, index) =>
    bodyOf(pool.dispatch, of(holder, index)),
  );
  await answerUntil(Promise.all(all));
  expect(asked).toEqual(['/a0', '/a1', '/b4', '/c5', '/a2', '/b6', '/a3']);
});

test('too many that wait: the longest queue gives way, and a queue without end is refused', async () => {
  const pool = open({ connections: 1, maxWaiting: 4 });
  const ofA = Array.from({ length: 8 }, (_, index) => bodyOf(pool.dispatch, of('a', index)));
  const refusal = 'POOL_FULL';
  expect(await Promise.all(ofA.slice(5))).toEqual([refusal, refusal, refusal]);
  const ofB = [1, 2].map((index) => bodyOf(pool.dispatch, of('b', index)));
  expect(await ofA[4]).toBe(refusal);
  expect(await ofA[3]).toBe(refusal);
  const lastOfB = bodyOf(pool.dispatch, of('b', 3));
  expect(await lastOfB).toBe(refusal);
  await answerUntil(Promise.all([...ofA.slice(0, 3), ...ofB]));
  expect(asked).toEqual(['/a0', '/a1', '/b1', '/a2', '/b2']);
});

test('one that waits no longer is never sent, and leaves its place', async () => {
  const pool = open({ connections: 1 });
  const first = bodyOf(pool.dispatch, of('a', 1));
  const stop = pool.dispatch(of('a', 2), {});
  const third = bodyOf(pool.dispatch, of('a', 3));
  expect(stop).not.toBeNull();
  stop?.();
  await answerUntil(Promise.all([first, third]));
  expect(asked).toEqual(['/a1', '/a3']);
});

test('a holder whose connection is lost gets another one', async () => {
  const pool = open({ connections: 2, connectionsPerHolder: 1 });
  const lost = bodyOf(pool.dispatch, of('a', 1));
  const waits = bodyOf(pool.dispatch, of('a', 2));
  await waitFor(() => asked.length === 1);
  server.connections[0]?.destroy();
  expect(await lost).toBe('UND_ERR_SOCKET');
  await answerUntil(waits);
  expect(await waits).toBe('/a2');
});

test('an exchange that lasts is set apart: it holds no place, and its connection closes at its end', async () => {
  let finish: (() => void) | undefined;
  const pool = server.open(
    (socket, request) => {
      if (!request.startsWith('GET /stream')) {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
        return;
      }
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nbegun\r\n');
      finish = () => socket.write('4\r\nover\r\n0\r\n\r\n');
    },
    { connections: 1, connectionsPerHolder: 1 },
  );
  let apart: Dispatcher.DispatchHandler = {};
  const stream = bodyOf(
    (request, handler) => {
      apart = {
        ...handler,
        onResponseStart: (controller, ...head) => {
          handler.onResponseStart?.(controller, ...head);
          pool.setApart(apart);
        },
      };
      return pool.dispatch(request, apart);
    },
    { ...GET, path: '/stream', holder: 'a' },
  );
  await waitFor(() => finish !== undefined);
  for (let number = 0; number < 3; number += 1)
    expect(await bodyOf(pool.dispatch, of('a', number))).toBe('ok');
  expect(server.connections).toHaveLength(2);
  finish?.();
  expect(await stream).toBe('begunover');
  await waitFor(() => server.connections.filter(({ destroyed }) => destroyed).length === 1);
  await pool.close();
});
