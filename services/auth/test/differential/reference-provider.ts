import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export type ReferenceClient = { client_id: string; client_secret: string };

/** With this header on a token request, the token lives so many seconds; else an hour. */
export const LIFESPAN_HEADER = 'x-lifespan-sec';

/** oidc-provider with its in-memory adapter, as near to auth's settings as it can be set. */
export type ReferenceProvider = { url: string; close: () => Promise<void> };

export async function startReferenceProvider(
  clients: readonly ReferenceClient[],
): Promise<ReferenceProvider> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const provider = new Provider(url, {
    clients: clients.map(({ client_id, client_secret }) => ({
      client_id,
      client_secret,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      // It takes the body's credentials for this method too, as ours does.
      token_endpoint_auth_method: 'client_secret_basic',
    })),
    scopes: ['api'],
    routes: { token: '/oauth2/token', introspection: '/oauth2/introspect', revocation: '/oauth2/revoke' },
    features: {
      clientCredentials: { enabled: true },
      introspection: { enabled: true },
      revocation: { enabled: true },
      devInteractions: { enabled: false },
    },
    ttl: { ClientCredentials: (ctx) => Number(ctx.get(LIFESPAN_HEADER) || 3_600) },
  });
  // It would print every broken request.
  provider.silent = true;
  const handle = provider.callback();
  server.on('request', (req, res) => void handle(req, res));
  return {
    url,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
