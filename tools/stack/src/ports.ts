import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';

const HOST = '127.0.0.1';

/** Below the range of outgoing connections' ports, so that it stays free over a restart. Retry if it gets taken. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_240, 32_000);
    if (!(await isPortTaken(port))) return port;
  }
}

export async function isPortTaken(port: number): Promise<boolean> {
  // Binding alone isn't enough: some systems let 127.0.0.1 be bound beside a listener on every address.
  return !(await canBind(port)) || (await canConnect(port));
}

function canBind(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen({ host: HOST, port, exclusive: true }, () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: HOST, port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
}
