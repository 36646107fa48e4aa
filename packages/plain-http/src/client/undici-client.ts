import type { Socket } from 'node:net';
import { Client } from 'undici';
import type { ConnectionLimits } from './connection-limits.ts';
import { failByReset } from './fail-by-reset.ts';
import { dropUnsolicitedContinue } from './unsolicited-continue.ts';

export type UndiciOptions = {
  origin: URL;
  limits: ConnectionLimits;
  /** What has come after the first request, if that has been sent: what undici sends for it is dropped. */
  received: Buffer | null;
};

/** undici's client of a connection that stands already, for one request at a time. */
export function undiciOn(socket: Socket, { origin, limits, received }: UndiciOptions): Client {
  let isTaken = false;
  let awaitsHead = false;
  failByReset(socket);
  dropUnsolicitedContinue(socket, {
    awaitsHead: () => awaitsHead,
    headCame: () => {
      awaitsHead = false;
    },
  });

  const client = new Client(origin, {
    headersTimeout: limits.headersTimeoutMs,
    bodyTimeout: limits.bodyIdleTimeoutMs,
    keepAliveTimeout: limits.keepAliveMs,
    keepAliveMaxTimeout: limits.keepAliveMs,
    pipelining: 1,
    // With HTTP/2, one lost connection would fail many requests.
    allowH2: false,
    connect: (_target, callback) => {
      // undici must not be called back before its connect returns; then it sends the first request at once.
      queueMicrotask(() => {
        if (isTaken || socket.destroyed) {
          // After a SocketError undici would connect again.
          callback(new Error('the connection has closed'), null);
          return;
        }
        isTaken = true;
        if (received === null) {
          callback(null, socket);
          return;
        }
        socket.write = () => true;
        callback(null, socket);
        Reflect.deleteProperty(socket, 'write');
        // Before its request, undici would take it for a response without one.
        socket.unshift(received);
      });
    },
  });
  // One request at a time: the next bytes are the head of its response.
  const dispatch = client.dispatch.bind(client);
  client.dispatch = (request, handler) => {
    awaitsHead = true;
    return dispatch(request, handler);
  };
  return client;
}
