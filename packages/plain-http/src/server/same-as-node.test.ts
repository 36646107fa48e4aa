import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { connectRaw } from '../../test/suite/raw-client.ts';
import { createReadBytes } from './read-request.ts';

const limits = { maxUrlBytes: 100, maxHeaderBytes: 1_000, maxHeaderCount: 10, maxBodyBytes: 50 };

type Seen = { method?: string | undefined; url?: string | undefined; rawHeaders: string[]; body: string };

describe('whatever is read as a request, node:http reads in the same way', () => {
  let server: Server;
  let seen: Seen[] = [];
  let accepted = 0;

  beforeAll(async () => {
    server = createServer((req, res) => {
      void buffer(req).then(
        (body) => {
          const { method, url, rawHeaders } = req;
          seen.push({ method, url, rawHeaders, body: body.toString('latin1') });
          res.end();
        },
        () => undefined,
      );
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });

  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  async function readByNode(bytes: Buffer): Promise<Seen[]> {
    seen = [];
    const { socket, closed } = connectRaw(server);
    socket.end(bytes);
    await closed;
    return seen;
  }

  const mostly = (usual: string, ...others: string[]) =>
    fc.oneof({ weight: 4 * others.length, arbitrary: fc.constant(usual) }, fc.constantFrom(...others));
  const line = fc.oneof(
    { weight: 12, arbitrary: fc.tuple(fc.nat(99), fc.string()).map(([n, v]) => `X-${String(n)}: v${v}v`) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        'Host: a',
        'Content-Length: 4',
        'X-A: 1',
        'Accept: */*, text/plain',
        'Transfer-Encoding: chunked',
        'Content-Length: 5',
        'Content-Length:  4',
        'Content-Length: 4,4',
        'X-B:\t',
        'X-C : 1',
        ' folded',
        'x-a: 2',
        'Connection: keep-alive',
        'Connection: close',
        ': 1',
        'X',
        'Connection: content-length',
        'Proxy-Connection: close',
        'X-D: \x80\xff',
        'X-E: a\x7f',
        'X\x80: 1',
      ),
    },
    fc.string({ unit: 'binary-ascii', maxLength: 12 }),
  );
  const ending = fc.oneof(
    { weight: 40, arbitrary: fc.constant('\r\n') },
    fc.constantFrom('\n', '\r', '\r\r\n', '\r\n\r\n'),
  );
  const text = fc
    .record({
      start: mostly(
        'POST /graphql HTTP/1.1\r\n',
        'GET /?a=b HTTP/1.1\r\n',
        'POST /\xe4 HTTP/1.1\r\n',
        'POST  / HTTP/1.1\r\n',
        'GET / HTTP/1.1 \r\n',
        '\r\nGET / HTTP/1.1\r\n',
        'GET /\t HTTP/1.1\r\n',
      ),
      framing: mostly('Host: a\r\nContent-Length: 4\r\n', 'Host: a\r\n', ''),
      lines: fc.array(fc.tuple(line, ending), { maxLength: 4 }),
      body: mostly('body', '', 'bod', 'body5', 'bodyGET / HTTP/1.1\r\nHost: b\r\n\r\n', '0\r\n\r\n'),
    })
    .map(({ start, framing, lines, body }) => `${start}${framing}${lines.flat().join('')}\r\n${body}`);
  /** One byte of it is replaced, removed or inserted. */
  const damaged = fc
    .record({ text, at: fc.nat(), byte: fc.nat(255), kind: mostly('keep', 'replace', 'remove', 'insert') })
    .map(({ text: whole, at, byte, kind }) => {
      const bytes = [...Buffer.from(whole, 'latin1')];
      if (kind !== 'keep') {
        bytes.splice(at % bytes.length, kind === 'insert' ? 0 : 1, ...(kind === 'remove' ? [] : [byte]));
      }
      return Buffer.from(bytes);
    });

  test('byte by byte, damaged or not', async () => {
    await fc.assert(
      fc.asyncProperty(damaged, async (bytes) => {
        const request = createReadBytes(limits)(bytes);
        if (request === null || request === 'incomplete') return;
        accepted += 1;
        const body = request.body?.toString('latin1') ?? '';
        expect(await readByNode(bytes)).toEqual([{ ...request.read.head, body }]);
      }),
      { numRuns: 4_000 },
    );
    expect(accepted).toBeGreaterThan(400);
  });
});
