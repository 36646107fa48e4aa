import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { GET, bodyOf, outcomeOf, startRawServer } from '../../../test/suite/raw-server.ts';
import type { RawServer } from '../../../test/suite/raw-server.ts';

const POST = { ...GET, method: 'POST', body: Buffer.from('{}') };
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n';
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n';

let server: RawServer;

beforeAll(async () => {
  server = await startRawServer();
});

afterEach(() => server.reset());

afterAll(() => server.stop());

describe('the response to one request is never that to another', () => {
  test('bytes behind a response end its connection', async () => {
    const { dispatch } = server.open((socket, _request, number) => {
      socket.write(number === 1 ? `${OK}ok${OK}no` : `${OK}ok`);
    });
    expect([await bodyOf(dispatch), await bodyOf(dispatch)]).toEqual(['ok', 'ok']);
    expect(server.connections).toHaveLength(2);
  });

  test.each([
    ['a response', `${OK}no`],
    ['half of one', OK],
    ['anything', '\r\n'],
  ])('an idle connection ends when %s arrives on it', async (_what, unsolicited) => {
    const { dispatch } = server.open((socket) => socket.write(`${OK}ok`));
    expect(await bodyOf(dispatch)).toBe('ok');
    server.connections[0]?.write(unsolicited);
    await waitFor(() => server.connections[0]?.destroyed === true);
    expect(await bodyOf(dispatch)).toBe('ok');
    expect(server.connections).toHaveLength(2);
  });

  test('many at once, some of them not plain, some given up', async () => {
    const { dispatch } = server.open(
      (socket, request) => {
        const path = /^GET (\S+)/.exec(request)?.[1] ?? '';
        const length = `Content-Length: ${String(path.length)}`;
        const chunks = `Transfer-Encoding: chunked\r\n\r\n${path.length.toString(16)}\r\n${path}\r\n0\r\n\r\n`;
        const text = path.endsWith('7') ? chunks : `${length}\r\n\r\n${path}`;
        setImmediate(() => socket.write(`HTTP/1.1 200 OK\r\n${text}`));
      },
      { connections: 5 },
    );
    const ask = async (number: number) => {
      const path = `/${'x'.repeat(number % 13)}${String(number)}`;
      if (number % 11 === 0) {
        dispatch(
          { ...GET, path },
          {
            onRequestStart: (controller) => {
              controller.abort(new Error('gone'));
            },
            onResponseError: () => undefined,
          },
        );
        return;
      }
      expect(await bodyOf(dispatch, { ...GET, path })).toBe(path);
    };
    await Promise.all(Array.from({ length: 300 }, (_, number) => ask(number)));
    expect(server.connections.filter((socket) => !socket.destroyed).length).toBeLessThanOrEqual(5);
  });
});

describe('a connection', () => {
  test('that the server has ended costs no request', async () => {
    const { dispatch } = server.open((socket) => socket.write(`${OK}ok`));
    for (let round = 0; round < 20; round += 1) {
      expect(await bodyOf(dispatch)).toBe('ok');
      const used = server.connections.at(-1);
      used?.end();
      await waitFor(() => used?.destroyed === true);
    }
  });

  test.each(['close', 'keep-alive'])('is used again unless the server says otherwise: %s', async (option) => {
    const { dispatch } = server.open((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nConnection: ${option}\r\nContent-Length: 2\r\n\r\nok`);
    });
    expect([await bodyOf(dispatch), await bodyOf(dispatch)]).toEqual(['ok', 'ok']);
    expect(server.connections).toHaveLength(option === 'close' ? 2 : 1);
  });

  test('ends when it has been idle', async () => {
    const { dispatch } = server.open((socket) => socket.write(`${OK}ok`), { keepAliveMs: 50 });
    expect(await bodyOf(dispatch)).toBe('ok');
    await waitFor(() => server.connections[0]?.destroyed === true);
  });

  test('is undici’s once a response isn’t plain, and carries on', async () => {
    const { dispatch } = server.open((socket, request) => {
      socket.write(request.includes('/chunked') ? CHUNKED : `${OK}ok`);
    });
    for (const path of ['/', '/chunked', '/', '/chunked']) {
      expect(await bodyOf(dispatch, { ...POST, path })).toBe('ok');
    }
    expect(server.connections).toHaveLength(1);
  });

  test('is undici’s for a request that isn’t plain, within the limit of connections', async () => {
    const requests: string[] = [];
    const { dispatch } = server.open((socket, request) => {
      requests.push(request);
      if (request.endsWith('0\r\n\r\n') || request.includes('GET')) socket.write(`${OK}ok`);
    });
    const streamed = { ...POST, body: Readable.from([Buffer.from('a'), Buffer.from('b')]) };
    expect(await Promise.all([bodyOf(dispatch), bodyOf(dispatch, streamed), bodyOf(dispatch)])).toEqual([
      'ok',
      'ok',
      'ok',
    ]);
    expect(requests.join('')).toContain('transfer-encoding: chunked');
    expect(server.connections).toHaveLength(1);
  });
});

describe('a request', () => {
  test('has its fields in order, Host first, and the length of its body', async () => {
    let sent = '';
    const { dispatch } = server.open((socket, request) => {
      sent = request;
      socket.write(`${OK}ok`);
    });
    const body = Buffer.from('ä\0', 'utf8');
    const request = {
      ...POST,
      body,
      sharedHeaders: ['X-A', '1'],
      headers: ['X-B', '\xe4', 'content-length', '3'],
    };
    expect(await bodyOf(dispatch, request)).toBe('ok');
    const host = server.origin.replace('http://', '');
    expect(sent).toBe(
      `POST / HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\nX-A: 1\r\nX-B: \xe4\r\ncontent-length: 3\r\n\r\n${body.toString('latin1')}`,
    );
  });

  test.each([
    ['a field that would end its line', { headers: ['x-a', 'b\r\nx-c: d'] }],
    ['a name that would', { headers: ['x-a: b\r\nx-c', 'd'] }],
    ['the same among shared fields', { sharedHeaders: ['x-a', 'b\nc'] }],
    ['a path that would', { path: '/ HTTP/1.1\r\nx-a: b\r\n' }],
    ['a transfer coding', { headers: ['transfer-encoding', 'chunked'] }],
    ['a length that isn’t its own', { headers: ['content-length', '3'] }],
  ])('with %s is refused, and the connection serves the next', async (_what, part) => {
    const { dispatch } = server.open((socket) => socket.write(`${OK}ok`));
    expect(await outcomeOf(dispatch, { ...POST, ...part })).toHaveProperty('error');
    expect(await bodyOf(dispatch)).toBe('ok');
  });

  test.each([
    ['without a head', 'UND_ERR_HEADERS_TIMEOUT', ''],
    ['with half a head', 'UND_ERR_HEADERS_TIMEOUT', OK.slice(0, 30)],
    ['with half a body', 'UND_ERR_BODY_TIMEOUT', `${OK}o`],
  ])('%s fails in time, and the next gets a connection of its own', async (_what, code, text) => {
    const { dispatch } = server.open(
      (socket, _request, number) => socket.write(number === 1 ? text : `${OK}ok`),
      {
        headersTimeoutMs: 150,
        bodyIdleTimeoutMs: 100,
      },
    );
    expect([await bodyOf(dispatch), await bodyOf(dispatch)]).toEqual([code, 'ok']);
  });

  test('whose head comes too slowly fails in time', async () => {
    const { dispatch } = server.open(
      (socket) => {
        let sent = 0;
        const sending = setInterval(() => {
          if (sent === OK.length || socket.destroyed) clearInterval(sending);
          else socket.write(OK[(sent += 1) - 1] ?? '');
        }, 20);
      },
      { headersTimeoutMs: 150 },
    );
    expect(await bodyOf(dispatch)).toBe('UND_ERR_HEADERS_TIMEOUT');
  });

  test('that is given up at its head gets no body', async () => {
    const { dispatch } = server.open((socket) => socket.write(`${OK}ok`));
    const events: string[] = [];
    dispatch(GET, {
      onResponseStart: (controller) => {
        controller.abort(new Error('given up'));
      },
      onResponseData: () => events.push('data'),
      onResponseEnd: () => events.push('end'),
      onResponseError: (_controller, { message }) => events.push(message),
    });
    expect(await bodyOf(dispatch)).toBe('ok');
    expect(events).toEqual(['given up']);
  });

  test.each(['onResponseStart', 'onResponseData', 'onResponseEnd'])(
    'whose handler throws in %s ends its connection alone',
    async (method) => {
      const { dispatch } = server.open((socket) => socket.write(`${OK}ok`));
      dispatch(GET, {
        onResponseError: () => undefined,
        [method]: () => {
          throw new Error('a fault of the handler');
        },
      });
      expect(await bodyOf(dispatch)).toBe('ok');
      expect(server.connections).toHaveLength(2);
    },
  );

  test('that is broken off within its body fails', async () => {
    const { dispatch } = server.open((socket) => socket.end(`${OK}o`));
    expect(await bodyOf(dispatch)).toBe('UND_ERR_SOCKET');
  });

  test('to a pool that is closed fails; those before it end first', async () => {
    const { dispatch, close } = server.open((socket) => setImmediate(() => socket.write(`${OK}ok`)));
    const before = [bodyOf(dispatch), bodyOf(dispatch)];
    const closed = close();
    expect(await bodyOf(dispatch)).toBe('UND_ERR_CLOSED');
    expect(await Promise.all(before)).toEqual(['ok', 'ok']);
    await closed;
  });

  test('whose reader pauses waits, without a time limit', async () => {
    const big = 'x'.repeat(2_000_000);
    const { dispatch } = server.open(
      (socket) => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${String(big.length)}\r\n\r\n${big}`),
      { bodyIdleTimeoutMs: 50 },
    );
    let received = 0;
    const ended = new Promise<void>((resolve, reject) => {
      dispatch(GET, {
        onResponseData: (controller, chunk) => {
          received += chunk.length;
          controller.pause();
          setTimeout(
            () => {
              controller.resume();
            },
            received < 200_000 ? 70 : 0,
          );
        },
        onResponseEnd: () => {
          resolve();
        },
        onResponseError: (_controller, error) => {
          reject(error);
        },
      });
    });
    await ended;
    expect(received).toBe(big.length);
  });
});
