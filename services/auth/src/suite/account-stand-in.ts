import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ClientRecord } from '@tollgate/contracts/client-record';
import { basicAuthorization } from '@tollgate/private-api/credential';
import { serviceCredential } from '@tollgate/testbed/service-process';

/** account's private API as far as auth calls it, played by an HTTP server. */
export type AccountStandIn = {
  url: string;
  /** What it knows, by client id. */
  clients: Map<string, ClientRecord>;
  /** What it was asked, in order: paths. */
  requests: string[];
  /** The X-Request-Id of each. */
  requestIds: (string | undefined)[];
  /** How it behaves: well, with 500s, or by cutting the connection. */
  mood: 'well' | 'failing' | 'away';
  /** Requests wait from now on, until the function that it returns is called. */
  hold: () => () => void;
  close: () => Promise<void>;
};

export async function startAccountStandIn(): Promise<AccountStandIn> {
  let gate = Promise.resolve();
  const server = createServer((req, res) => {
    standIn.requests.push(req.url ?? '');
    standIn.requestIds.push(req.headers['x-request-id']?.toString());
    void gate.then(() => {
      respond(req, res);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  function respond(req: IncomingMessage, res: ServerResponse): void {
    if (standIn.mood === 'away') {
      req.socket.destroy();
      return;
    }
    const clientId = /^\/private\/clients\/([^/?]+)$/.exec(req.url ?? '')?.[1] ?? '';
    const record = standIn.clients.get(clientId);
    const known = req.headers.authorization === basicAuthorization(serviceCredential);
    const status = standIn.mood === 'failing' ? 500 : !known ? 401 : record === undefined ? 404 : 200;
    res.writeHead(status, { 'content-type': 'application/json' });
    res.end(JSON.stringify(status === 200 ? record : {}));
  }

  const standIn: AccountStandIn = {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    clients: new Map(),
    requests: [],
    requestIds: [],
    mood: 'well',
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      gate = promise;
      return () => {
        resolve(undefined);
      };
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return standIn;
}
