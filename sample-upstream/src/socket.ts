import type { Server } from 'node:http';
import { GraphQLError, validate } from 'graphql';
import type { ExecutionArgs, GraphQLSchema } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import { MAX_WEBSOCKET_MESSAGE_BYTES } from './bounds.ts';
import { priceOf } from './cost.ts';
import { parseBounded } from './pricing-plugin.ts';

/**
 * Serves GraphQL over WebSocket (`graphql-transport-ws`) at a path of an HTTP server. Operations are held to
 * the same bounds as over HTTP. `close` ends every socket with 1001.
 */
export function serveSockets(server: Server, path: string, schema: GraphQLSchema): () => Promise<void> {
  const sockets = new WebSocketServer({ server, path, maxPayload: MAX_WEBSOCKET_MESSAGE_BYTES });
  const { dispose } = useServer(
    {
      schema,
      onSubscribe: (_context, _id, { query, operationName, variables }) =>
        prepare({ schema, query, operationName, variables }),
    },
    sockets,
  );
  return async () => {
    await dispose();
  };
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
