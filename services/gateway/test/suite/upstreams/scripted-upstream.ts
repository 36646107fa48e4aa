import { once } from 'node:events';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { startServer } from './server.ts';

type Message = { type: string; id?: string; payload?: unknown };

export type ScriptedUpstream = {
  /** For UPSTREAM_WS_URL. */
  url: string;
  /** Sets the reaction to messages from now on. */
  onMessage: (act: (message: Message, socket: WebSocket) => void) => void;
  /** In order. */
  received: Message[];
  sockets: () => WebSocket[];
  close: () => Promise<void>;
};

/** An upstream of graphql-transport-ws that the test controls, faults included. */
export async function startScriptedUpstream(): Promise<ScriptedUpstream> {
  let act: (message: Message, socket: WebSocket) => void = () => undefined;
  const received: Message[] = [];
  const http = await startServer((_req, res) => res.writeHead(404).end());
  const server = new WebSocketServer({ server: http.server });
  server.on('connection', (socket) => {
    socket.on('error', () => undefined);
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as Message;
      received.push(message);
      act(message, socket);
    });
  });
  return {
    url: `${http.url.replace('http', 'ws')}/graphql`,
    onMessage: (next) => {
      act = next;
    },
    received,
    sockets: () => [...server.clients],
    close: async () => {
      for (const socket of server.clients) socket.terminate();
      await Promise.all([...server.clients].map((socket) => once(socket, 'close')));
      await http.close();
    },
  };
}

export function say(socket: WebSocket, message: Message): void {
  socket.send(JSON.stringify(message));
}
