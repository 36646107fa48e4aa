import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export type TestServer = {
  url: string;
  port: number;
  server: Server;
  /** Closes all its connections too. */
  close: () => Promise<void>;
};

/** On a free port, or on `port` to take the place of an earlier server. */
export async function startServer(handler: RequestListener, port = 0): Promise<TestServer> {
  const server = createServer(handler);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(address.port)}`,
    port: address.port,
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

/** A request's whole body. */
export function bodyOf(req: IncomingMessage): Promise<Buffer> {
  return buffer(req);
}
