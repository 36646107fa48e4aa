import { expect, test } from '@jest/globals';
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { limitConnectTime } from './connect-time.ts';

test('a connection that is neither established nor refused fails in time', async () => {
  const agent = new Agent();
  // Its address is never known, so it goes on connecting.
  agent.createConnection = () => connect({ host: 'peer', port: 1, lookup: () => undefined });
  limitConnectTime(agent, 50);
  const call = request('http://127.0.0.1/', { agent }).end();
  const [error] = (await once(call, 'error')) as [Error];
  expect(error.message).toBe('not connected within 50 ms');
});

test('a response may take longer than the connection', async () => {
  const server = createServer((_req, res) => setTimeout(() => res.end('late'), 150)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const agent = new Agent({ keepAlive: true });
  limitConnectTime(agent, 50);
  const { port } = server.address() as AddressInfo;
  const call = request({ host: '127.0.0.1', port, agent }).end();
  const [answer] = (await once(call, 'response')) as [{ statusCode: number; resume: () => void }];
  answer.resume();
  expect(answer.statusCode).toBe(200);
  agent.destroy();
  server.close();
});
