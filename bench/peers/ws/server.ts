/**
 * A bare relay on `ws`: each caller's socket has one to the upstream, and messages pass unread. No goal.
 *
 * The same for both: Node.js and its version, NODE_ENV=production, one core, callers, upstream, library, no
 * compression. In the peer's favour: it authenticates, entitles, limits and meters nothing, and has no pings
 * and no back-pressure. In our favour: our idle sockets have no connection to the upstream yet.
 */
import { WebSocket, WebSocketServer } from 'ws';

const { PORT = '', UPSTREAM = '' } = process.env;

const relay = new WebSocketServer({
  port: Number(PORT),
  host: '127.0.0.1',
  perMessageDeflate: false,
  backlog: 4_096,
});
relay.on('connection', (caller) => {
  const upstream = new WebSocket(UPSTREAM, 'graphql-transport-ws', { perMessageDeflate: false });
  const early: string[] = [];
  caller.on('message', (message: Buffer) => {
    if (upstream.readyState === WebSocket.OPEN) upstream.send(message.toString());
    else early.push(message.toString());
  });
  upstream.on('open', () => {
    for (const message of early) upstream.send(message);
  });
  upstream.on('message', (message: Buffer) => {
    caller.send(message.toString());
  });
  caller.on('close', () => {
    upstream.terminate();
  });
  upstream.on('close', () => {
    caller.terminate();
  });
  for (const socket of [caller, upstream]) socket.on('error', () => undefined);
});
