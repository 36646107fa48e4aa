import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

type Received = {
  headers: IncomingHttpHeaders;
  body: string;
  /** Reads it with the library of Standard Webhooks. */
  verify: (secret: string) => unknown;
};

export type Receiver = {
  url: string;
  /** All requests, whatever the response. */
  received: Received[];
  /** 204 by default. */
  answer: RequestListener;
  close: () => Promise<void>;
};

export async function startReceiver(): Promise<Receiver> {
  const server = createServer((req, res) => {
    void text(req).then(
      (body) => {
        const { headers } = req;
        const verify = (secret: string) =>
          new Webhook(secret).verify(body, headers as Record<string, string>);
        receiver.received.push({ headers, body, verify });
        receiver.answer(req, res);
      },
      () => undefined,
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/hook`,
    received: [],
    answer: (_req, res) => {
      res.writeHead(204).end();
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}
