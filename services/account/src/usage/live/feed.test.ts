import { afterEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { connectRaw } from '@tollgate/plain-http/raw-client';
import type { Response } from 'express';
import { openFeed } from './feed.ts';

const server = createServer();
let reader: Socket | undefined;

afterEach(() => {
  reader?.destroy();
  server.close();
});

test('a reader that does not read is cut off, before much of its events is kept', async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  reader = connectRaw(server).socket.pause();
  reader.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  const [, res] = (await once(server, 'request')) as [unknown, ServerResponse];
  let slow = 0;
  const feed = openFeed({ account_id: 1, session_id: 1 }, res as Response, () => {
    slow += 1;
  });
  const content = { filler: 'x'.repeat(10_000) };
  let mostBytes = 0;
  while (feed.isOpen()) {
    feed.send('pace', content, 'version');
    mostBytes = Math.max(mostBytes, res.writableLength);
    await new Promise(setImmediate);
  }
  expect(slow).toBe(1);
  expect(mostBytes).toBeLessThan(100_000);
  // And no more is written, nor thrown.
  feed.send('pace', content, 'version');
  feed.beat();
  feed.end();
});
