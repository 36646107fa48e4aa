import { once } from 'node:events';
import { afterEach, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import {
  chunked,
  closeListener,
  connectAgain,
  echo,
  echoes,
  open,
  openListener,
  post,
  sendEcho,
  withBody,
} from '../../test/suite/wire.ts';

const drainLimits = { idleGraceMs: 0, cutAfterMs: 5_000 };

afterEach(closeListener);

describe('a request', () => {
  test('that is whole and accepted takes the fast path, again and again', async () => {
    const wire = await open(echo);
    for (const body of ['one', 'two', 'three']) {
      wire.socket.write(post('/fast', body));
      await waitFor(() => wire.received().includes(body));
    }
    expect(echoes(wire)).toEqual(['fast /fast one', 'fast /fast two', 'fast /fast three']);
  });

  test('that repeats the head of the last one is accepted without asking again', async () => {
    const asked: string[] = [];
    const handlerOf = ({ url }: { url: string }) => (asked.push(url) > 0 ? echo : null);
    const wire = await open(echo, { fastPath: { handlerOf } });
    for (const url of ['/a', '/a', '/b', '/a']) {
      const before = echoes(wire).length;
      wire.socket.write(post(url, 'body'));
      await waitFor(() => echoes(wire).length > before);
    }
    expect(asked).toEqual(['/a', '/b', '/a']);
  });

  test('that comes in two parts takes it too', async () => {
    const wire = await open(echo);
    const text = post('/fast', 'body');
    wire.socket.setNoDelay().write(text.slice(0, 40));
    await once(wire.socket, 'connect');
    wire.socket.write(text.slice(40));
    await waitFor(() => echoes(wire).length === 1);
    expect(echoes(wire)[0]).toMatch(/ \/fast body$/);
  });

  test.each([
    ['is not accepted', post('/other', 'hi'), 'node /other hi'],
    ['is chunked', chunked('/fast'), 'node /fast hi'],
    ['is long', post('/fast', 'x'.repeat(70_000)), `node /fast ${'x'.repeat(70_000)}`],
    ['has an empty field', post('/fast', 'hi', 'X-A:\r\n'), 'node /fast hi'],
  ])('that %s is read by node:http, as are all after it', async (_what, text, expected) => {
    const wire = await open(echo);
    wire.socket.write(post('/fast', 'one'));
    await waitFor(() => echoes(wire).length === 1);
    wire.socket.write(text);
    await waitFor(() => echoes(wire).length === 2);
    wire.socket.write(post('/fast', 'three'));
    await waitFor(() => echoes(wire).length === 3);
    expect(echoes(wire)).toEqual(['fast /fast one', expected, 'node /fast three']);
  });

  test('that stays incomplete is for node:http and its time limits', async () => {
    const wire = await open(echo, { receiveLimits: { idleMs: 300, totalMs: 60_000 } });
    wire.socket.write(post('/fast', 'body').slice(0, -2));
    await wire.closed;
    expect(wire.received()).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('that is late is answered by node:http', async () => {
    let begun = false;
    const wire = await open((req, res) => {
      begun = true;
      echo(req, res);
    });
    const text = post('/fast', 'body');
    wire.socket.write(text.slice(0, -2));
    await waitFor(() => begun);
    wire.socket.write(text.slice(-2));
    await waitFor(() => echoes(wire).length === 1);
    expect(echoes(wire)).toEqual(['node /fast body']);
  });

  test('that the caller ends within it is 400', async () => {
    const wire = await open(echo);
    wire.socket.end(post('/fast', 'body').slice(0, -2));
    await wire.closed;
    expect(wire.received()).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('of which nothing ever comes is 408', async () => {
    const wire = await open(echo, { receiveLimits: { idleMs: 60_000, totalMs: 300 } });
    await wire.closed;
    expect(wire.received()).toMatch(/^HTTP\/1\.1 408 /);
  });
});

test('pipelined requests are answered in order, whichever way they take', async () => {
  const wire = await open(echo);
  wire.socket.write(post('/fast', 'one') + chunked('/fast') + post('/fast', 'three'));
  await waitFor(() => echoes(wire).length === 3);
  expect(echoes(wire)).toEqual(['node /fast one', 'node /fast hi', 'node /fast three']);
});

test('a request that comes within a response is answered after it', async () => {
  const begun: [string, () => void][] = [];
  const wire = await open((req, res) => {
    withBody(req, (body) => {
      begun.push([
        body,
        () => {
          sendEcho(req, res, body);
        },
      ]);
    });
  });
  wire.socket.write(post('/fast', 'one'));
  await waitFor(() => begun.length === 1);
  wire.socket.write(post('/fast', 'two'));
  wire.socket.write(post('/fast', 'x'.repeat(8_000)));
  const next = connectAgain();
  next.socket.write(post('/fast', 'other'));
  await waitFor(() => begun.length === 2);
  // What the first connection has sent waits, though it was sent before.
  expect(begun.map(([body]) => body)).toEqual(['one', 'other']);
  begun[0]?.[1]();
  for (let next = 2; next < 4; next += 1) {
    await waitFor(() => begun.length === next + 1);
    begun[next]?.[1]();
  }
  await waitFor(() => echoes(wire).length === 3);
  expect(echoes(wire).map((text) => text?.replace(/^\w+ /, '').slice(0, 12))).toEqual([
    '/fast one',
    '/fast two',
    '/fast xxxxxx',
  ]);
});

describe('a close of the listener', () => {
  test('ends idle connections, used or not', async () => {
    const used = await open(echo);
    const unused = connectAgain();
    used.socket.write(post('/fast', 'one'));
    await Promise.all([waitFor(() => echoes(used).length === 1), once(unused.socket, 'connect')]);
    await openListener()?.close(drainLimits);
    await Promise.all([used.closed, unused.closed]);
  });

  test('lets the response under way finish, as the last of its connection', async () => {
    let answer: (() => void) | undefined;
    const wire = await open((req, res) => {
      answer = () => {
        echo(req, res);
      };
    });
    wire.socket.write(post('/fast', 'one'));
    await waitFor(() => answer !== undefined);
    const closed = openListener()?.close(drainLimits);
    answer?.();
    await Promise.all([closed, wire.closed]);
    expect(wire.received()).toMatch(/^HTTP\/1\.1 200 .*\r\nConnection: close\r\n.*\[fast \/fast one\]$/s);
  });
});
