import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { GET, bodyOf, outcomeOf, startRawServer } from '../../test/suite/raw-server.ts';
import type { RawServer } from '../../test/suite/raw-server.ts';

const POST = { ...GET, method: 'POST' };
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const REFUSAL = 'HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 9\r\n\r\ntoo large';

let server: RawServer;

beforeAll(async () => {
  server = await startRawServer();
});

afterEach(() => server.reset());

afterAll(() => server.stop());

const PIECE = Buffer.alloc(16_384, 'x');

// A server that closes with bytes unread resets the connection, whatever it has answered (RFC 9112, section 9.6).
describe('a server that answers, and closes, before it has read the body', () => {
  test.each([
    ['by length', REFUSAL],
    ['in chunks', 'HTTP/1.1 413 Too Large\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ntoo large\r\n0\r\n\r\n'],
  ])('is heard, each time (%s)', async (_name, answer) => {
    let body: Readable | Buffer = Buffer.alloc(4_000_000, 'x');
    const { dispatch } = server.open((socket) => {
      socket.pause().write(answer, () => {
        socket.destroy();
        if (!(body instanceof Readable)) return;
        // What is written now is answered by a reset, and what follows fails, before the answer is read.
        for (let count = 0; count < 3; count += 1) body.push(PIECE);
      });
    });
    expect(await outcomeOf(dispatch, { ...POST, body })).toMatchObject({ status: 413, body: 'too large' });
    for (let call = 0; call < 15; call += 1) {
      body = new Readable({ read: () => undefined });
      body.push(PIECE);
      expect(await outcomeOf(dispatch, { ...POST, body })).toMatchObject({ status: 413, body: 'too large' });
    }
  });

  test('and its connection, on which the rest of the body is still to be sent, isn’t used again', async () => {
    const { dispatch } = server.open((socket, request) => {
      if (request.startsWith('POST')) socket.pause().write(OK);
      else socket.write(OK);
    });
    expect(await bodyOf(dispatch, { ...POST, body: Buffer.alloc(20_000_000, 'x') })).toBe('ok');
    expect(await bodyOf(dispatch)).toBe('ok');
    expect(server.connections).toHaveLength(2);
  });

  test('without an answer, it is lost at once', async () => {
    const { dispatch } = server.open((socket) => {
      socket.pause();
      socket.resetAndDestroy();
    });
    for (const body of [Readable.from([PIECE, PIECE]), Buffer.alloc(4_000_000, 'x')]) {
      expect(await outcomeOf(dispatch, { ...POST, body })).toHaveProperty('error');
    }
  });
});

describe('a head that ends its lines with LF alone fails at once', () => {
  const lf = (text: string) => text.replaceAll('\r\n', '\n');
  test.each([
    ['whole', lf(OK)],
    ['its first line', OK.replace('\r\n', '\n')],
    ['its last line', OK.replace('\r\n\r\n', '\r\n\n')],
    ['within', 'HTTP/1.1 200 OK\r\nX: y\nContent-Length: 2\r\n'],
    ['that of an interim response', lf('HTTP/1.1 100 Continue\r\n\r\n')],
  ])('%s', async (_name, answer) => {
    const { dispatch } = server.open((socket) => socket.write(answer));
    for (const request of [GET, { ...POST, body: Readable.from([PIECE]) }]) {
      const outcome = await outcomeOf(dispatch, request);
      expect(outcome).toHaveProperty('error');
      expect(outcome).not.toHaveProperty('error', 'UND_ERR_HEADERS_TIMEOUT');
    }
  });
});
