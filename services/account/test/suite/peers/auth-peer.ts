import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { revocationEpochSchema } from '@tollgate/contracts/revocation';
import { basicAuthorization } from '@tollgate/http/private-api-credential';
import { freePort } from '@tollgate/stack/ports';
import { serviceCredential } from '@tollgate/testbed/service-process';

/** A stand-in for auth's private listener, as far as the outbox calls it. */
export type AuthPeer = {
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

export async function startAuthPeer(): Promise<AuthPeer> {
  const port = await freePort();
  let requests = 0;
  const server = createServer((req, res) => {
    requests += 1;
    void respond(req, res);
  });

  async function respond(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const clientId =
      /^\/private\/clients\/([0-9a-f-]{36})\/revocation-epoch(?:\?.*)?$/.exec(req.url ?? '')?.[1] ?? '';
    const mood = peer.moodOf(clientId);
    if (mood === 'silent') return;
    const body = await text(req);
    const known = req.headers.authorization === basicAuthorization(serviceCredential);
    if (mood === 'failing' || !known || req.method !== 'PUT' || clientId === '') {
      res.writeHead(known ? 500 : 401).end();
      return;
    }
    peer.told.push({ client_id: clientId, ...revocationEpochSchema.parse(JSON.parse(body)) });
    res.writeHead(204).end();
  }

  const peer: AuthPeer = {
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
      if (server.listening) await peer.goAway();
    },
  };
  await peer.comeBack();
  return peer;
}
