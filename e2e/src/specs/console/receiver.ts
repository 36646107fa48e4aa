import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type Receiver = {
  url: string;
  received: { headers: IncomingHttpHeaders; body: string }[];
  /** The status of the next responses. */
  status: number;
  close: () => Promise<void>;
};

/** A customer's server that receives webhooks, on this machine. */
export async function startReceiver(): Promise<Receiver> {
  const server = createServer((req, res) => {
    void text(req).then((body) => {
      receiver.received.push({ headers: req.headers, body });
      res.writeHead(receiver.status).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/hook`,
    received: [],
    status: 204,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}
