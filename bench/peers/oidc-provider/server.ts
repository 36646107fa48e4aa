/**
 * oidc-provider with the in-memory adapter that it brings, as one process.
 *
 * Fairness. The same for both: Node.js and its version, NODE_ENV=production, one core, plain HTTP, the same
 * requests, opaque tokens of one hour, a confidential client.
 * In the peer's favour: it keeps tokens in its own memory and only the last 1,000 of them (its adapter's LRU),
 * loses them all with the process, has one client written into its settings as plain text, counts and limits
 * nothing, writes no log line and no metrics. Ours writes each token to a Redis that answers when it is on
 * disk, takes the client from the account service and Postgres (cached for CLIENT_CACHE_TTL_MS), compares
 * peppered HMACs, counts requests per client, and checks revocations on each introspection.
 * In our favour: Redis works on another core. The peer can do far more than client credentials; what isn't
 * needed is switched off.
 */
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const { PORT = '', CLIENT_ID = '', CLIENT_SECRET = '' } = process.env;

const provider = new Provider(`http://127.0.0.1:${PORT}`, {
  clients: [
    {
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      // It takes the body's credentials for this method too, as ours does.
      token_endpoint_auth_method: 'client_secret_basic',
    },
  ],
  scopes: ['api'],
  routes: { token: '/oauth2/token', introspection: '/oauth2/introspect' },
  features: {
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    devInteractions: { enabled: false },
  },
  ttl: { ClientCredentials: 3_600 },
});
const handle = provider.callback();
createServer((req, res) => void handle(req, res)).listen(Number(PORT), '127.0.0.1');
