import type { IncomingMessage, Server } from 'node:http';
import { GraphQLError, validate } from 'graphql';
import type { ExecutionArgs, FormattedExecutionResult, GraphQLSchema } from 'graphql';
import { handleProtocols, makeServer } from 'graphql-ws';
import type { ServerOptions } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import { MAX_WEBSOCKET_MESSAGE_BYTES } from './bounds.ts';
import { MINIMUM_POINTS, priceOf } from './cost.ts';
import { OLDER_PROTOCOL, serveOlderProtocol } from './older-protocol.ts';
import { parseBounded } from './plugins/pricing-plugin.ts';

/**
 * `graphql-transport-ws` and the older `graphql-ws`, with the same bounds as over HTTP. Each result, or the
 * first error, has its price in `extensions.points`. `close` ends every socket with 1001.
 */
export function serveSockets(server: Server, path: string, schema: GraphQLSchema): () => Promise<void> {
  const limits = { noServer: true, maxPayload: MAX_WEBSOCKET_MESSAGE_BYTES };
  const sockets = new WebSocketServer(limits);
  const olderSockets = new WebSocketServer({ ...limits, handleProtocols: () => OLDER_PROTOCOL });
  const prices = new WeakMap<ExecutionArgs, number>();
  const options: ServerOptions = {
    schema,
    onSubscribe: (_context, _id, { query, operationName, variables }) => {
      const { args, points, errors } = prepare({ schema, query, operationName, variables });
      if (args === undefined) return errors;
      prices.set(args, points);
      return args;
    },
    onNext: (_context, _id, _payload, args, result) =>
      ({
        ...result,
        extensions: { ...result.extensions, points: prices.get(args) ?? MINIMUM_POINTS },
      }) as FormattedExecutionResult,
    onError: (_context, _id, _payload, [first, ...others]) =>
      first === undefined
        ? undefined
        : [
            { ...first.toJSON(), extensions: { ...first.extensions, points: MINIMUM_POINTS } },
            ...others.map((error) => error.toJSON()),
          ],
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

type Prepared =
  | { args: ExecutionArgs; points: number; errors?: never }
  | { args?: never; points?: never; errors: GraphQLError[] };

function prepare({ schema, query, operationName, variables }: Subscribe): Prepared {
  try {
    const document = parseBounded(query);
    const faults = validate(schema, document);
    if (faults.length > 0) return { errors: [...faults] };
    const args = { schema, document, operationName, variableValues: variables ?? {} };
    const { points, refusal } = priceOf(args);
    return refusal === undefined ? { args, points } : { errors: [refusal] };
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [error] };
    throw error;
  }
}
