import type { Server as GraphqlServer, WebSocket as GraphqlSocket } from 'graphql-ws';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import type { WebSocket } from 'ws';

/** The subprotocol of subscriptions-transport-ws, whose server isn't maintained any more. */
export const OLDER_PROTOCOL = 'graphql-ws';

type Message = { type?: unknown; payload?: unknown; [field: string]: unknown };

/**
 * Translates the older `graphql-ws` for the server of `graphql-transport-ws`: message names differ, and an
 * error has one payload instead of a list.
 */
export function serveOlderProtocol(graphql: GraphqlServer, socket: WebSocket): void {
  const adapted: GraphqlSocket = {
    protocol: GRAPHQL_TRANSPORT_WS_PROTOCOL,
    send: (text) => {
      const message = toOlder(JSON.parse(text) as Message);
      if (message !== null) socket.send(JSON.stringify(message));
    },
    close: (code, reason) => {
      socket.close(code, reason);
    },
    onMessage: (listener) => {
      // Clients of this protocol start operations before the acknowledgement.
      let acknowledged = Promise.resolve();
      socket.on('message', (bytes: Buffer) => {
        const { type, text } = fromOlder(bytes.toString());
        if (type === 'connection_terminate') socket.close(1000);
        else if (type === 'connection_init') acknowledged = listener(text);
        else void acknowledged.then(() => listener(text));
      });
    },
  };
  const closed = graphql.opened(adapted, undefined);
  socket.once('close', (code, reason) => void closed(code, reason.toString()));
  socket.on('error', () => {
    socket.terminate();
  });
}

function fromOlder(text: string): { type: unknown; text: string } {
  try {
    const message = JSON.parse(text) as Message;
    const type = NEWER_NAMES[String(message.type)] ?? message.type;
    return { type, text: JSON.stringify({ ...message, type }) };
  } catch {
    // Unknown to both protocols: the server closes the socket.
    return { type: undefined, text };
  }
}

const NEWER_NAMES: Readonly<Record<string, string>> = { start: 'subscribe', stop: 'complete' };

function toOlder(message: Message): Message | null {
  if (message.type === 'ping' || message.type === 'pong') return null;
  if (message.type === 'next') return { ...message, type: 'data' };
  if (message.type === 'error' && Array.isArray(message.payload)) {
    return { ...message, payload: message.payload[0] as unknown };
  }
  return message;
}
