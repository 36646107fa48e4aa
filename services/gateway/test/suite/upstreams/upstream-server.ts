import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { answerOk } from '../gateway.ts';
import type { Handler } from '../gateway.ts';
import { startServer } from './server.ts';
import type { TestServer } from './server.ts';

/** An address of an upstream that can go away and come back. */
export type UpstreamServer = {
  url: string;
  origin: string;
  /** Targets of the requests that came, in order. */
  requests: string[];
  /** Sets the behaviour from now on. */
  does: (handler: Handler) => void;
  goAway: () => Promise<void>;
  comeBack: () => Promise<void>;
};

export async function startUpstreamServer(path: string): Promise<UpstreamServer> {
  let handler = answerOk;
  const requests: string[] = [];
  const record: Handler = (req, res) => {
    requests.push(req.url ?? '');
    handler(req, res);
  };
  let server: TestServer | null = await startServer(record);
  const { url, port } = server;
  return {
    url: url + path,
    origin: url,
    requests,
    does: (next) => {
      handler = next;
    },
    goAway: async () => {
      await server?.close();
      server = null;
    },
    comeBack: async () => {
      server ??= await startServer(record, port);
    },
  };
}

/** A TCP server on a free port that does as `onConnection` says. */
export async function startTcpServer(
  onConnection: (socket: Socket) => void,
): Promise<{ url: string; close: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).once('close', () => sockets.delete(socket));
    onConnection(socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        for (const socket of sockets) socket.destroy();
      }),
  };
}
