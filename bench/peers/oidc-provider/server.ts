/**
 * oidc-provider with its in-memory adapter, as one process; features that aren't needed are switched off.
 *
 * The same for both: Node.js and its version, NODE_ENV=production, one core, plain HTTP, requests, opaque
 * tokens of one hour, a confidential client.
 * In the peer's favour: it keeps only the last 1,000 tokens, in its own memory, has one plain-text client in its
 * settings, and has no counters, limits, logs and metrics. Ours writes each token to Redis on disk, gets the
 * client from Postgres (cached for CLIENT_CACHE_TTL_MS), compares peppered HMACs, counts requests per client,
 * and checks revocations.
 * In our favour: Redis uses another core.
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
      // With this method it also accepts credentials in the body, as ours does.
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
