import { once } from 'node:events';
import { afterEach, describe, expect, test } from '@jest/globals';
import { writeSharedHead } from '@tollgate/plain-http/message';
import type { HttpHandler, HttpResponse } from '@tollgate/plain-http/message';
import { waitFor } from '@tollgate/stack/wait-for';
import { closeListener, connectAgain, echo, open, post, withBody } from '../../test/suite/wire.ts';

afterEach(closeListener);

const SHARED = ['x-a', '1', 'x-b', '2'];

describe('a response', () => {
  const heads = async (answer: (res: HttpResponse) => void) => {
    const handler: HttpHandler = (req, res) => {
      withBody(req, () => {
        answer(res);
      });
    };
    const fast = await open(handler, {
      fastPath: { handlerOf: ({ url }) => (url === '/fast' ? handler : null) },
    });
    const node = connectAgain();
    const answers: string[] = [];
    for (const [url, wire] of [
      ['/fast', fast],
      ['/node', node],
    ] as const) {
      wire.socket.write(post(url, 'body'));
      // The next request shows that the first response is complete, or that the connection has ended.
      wire.socket.end();
      await wire.closed;
      answers.push(wire.received().replace(/^Date: .*$/m, 'Date: now'));
    }
    return answers;
  };

  test.each<[string, (res: HttpResponse) => void]>([
    ['of known length', (res) => (res.writeHead(200, ['Content-Length', '2']), res.end('ok', 'latin1'))],
    [
      'with fields as an object',
      (res) => (res.writeHead(404, { 'content-length': 2, 'x-a': 'b' }), res.end('no')),
    ],
    ['in UTF-8', (res) => (res.writeHead(200, ['content-length', '3']), res.end('é!'))],
    ['of bytes', (res) => (res.writeHead(200, ['content-length', '2']), res.end(Buffer.from('ok')))],
    ['that is empty', (res) => (res.writeHead(200, ['content-length', '0']), res.end())],
    ['without content', (res) => (res.writeHead(204), res.end())],
    ['that is not modified', (res) => (res.writeHead(304, ['etag', '"a"']), res.end())],
    [
      'with a Date of its own',
      (res) => (res.writeHead(200, ['date', 'then', 'content-length', '0']), res.end()),
    ],
    [
      'that says close',
      (res) => (res.writeHead(200, ['Connection', 'close', 'content-length', '0']), res.end()),
    ],
    [
      'that may not keep the connection',
      (res) => ((res.shouldKeepAlive = false), res.writeHead(200, ['content-length', '0']), res.end()),
    ],
    [
      'that sets fields and replaces one',
      (res) => {
        res.setHeader('X-A', '1');
        res.setHeader('x-b', '2');
        res.setHeader('x-a', '3');
        res.writeHead(200, ['X-B', '4', 'x-c', '5', 'x-c', '6', 'content-length', '0']);
        res.end();
      },
    ],
    ...['first', 'again'].map((time): [string, (res: HttpResponse) => void] => [
      `with shared fields, ${time}`,
      (res) => (
        writeSharedHead(res, 200, SHARED, ['x-c', '3', 'content-length', '2']),
        res.end('ok', 'latin1')
      ),
    ]),
    [
      'with shared fields that replace one that was set',
      (res) => {
        res.setHeader('X-B', '4');
        writeSharedHead(res, 200, SHARED, ['content-length', '0']);
        res.end();
      },
    ],
    [
      'with a shared Date, length and Connection',
      (res) => {
        const shared = ['date', 'then', 'content-length', '0', 'connection', 'close'];
        writeSharedHead(res, 200, shared, ['x-c', '3']);
        res.end();
      },
    ],
  ])('%s is byte for byte that of node:http', async (_what, answer) => {
    const [fast, node] = await heads(answer);
    expect(fast).toBe(node);
    expect(fast).toMatch(/^HTTP\/1\.1 \d{3} /);
  });

  /** Without its coding; node:http makes chunks of its own choice. */
  const contentOf = (text: string) => {
    const [head = '', ...content] = text.split('\r\n\r\n');
    if (!/^transfer-encoding: chunked$/im.test(head)) return content.join('\r\n\r\n');
    expect(text.endsWith('\r\n0\r\n\r\n')).toBe(true);
    return content.join('').replaceAll(/(?:\r\n)?[0-9a-f]+\r\n/g, '');
  };

  test.each<[string, (res: HttpResponse) => void]>([
    [
      'of unknown length is chunked',
      (res) => {
        res.writeHead(200);
        res.flushHeaders();
        res.write(Buffer.from('part'));
        res.end(Buffer.from('last'));
      },
    ],
    [
      'without a coding ends with its connection',
      (res) => {
        res.shouldKeepAlive = false;
        res.useChunkedEncodingByDefault = false;
        res.writeHead(200);
        res.write(Buffer.from('part'));
        res.end();
      },
    ],
    [
      'of known length comes in parts',
      (res) => {
        res.writeHead(200, ['content-length', '8']);
        res.write(Buffer.from('part'));
        res.write(Buffer.from('last'));
        res.end();
      },
    ],
  ])('%s, as that of node:http', async (_what, answer) => {
    const [fast = '', node = ''] = await heads(answer);
    const fields = (text: string) => text.split('\r\n\r\n')[0]?.split('\r\n').sort();
    expect(fields(fast)).toEqual(fields(node));
    expect(contentOf(fast)).toBe(contentOf(node));
  });

  test('takes no field that would end its line', async () => {
    const thrown: unknown[] = [];
    const wire = await open((_req, res) => {
      for (const fields of [
        ['x-a', 'b\r\nx-c: d'],
        ['x-a: b\r\nx-c', 'd'],
      ]) {
        try {
          res.writeHead(200, fields);
        } catch (error) {
          thrown.push((error as NodeJS.ErrnoException).code);
        }
      }
      res.writeHead(200, ['content-length', '0']);
      res.end();
    });
    wire.socket.write(post('/fast', 'body'));
    await waitFor(() => wire.received() !== '');
    expect(thrown).toEqual(['ERR_INVALID_CHAR', 'ERR_INVALID_HTTP_TOKEN']);
    expect(wire.received()).not.toContain('x-c');
  });

  test('waits for a caller that reads slowly, and says when it may go on', async () => {
    const chunk = Buffer.alloc(1_000_000);
    let drained = 0;
    const wire = await open((_req, res) => {
      res.writeHead(200);
      const send = () => {
        while (drained < 20) {
          drained += 1;
          if (!res.write(chunk)) {
            res.once('drain', send);
            return;
          }
        }
        res.end();
      };
      send();
    });
    wire.socket.pause();
    wire.socket.write(post('/fast', 'body'));
    await once(wire.socket, 'connect');
    await waitFor(() => drained > 0);
    expect(drained).toBeLessThan(20);
    wire.socket.resume();
    await waitFor(() => wire.received().endsWith('0\r\n\r\n'));
    expect(wire.received().length).toBeGreaterThan(20_000_000);
  });

  test('ends with its caller, whose disconnection it tells', async () => {
    const ended: boolean[] = [];
    let begun: HttpResponse | undefined;
    const wire = await open((_req, res) => {
      begun = res;
      res.on('close', () => ended.push(res.writableFinished, res.destroyed));
    });
    wire.socket.write(post('/fast', 'body'));
    await waitFor(() => begun !== undefined);
    // A close could still read the answer.
    wire.socket.resetAndDestroy();
    await waitFor(() => ended.length > 0);
    expect(ended).toEqual([false, true]);
    begun?.writeHead(200, ['content-length', '0']);
    expect(() => begun?.end()).not.toThrow();
  });

  test('tells its end once, and leaves the connection to the next', async () => {
    const events: string[] = [];
    const wire = await open((req, res) => {
      for (const event of ['finish', 'close'] as const) res.on(event, () => events.push(event));
      echo(req, res);
    });
    wire.socket.write(post('/fast', 'one'));
    await waitFor(() => events.length === 2);
    wire.socket.destroy();
    await wire.closed;
    expect(events).toEqual(['finish', 'close']);
  });
});
