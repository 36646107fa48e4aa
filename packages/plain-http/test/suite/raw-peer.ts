import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A server that does on each connection what a test says: HTTP, half of it, or none. */
export type RawPeer = {
  origin: string;
  /** Those that are open, in the order in which they were opened. */
  connections: ReadonlySet<Socket>;
  /** Ends all connections, too. */
  close: () => Promise<void>;
};

export async function startRawPeer(onConnection: (socket: Socket) => void, port = 0): Promise<RawPeer> {
  const connections = new Set<Socket>();
  const server = createServer((socket) => {
    connections.add(socket);
    socket.on('error', () => socket.destroy()).once('close', () => connections.delete(socket));
    onConnection(socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        for (const socket of connections) socket.destroy();
      }),
  };
}
