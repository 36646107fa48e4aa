import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** One address of a server and its successors, as a managed service has. */
export type MovableAddress = {
  /** The server's URL at this address. */
  url: string;
  /** New connections lead there; open ones stay where they are. */
  moveTo: (targetUrl: string) => void;
  close: () => Promise<void>;
};

export async function startMovableAddress(targetUrl: string): Promise<MovableAddress> {
  let target = new URL(targetUrl);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const peer = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, peer],
      [peer, client],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(targetUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    moveTo: (next) => {
      target = new URL(next);
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
