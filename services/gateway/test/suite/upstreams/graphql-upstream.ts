import { setTimeout as delay } from 'node:timers/promises';
import type { IncomingMessage } from 'node:http';
import { buildSchema, execute, subscribe } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { SubscriptionServer } from 'subscriptions-transport-ws';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { startServer } from './server.ts';

export type GraphqlUpstream = {
  /** For UPSTREAM_WS_URL. */
  url: string;
  /** Upgrade requests, in order. */
  requests: IncomingMessage[];
  /** Payloads of connection_init, in order. */
  initPayloads: unknown[];
  /** Beginnings of subscriptions, by their argument `name`. */
  begun: string[];
  /** Their ends. */
  ended: string[];
  sockets: () => WebSocket[];
  close: () => Promise<void>;
};

const schema = buildSchema(`
  type Query { hello: String }
  type Subscription {
    "Numbers from 0 on; without a count until it is ended."
    ticks(name: String, count: Int, everyMs: Int): Int
    "Strings of so many bytes, as fast as they are taken."
    flood(bytes: Int!): String
  }
`);

/** Both subprotocols, each by its usual library; `port` to take the place of an earlier server. */
export async function startGraphqlUpstream(port = 0): Promise<GraphqlUpstream> {
  const requests: IncomingMessage[] = [];
  const initPayloads: unknown[] = [];
  const begun: string[] = [];
  const ended: string[] = [];
  const rootValue = {
    hello: () => 'world',
    ticks: async function* ticks({ name = '', count = Infinity, everyMs = 10 }) {
      begun.push(name);
      try {
        for (let tick = 0; tick < count; tick += 1) {
          yield { ticks: tick };
          await delay(everyMs);
        }
      } finally {
        ended.push(name);
      }
    },
    flood: async function* flood({ bytes = 0 }) {
      for (;;) {
        await delay(0);
        yield { flood: 'x'.repeat(bytes) };
      }
    },
  };
  const newer = new WebSocketServer({ noServer: true });
  useServer(
    {
      schema,
      roots: { query: rootValue, subscription: rootValue },
      onConnect: ({ connectionParams }) => {
        initPayloads.push(connectionParams);
        return connectionParams?.['refuse'] !== true;
      },
    },
    newer,
  );
  const older = new WebSocketServer({ noServer: true, handleProtocols: () => 'graphql-ws' });
  SubscriptionServer.create(
    {
      schema,
      rootValue,
      execute,
      subscribe,
      onConnect: (payload: unknown) => {
        initPayloads.push(payload);
        return true;
      },
    },
    older,
  );
  const http = await startServer((_req, res) => res.writeHead(404).end(), port);
  http.server.on('upgrade', (req, socket, head) => {
    requests.push(req);
    const server = req.headers['sec-websocket-protocol'] === 'graphql-ws' ? older : newer;
    server.handleUpgrade(req, socket, head, (opened) => server.emit('connection', opened, req));
  });
  const sockets = () => [...newer.clients, ...older.clients];
  return {
    url: `${http.url.replace('http', 'ws')}/data/graphql`,
    requests,
    initPayloads,
    begun,
    ended,
    sockets,
    close: async () => {
      for (const socket of sockets()) socket.terminate();
      await http.close();
    },
  };
}
