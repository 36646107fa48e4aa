import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { steadyLoad } from './steady-load.ts';

type Answer = { status: number; afterMs: (sinceFirstMs: number) => number };

async function loadOn({ status, afterMs }: Answer, perSec: number, seconds: number) {
  let firstMs: number | undefined;
  const bodies = new Set<string>();
  const server = createServer((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    req.on('end', () => {
      bodies.add(`${req.method ?? ''} ${req.url ?? ''} ${String(req.headers['x-mark'])} ${body}`);
      firstMs ??= performance.now();
      const json = '{"ok":true}';
      setTimeout(
        () => {
          res.writeHead(status, { 'content-length': json.length }).end(json);
        },
        afterMs(performance.now() - firstMs),
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const target = { url: `http://127.0.0.1:${String(port)}/path`, headers: { 'x-mark': 'm' }, body: 'a=b' };
    return { load: await steadyLoad(target, perSec, seconds), bodies };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('as many answers as were asked for, without those of the first second', async () => {
  const { load, bodies } = await loadOn({ status: 200, afterMs: () => 0 }, 300, 0.5);
  expect(load.answersMs).toHaveLength(150);
  expect(load.sentLateMs).toHaveLength(150);
  expect([...bodies]).toEqual(['POST /path m a=b']);
});

test('a stall shows in every request that was due during it, not in the one that met it', async () => {
  // No responses from 1.2 to 1.7 s after the first request: 200 requests are due then at 400/s.
  const stall = (sinceMs: number) => (sinceMs > 1_200 && sinceMs < 1_700 ? 1_700 - sinceMs : 0);
  const { load } = await loadOn({ status: 200, afterMs: stall }, 400, 1);
  expect(load.answersMs.filter((ms) => ms >= 100).length).toBeGreaterThan(50);
  // The last of these requests waited for a free connection.
  expect(load.sentLateMs.filter((ms) => ms >= 50).length).toBeLessThan(20);
});

test('an answer that is a refusal fails the load', async () => {
  await expect(loadOn({ status: 429, afterMs: () => 0 }, 100, 0.2)).rejects.toThrow('429');
});
