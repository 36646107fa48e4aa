import { afterEach, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import type { HttpHandler } from '@tollgate/plain-http/message';
import {
  chunked,
  closeListener,
  connectAgain,
  echo,
  echoes,
  open,
  post,
  withBody,
} from '../../test/suite/wire.ts';

afterEach(closeListener);

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

/** Requests that have begun and are not answered; `/other` is read by node:http. */
function heldRequests(): { handler: HttpHandler; held: (() => void)[] } {
  const held: (() => void)[] = [];
  return {
    held,
    handler: (req, res) => {
      held.push(() => {
        echo(req, res);
      });
    },
  };
}

describe.each(['/fast', '/other'])('a connection on which %s is pipelined without end', (path) => {
  test('has one request under way; the others aren’t read', async () => {
    const { handler, held } = heldRequests();
    const wire = await open(handler);
    // More than the sockets' buffers take.
    const flood = get(path).repeat(400_000);
    let isTaken = false;
    wire.socket.write(flood, () => (isTaken = true));
    await waitFor(() => held.length > 0);
    // What another connection sends later is served meanwhile.
    const other = connectAgain();
    other.socket.write(get('/other/end'));
    await waitFor(() => held.length > 1);
    held.pop()?.();
    await waitFor(() => echoes(other).length === 1);
    expect([held.length, isTaken]).toEqual([1, false]);
    for (let round = 1; round <= 20; round += 1) {
      held.shift()?.();
      await waitFor(() => held.length > 0);
      expect(held).toHaveLength(1);
      await waitFor(() => echoes(wire).length === round);
    }
    wire.socket.destroy();
  });
});

test('each of many different requests is answered, in order', async () => {
  const wire = await open(echo);
  const all = Array.from({ length: 300 }, (_, index) => {
    const body = `body\r\n\r\n${'x'.repeat((index * 37) % 700)}${String(index)}`;
    return index % 3 === 0
      ? get(`/fast/${String(index)}`)
      : index % 3 === 1
        ? post('/other', body)
        : chunked('/x');
  });
  const text = all.join('');
  // In pieces that end anywhere.
  for (let at = 0; at < text.length; at += 1_231) wire.socket.write(text.slice(at, at + 1_231));
  await waitFor(() => echoes(wire).length === all.length);
  const expected = all.map((_, index) =>
    index % 3 === 0 ? `/fast/${String(index)}` : index % 3 === 1 ? '/other' : '/x',
  );
  expect(echoes(wire).map((echoed) => echoed?.split(' ')[1])).toEqual(expected);
});

test('a body waits until its handler reads it, and arrives whole', async () => {
  const wire = await open((req, res) => {
    if (req.method === 'GET') echo(req, res);
    else {
      begun.push(() => {
        withBody(req, (body) => {
          res.writeHead(200, ['Content-Length', '10']);
          res.end(`[${String(body.length).padStart(8)}]`);
        });
      });
    }
  });
  const begun: (() => void)[] = [];
  // What ends a head, again and again, and more than the sockets' buffers take.
  const body = '\r\n\r\n'.repeat(5_000_000);
  let isTaken = false;
  wire.socket.write(post('/other', body), () => (isTaken = true));
  await waitFor(() => begun.length === 1);
  const other = connectAgain();
  other.socket.write(get('/other'));
  await waitFor(() => echoes(other).length === 1);
  expect(isTaken).toBe(false);
  begun[0]?.();
  await waitFor(() => wire.received().endsWith(`[${String(body.length)}]`));
});

test('nothing is read behind a request whose connection closes', async () => {
  const { handler, held } = heldRequests();
  const wire = await open(handler);
  wire.socket.write(post('/other', 'one', 'Connection: close\r\n') + get('/other/two'));
  await waitFor(() => held.length === 1);
  held[0]?.();
  await wire.closed;
  expect([held.length, echoes(wire)]).toEqual([1, ['node /other one']]);
});
