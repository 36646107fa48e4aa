import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export type TcpRelay = {
  port: number;
  /** Passes on a request that matches, drops its response and cuts the connection, once. */
  loseNextReplyTo: (request: RegExp) => void;
  /** The number of dropped responses. */
  lost: () => number;
  /** Holds all responses back until the returned function is called; connections stay open. */
  hold: () => () => void;
  close: () => Promise<void>;
};

/** A TCP relay that fails after the server has acted, which leaves the client uncertain. */
export async function startTcpRelay(targetPort: number): Promise<TcpRelay> {
  let losing: RegExp | undefined;
  let lost = 0;
  let held: (() => void)[] | undefined;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const target = connect({ host: '127.0.0.1', port: targetPort });
    let swallow = false;
    for (const [one, other] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(one);
      one
        .on('error', () => one.destroy())
        .once('close', () => {
          sockets.delete(one);
          other.destroy();
        });
    }
    client.on('data', (bytes) => {
      if (losing?.test(bytes.toString('latin1')) === true) {
        losing = undefined;
        swallow = true;
      }
      target.write(bytes);
    });
    target.on('data', (bytes) => {
      if (swallow) {
        lost += 1;
        client.destroy();
      } else if (held === undefined) client.write(bytes);
      else held.push(() => client.write(bytes));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    loseNextReplyTo: (request) => {
      losing = request;
    },
    lost: () => lost,
    hold: () => {
      held = [];
      return () => {
        const replies = held ?? [];
        held = undefined;
        for (const reply of replies) reply();
      };
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        for (const socket of sockets) socket.destroy();
      }),
  };
}
