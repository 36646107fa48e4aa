import { once } from 'node:events';
import { Agent, get } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { PortTakenError, createListener } from './listener.ts';
import type { Listener } from './listener.ts';

const options = { name: 'public', host: '127.0.0.1', port: 0, setting: 'PUBLIC_PORT' };
let listener: Listener | undefined;

afterEach(async () => {
  await listener?.close();
});

function portOf({ server }: Listener): number {
  return (server.address() as AddressInfo).port;
}

test('a close lets the request under way finish, and ends its keep-alive connection', async () => {
  let answer: ServerResponse | undefined;
  listener = createListener((_req, res) => (answer = res), options);
  await listener.listen();
  const agent = new Agent({ keepAlive: true });
  const request = get({ port: portOf(listener), agent });
  const responded = once(request, 'response');
  await once(listener.server, 'request');
  const closed = listener.close();
  answer?.end('done');
  const [response] = (await responded) as [IncomingMessage];
  response.resume();
  await closed;
  expect(response.statusCode).toBe(200);
  agent.destroy();
});

test('an idle keep-alive connection does not hold up a close', async () => {
  listener = createListener((_req, res) => res.end('ok'), options);
  await listener.listen();
  const agent = new Agent({ keepAlive: true });
  const request = get({ port: portOf(listener), agent });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  await listener.close();
  expect(listener.server.listening).toBe(false);
  agent.destroy();
});

test('a taken port is named, with the setting that moves it', async () => {
  listener = createListener((_req, res) => res.end(), options);
  await listener.listen();
  const port = portOf(listener);
  const second = createListener((_req, res) => res.end(), { ...options, port });
  await expect(second.listen()).rejects.toThrow(PortTakenError);
  await expect(createListener((_req, res) => res.end(), { ...options, port }).listen()).rejects.toThrow(
    new RegExp(`public port ${String(port)} .* PUBLIC_PORT`),
  );
});
