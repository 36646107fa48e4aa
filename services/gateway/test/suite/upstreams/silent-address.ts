import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

const BACKLOG = 1;
const SERVER = `const server = require('node:net').createServer();
server.listen({ port: 0, host: '127.0.0.1', backlog: ${String(BACKLOG)} }, () => process.send(server.address().port));`;

/** Connections to it neither open nor are refused, because its server is stopped and its backlog is full. */
export async function startSilentAddress(): Promise<{ url: string; close: () => Promise<void> }> {
  const server = spawn(process.execPath, ['-e', SERVER], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [port] = (await once(server, 'message')) as [number];
  server.kill('SIGSTOP');
  const waiting: Socket[] = [];
  // The kernel accepts one more than the backlog.
  for (let index = 0; index <= BACKLOG; index += 1) {
    const socket = connect({ host: '127.0.0.1', port }).on('error', () => undefined);
    waiting.push(socket);
    await once(socket, 'connect');
  }
  return {
    url: `http://127.0.0.1:${String(port)}`,
    close: async () => {
      for (const socket of waiting) socket.destroy();
      server.kill('SIGKILL');
      await once(server, 'exit');
    },
  };
}
