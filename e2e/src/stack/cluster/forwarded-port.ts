import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';

export type ForwardedPort = { close: () => Promise<void> };

/**
 * Makes the address of a Service a port of this machine's loopback address, which browsers trust like https.
 * Connections end as the other side ends them: by the end of the data, or cut off.
 */
export async function forwardPort(
  port: number,
  target: { host: string; port: number },
): Promise<ForwardedPort> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (caller) => {
    const service = connect({ ...target, allowHalfOpen: true, noDelay: true });
    for (const [one, other] of [
      [caller, service],
      [service, caller],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.resetAndDestroy());
      one.on('close', () => {
        sockets.delete(one);
        if (one.errored === null && !one.readableEnded) other.resetAndDestroy();
      });
      one.pipe(other);
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
