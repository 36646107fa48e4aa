import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A server's address with a wire that a test has in its hand. */
export type TcpRelay = {
  /** The server's URL through the relay. */
  url: string;
  /** New connections lead there; open ones stay where they are, as behind a managed service's address. */
  moveTo: (targetUrl: string) => void;
  /** Accepts connections, but passes nothing on and closes nothing, like a hung server. */
  pause: () => void;
  /** Passes on what was held back, and all that follows. */
  resume: () => void;
  /** Open connections fall silent for good, and new ones work, as if the peer had vanished. */
  strand: () => void;
  close: () => Promise<void>;
};

/** What is done with the bytes of one connection, where they aren't just passed on. */
export type Passing = {
  toServer?: (bytes: Buffer) => void;
  toClient?: (bytes: Buffer) => void;
};

/** `passing` is asked for each connection. */
export async function startTcpRelay(
  targetUrl: string,
  passing: (client: Socket, server: Socket) => Passing = () => ({}),
): Promise<TcpRelay> {
  let target = new URL(targetUrl);
  let paused = false;
  const sockets = new Set<Socket>();
  const listener = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    const {
      toServer = (bytes: Buffer) => server.write(bytes),
      toClient = (bytes: Buffer) => client.write(bytes),
    } = passing(client, server);
    for (const [from, to, pass] of [
      [client, server, toServer],
      [server, client, toClient],
    ] as const) {
      sockets.add(from);
      from.on('data', pass);
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      if (paused) from.pause();
    }
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const url = new URL(targetUrl);
  url.hostname = '127.0.0.1';
  url.port = String((listener.address() as AddressInfo).port);
  const strand = () => {
    for (const socket of sockets) socket.pause();
  };
  return {
    url: url.href,
    moveTo: (next) => {
      target = new URL(next);
    },
    pause: () => {
      paused = true;
      strand();
    },
    resume: () => {
      paused = false;
      for (const socket of sockets) socket.resume();
    },
    strand,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
}
