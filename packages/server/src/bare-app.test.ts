import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { createTrust } from '@tollgate/http/caller-address';
import { bareApp } from './bare-app.ts';

const server = createServer();

afterEach(() => {
  server.close();
});

/** The response to a request that names another host, from an app that answers `/path` with its host. */
async function responseFrom(trusted: string[], path = '/path') {
  const app = bareApp(createTrust(trusted));
  app.route('/path').get((req, res) => res.send(req.host));
  server.removeAllListeners('request').on('request', app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const headers = { host: 'own.example', 'x-forwarded-host': 'proxied.example' };
  const { port } = server.address() as AddressInfo;
  const sent = request({ host: '127.0.0.1', port, path, headers, agent: false }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const body = (await response.toArray()).join('');
  return { status: response.statusCode, headers: response.headers, body };
}

test.each([
  [['127.0.0.0/8'], 'proxied.example'],
  [['192.0.2.1'], 'own.example'],
  [[], 'own.example'],
])('with the proxies %j trusted, the host is %s', async (trusted, host) => {
  const { body, headers } = await responseFrom(trusted);
  expect(body).toBe(host);
  expect(headers).not.toHaveProperty('x-powered-by');
  expect(headers).not.toHaveProperty('etag');
});

test.each(['/path/', '/PATH'])('%s is another path', async (path) => {
  expect((await responseFrom([], path)).status).toBe(404);
});
