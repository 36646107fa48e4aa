import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';

/** Acknowledges, and counts up in every subscription at a fixed rate. */
export type TickingUpstream = { url: string; close: () => void };

export const TICKS_PER_SEC = 50;

export async function startTickingUpstream(): Promise<TickingUpstream> {
  const server = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    perMessageDeflate: false,
    handleProtocols: () => 'graphql-transport-ws',
  });
  await once(server, 'listening');
  server.on('connection', (socket) => {
    socket.on('message', (text: Buffer) => {
      const message = JSON.parse(text.toString()) as { type: string; id?: string; payload?: Ticks };
      if (message.type === 'connection_init') socket.send('{"type":"connection_ack"}');
      if (message.type === 'subscribe') tick(socket, message.id ?? '', message.payload?.variables.count ?? 0);
    });
    // The test ends by resetting connections.
    socket.on('error', () => undefined);
  });
  return {
    url: `ws://127.0.0.1:${String((server.address() as AddressInfo).port)}/graphql`,
    close: () => {
      for (const socket of server.clients) socket.terminate();
      server.close();
    },
  };
}

type Ticks = { variables: { count: number } };

function tick(socket: WebSocket, id: string, count: number): void {
  let sent = 0;
  const startedMs = performance.now();
  // By the clock, so that a late timer doesn't lower the rate.
  const timer = setInterval(() => {
    const due = Math.min(count, Math.floor(((performance.now() - startedMs) / 1_000) * TICKS_PER_SEC));
    for (; sent < due; sent += 1) {
      socket.send(JSON.stringify({ id, type: 'next', payload: { data: { ticks: sent } } }));
    }
    if (sent < count) return;
    clearInterval(timer);
    socket.send(JSON.stringify({ id, type: 'complete' }));
  }, 1_000 / TICKS_PER_SEC);
  socket.once('close', () => {
    clearInterval(timer);
  });
}
