import { once } from 'node:events';
import { Agent, get, request as httpRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, expect, test } from '@jest/globals';
import { PortTakenError, createListener } from './listener.ts';
import type { Listener } from './listener.ts';

const options = {
  name: 'public',
  host: '127.0.0.1',
  port: 0,
  setting: 'PUBLIC_PORT',
  limits: { maxUrlBytes: 1_000, maxHeaderBytes: 4_096, maxHeaderCount: 20 },
};
const drainLimits = { idleGraceMs: 100, cutAfterMs: 5_000 };
let listener: Listener | undefined;

afterEach(async () => {
  await listener?.close(drainLimits);
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
  const closed = listener.close(drainLimits);
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
  await listener.close(drainLimits);
  expect(listener.server.listening).toBe(false);
  agent.destroy();
});

test('a request that is on its way on an idle connection when the close begins is answered, as the last', async () => {
  listener = createListener((_req, res) => res.end('ok'), options);
  await listener.listen();
  const agent = new Agent({ keepAlive: true });
  const ask = async () => {
    const [response] = (await once(get({ port: portOf(listener as Listener), agent }), 'response')) as [
      IncomingMessage,
    ];
    await once(response.resume(), 'end');
    return response;
  };
  const port = portOf(listener);
  expect((await ask()).headers.connection).toBe('keep-alive');
  const closed = listener.close({ idleGraceMs: 10_000, cutAfterMs: 20_000 });
  const request = get({ port, agent });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  expect([request.reusedSocket, response.statusCode]).toEqual([true, 200]);
  expect(response.headers.connection).toBe('close');
  // Not after the grace: nothing is left to wait for.
  await closed;
  agent.destroy();
});

test('what is under way for too long is cut by a reset', async () => {
  listener = createListener((_req, res) => res.writeHead(200).write('endless'), options);
  await listener.listen();
  const request = get({ port: portOf(listener) });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const reset = new Promise((resolve) => request.once('error', resolve));
  response.resume().on('error', () => undefined);
  await listener.close({ idleGraceMs: 0, cutAfterMs: 100 });
  expect(await reset).toMatchObject({ code: 'ECONNRESET' });
  expect(response.complete).toBe(false);
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

test('an accepted upgrade is handed over; any other one is a request like all others', async () => {
  const upgradeHandler = {
    accepts: (req: IncomingMessage) => req.url === '/socket',
    upgrade: (_req: IncomingMessage, socket: Duplex) => {
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    },
  };
  listener = createListener((_req, res) => res.end('a request'), { ...options, upgradeHandler });
  await listener.listen();
  const ask = (path: string) =>
    httpRequest({
      port: portOf(listener as Listener),
      path,
      headers: { connection: 'Upgrade', upgrade: 'echo' },
    }).end();
  const [upgraded] = (await once(ask('/socket'), 'upgrade')) as [IncomingMessage];
  expect(upgraded.statusCode).toBe(101);
  const [answer] = (await once(ask('/other'), 'response')) as [IncomingMessage];
  expect(answer.statusCode).toBe(200);
  answer.resume();
});
