import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createYoga } from 'graphql-yoga';
import { MINIMUM_POINTS } from './cost.ts';
import { refuseMalformedParameters } from './plugins/parameters-plugin.ts';
import { pricing } from './plugins/pricing-plugin.ts';
import { publicAnswers } from './plugins/public-answers-plugin.ts';
import { schema } from './schema.ts';
import { serveSockets } from './socket.ts';
import { typeDefs } from './type-defs.ts';

const GRAPHQL_PATH = '/graphql';
/** Introspection doesn't tell the costs. */
const SCHEMA_PATH = '/schema.graphql';

const DEFAULT_QUERY = `{
  countries(filter: { continent: "EU", language: "de" }, first: 5) {
    emoji
    name
    capital
    languages { native }
  }
}
`;

/**
 * - `POST /graphql`, `GET /graphql`: GraphQL over HTTP, subscriptions as server-sent events, and GraphiQL for
 *   browsers. Every response has `X-Points`.
 * - `/graphql` as a WebSocket: `graphql-transport-ws`, and the older `graphql-ws`.
 * - `GET /schema.graphql`: the schema with its costs.
 * - `GET /health`: 200 `{"status":"ok"}`.
 *
 * `close` first serves for `delayMs` more, in which clients are told to leave and load balancers notice.
 */
export function createApp(): { server: Server; close: (delayMs?: number) => Promise<void> } {
  const yoga = createYoga({
    schema,
    graphqlEndpoint: GRAPHQL_PATH,
    plugins: [pricing(), refuseMalformedParameters(), publicAnswers()],
    graphiql: { title: 'Countries', defaultQuery: DEFAULT_QUERY, subscriptionsProtocol: 'WS' },
    landingPage: false,
    multipart: false,
    cors: false,
    logging: 'warn',
  });
  let isEnding = false;
  // The client must be the one to close an idle connection, or its next request can meet the closing.
  const server = createServer({ keepAliveTimeout: 65_000 }, (req, res) => {
    // No client may send its next request just as this connection is closed.
    if (isEnding) res.setHeader('connection', 'close');
    const path = (req.url ?? '').split('?', 1)[0];
    if (path === GRAPHQL_PATH) {
      // Also on what is refused before GraphQL begins.
      res.setHeader('x-points', String(MINIMUM_POINTS));
      void yoga(req, res);
    } else if (path === SCHEMA_PATH) {
      res.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'x-points': '0' }).end(typeDefs);
    } else if (path === '/health') {
      sendJson(res, 200, { status: 'ok' });
    } else {
      sendJson(res, 404, { errors: [{ message: `Not found; GraphQL is at ${GRAPHQL_PATH}` }] });
    }
  });
  const closeSockets = serveSockets(server, GRAPHQL_PATH, schema);
  return {
    server,
    close: async (delayMs = 0) => {
      isEnding = true;
      await delay(delayMs);
      await closeServer(server, closeSockets);
    },
  };
}

/** For requests under way when the process is told to end. */
const DRAIN_LIMIT_MS = 3_000;

/** Closes the listener and sockets, and waits for requests; server-sent events end at the limit. */
async function closeServer(server: Server, closeSockets: () => Promise<void>): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  const sweep = setInterval(() => {
    server.closeIdleConnections();
  }, 100);
  const limit = setTimeout(() => {
    server.closeAllConnections();
  }, DRAIN_LIMIT_MS);
  await Promise.all([closed, closeSockets()]);
  clearInterval(sweep);
  clearTimeout(limit);
}

function sendJson(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'content-type': 'application/json', 'x-points': '0' });
  res.end(JSON.stringify(body));
}
