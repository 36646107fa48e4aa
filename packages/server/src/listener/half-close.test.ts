import { afterEach, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { isWhole } from '@tollgate/plain-http/message';
import { chunked, closeListener, echo, echoes, open, post, sendEcho } from '../../test/suite/wire.ts';

afterEach(closeListener);

/** A whole request, and how it is read. */
const WAYS = [
  ['on the fast path', 'fast', post('/fast', 'hi')],
  ['by node:http', 'node', post('/other', 'hi')],
  ['by node:http, in chunks', 'node', chunked('/other')],
] as const;

// A connection whose caller sends no more may still be read from (RFC 9112, section 9.6).
describe.each(WAYS)('a caller that half-closes after a whole request, read %s,', (_name, way, request) => {
  const answer: unknown = expect.stringMatching(new RegExp(`^${way} /\\w+ hi$`));

  test('gets its answer, whether the end comes with the request', async () => {
    const wire = await open((req, res) => {
      setImmediate(echo, req, res);
    });
    wire.socket.end(request);
    await wire.closed;
    expect(echoes(wire)).toEqual([answer]);
  });

  test('or while it is handled', async () => {
    let finish: (() => void) | undefined;
    const wire = await open((req, res) => {
      if (!isWhole(req)) req.resume();
      req.socket.once('end', () => setImmediate(() => finish?.()));
      finish = () => {
        sendEcho(req, res, 'hi');
      };
    });
    wire.socket.write(request);
    await waitFor(() => finish !== undefined);
    wire.socket.end();
    await wire.closed;
    expect(echoes(wire)).toEqual([answer]);
  });

  test('or while the answer is sent', async () => {
    const wire = await open((req, res) => {
      if (!isWhole(req)) req.resume();
      req.socket.once('end', () => setImmediate(() => res.end(' end')));
      res.writeHead(200, ['Content-Length', '9']);
      res.write(Buffer.from('begin'));
    });
    wire.socket.write(request);
    await waitFor(() => wire.received().endsWith('begin'));
    wire.socket.end();
    await wire.closed;
    expect(wire.received()).toMatch(/begin end$/);
  });

  test('gets those to all that it has pipelined', async () => {
    const wire = await open(echo);
    wire.socket.end(request + post('/fast', 'two') + chunked('/fast'));
    await wire.closed;
    expect(echoes(wire).map((text) => text?.split(' ')[2])).toEqual(['hi', 'two', 'hi']);
  });
});

test('requests that came within a response are answered, too, after the end', async () => {
  const begun: (() => void)[] = [];
  const wire = await open((req, res) => {
    begun.push(() => {
      echo(req, res);
    });
  });
  wire.socket.write(post('/fast', 'one'));
  await waitFor(() => begun.length === 1);
  wire.socket.end(post('/fast', 'two') + chunked('/other'));
  for (let answered = 0; answered < 3; answered += 1) {
    await waitFor(() => begun.length > answered);
    begun[answered]?.();
  }
  await wire.closed;
  expect(echoes(wire).map((text) => text?.split(' ')[2])).toEqual(['one', 'two', 'hi']);
});

test.each(['/fast', '/other'])('half a request that ends so is 400 (%s)', async (path) => {
  const wire = await open(echo);
  wire.socket.end(post(path, 'body').slice(0, -1));
  await wire.closed;
  expect(wire.received()).toMatch(/^HTTP\/1\.1 400 /);
});

test.each(['/fast', '/other'])('an idle connection that ends so is closed (%s)', async (path) => {
  const wire = await open(echo);
  wire.socket.write(post(path, 'hi'));
  await waitFor(() => echoes(wire).length === 1);
  wire.socket.end();
  await wire.closed;
});
