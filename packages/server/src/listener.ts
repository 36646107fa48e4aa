import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';

/** A listener's port belongs to another process; the message says which and what moves it. */
export class PortTakenError extends Error {}

export type Listener = {
  server: Server;
  listen: () => Promise<void>;
  /** Accepts nothing new, lets the requests under way finish, and resolves when every connection is gone. */
  close: () => Promise<void>;
};

/** An HTTP server with the limits that every listener has. `setting` names what moves its port. */
export function createListener(
  handler: RequestListener,
  { name, host, port, setting }: { name: string; host: string; port: number; setting: string },
): Listener {
  let closing = false;
  const server = createServer(
    {
      // A caller that sends its header lines drop by drop is cut off (slowloris).
      headersTimeout: 10_000,
      // Behind a load balancer with the usual 60 s idle limit the server must be the one that waits longer.
      keepAliveTimeout: 65_000,
      maxHeaderSize: 16_384,
    },
    (req, res) => {
      // A keep-alive connection would otherwise outlive a shutdown by its idle limit.
      if (closing) res.setHeader('connection', 'close');
      handler(req, res);
    },
  );
  return {
    server,
    listen: () =>
      new Promise((resolve, reject) => {
        server.once('error', (error: NodeJS.ErrnoException) => {
          const taken = `The ${name} port ${String(port)} on ${host} is taken by another process. End that process, or set ${setting} to a free port.`;
          reject(error.code === 'EADDRINUSE' ? new PortTakenError(taken) : error);
        });
        server.listen({ host, port }, resolve);
      }),
    close: () =>
      new Promise((resolve) => {
        closing = true;
        if (!server.listening) {
          resolve();
          return;
        }
        // A connection whose request was under way turns idle only after its answer.
        const sweep = setInterval(() => {
          server.closeIdleConnections();
        }, 100);
        server.close(() => {
          clearInterval(sweep);
          resolve();
        });
      }),
  };
}
