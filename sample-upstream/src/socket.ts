import type { IncomingMessage, Server } from 'node:http';
import { GraphQLError, validate } from 'graphql';
import type { ExecutionArgs, GraphQLSchema } from 'graphql';
import { handleProtocols, makeServer } from 'graphql-ws';
import type { ServerOptions } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import { MAX_WEBSOCKET_MESSAGE_BYTES } from './bounds.ts';
import { priceOf } from './cost.ts';
import { OLDER_PROTOCOL, serveOlderProtocol } from './older-protocol.ts';
import { parseBounded } from './pricing-plugin.ts';

/**
 * Serves GraphQL over WebSocket at a path of an HTTP server: `graphql-transport-ws`, and the older
 * `graphql-ws`. Operations are held to the same bounds as over HTTP. `close` ends every socket with 1001.
 */
export function serveSockets(server: Server, path: string, schema: GraphQLSchema): () => Promise<void> {
  const limits = { noServer: true, maxPayload: MAX_WEBSOCKET_MESSAGE_BYTES };
  const sockets = new WebSocketServer(limits);
  const olderSockets = new WebSocketServer({ ...limits, handleProtocols: () => OLDER_PROTOCOL });
  const options: ServerOptions = {
    schema,
    onSubscribe: (_context, _id, { query, operationName, variables }) =>
      prepare({ schema, query, operationName, variables }),
  };
  const { dispose } = useServer(options, sockets);
  const graphql = makeServer(options);
  olderSockets.on('connection', (socket) => {
    serveOlderProtocol(graphql, socket);
  });
  server.on('upgrade', (req, socket, head) => {
    if (req.url?.split('?', 1)[0] !== path) {
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    const offered = offeredProtocols(req);
    const older = handleProtocols(offered) === false && offered.has(OLDER_PROTOCOL);
    const chosen = older ? olderSockets : sockets;
    chosen.handleUpgrade(req, socket, head, (opened) => chosen.emit('connection', opened, req));
  });
  return async () => {
    for (const socket of olderSockets.clients) socket.close(1001, 'Going away');
    await dispose();
  };
}

function offeredProtocols(req: IncomingMessage): Set<string> {
  return new Set((req.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim()));
}

type Subscribe = {
  schema: GraphQLSchema;
  query: string;
  operationName: string | null | undefined;
  variables: Record<string, unknown> | null | undefined;
};

/** What to execute, or why it isn't executed. */
function prepare({ schema, query, operationName, variables }: Subscribe): ExecutionArgs | GraphQLError[] {
  try {
    const document = parseBounded(query);
    const faults = validate(schema, document);
    if (faults.length > 0) return [...faults];
    const args = { schema, document, operationName, variableValues: variables ?? {} };
    const { refusal } = priceOf(args);
    return refusal === undefined ? args : [refusal];
  } catch (error) {
    if (error instanceof GraphQLError) return [error];
    throw error;
  }
}
