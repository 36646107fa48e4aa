import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { clientChangeSchema } from '@tollgate/contracts/client-change';
import { basicAuthorization } from '@tollgate/http/private-api-credential';
import { freePort } from '@tollgate/stack/ports';
import { serviceCredential } from '@tollgate/testbed/service-process';

/** A stand-in for auth's private listener, as far as the outbox calls it. */
export type AuthStandIn = {
  url: string;
  /** Acknowledged messages, in order. */
  told: { client_id: string; revocation_epoch: number }[];
  /** Including failed ones. */
  requests: () => number;
  /** Whether requests for a client are acknowledged, refused, or never answered. */
  moodOf: (clientId: string) => 'well' | 'failing' | 'silent';
  /** Like a killed process, and one that restarts at the same address. */
  goAway: () => Promise<void>;
  comeBack: () => Promise<void>;
  close: () => Promise<void>;
};

export async function startAuthStandIn(): Promise<AuthStandIn> {
  const port = await freePort();
  let requests = 0;
  const server = createServer((req, res) => {
    requests += 1;
    void respond(req, res);
  });

  async function respond(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { client_id, revocation_epoch } = clientChangeSchema.parse(JSON.parse(await text(req)));
    const mood = standIn.moodOf(client_id);
    if (mood === 'silent') return;
    const known = req.headers.authorization === basicAuthorization(serviceCredential);
    const isDelivery = req.method === 'POST' && req.url === '/private/client-changes';
    if (mood === 'failing' || !known || !isDelivery) {
      res.writeHead(known ? 500 : 401).end();
      return;
    }
    standIn.told.push({ client_id, revocation_epoch });
    res.writeHead(204).end();
  }

  const standIn: AuthStandIn = {
    url: `http://127.0.0.1:${String(port)}`,
    told: [],
    requests: () => requests,
    moodOf: () => 'well',
    goAway: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
    comeBack: async () => {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    close: async () => {
      if (server.listening) await standIn.goAway();
    },
  };
  await standIn.comeBack();
  return standIn;
}
