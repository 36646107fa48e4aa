import type { Readable } from 'node:stream';
import { errors } from 'undici';
import type { Dispatcher } from 'undici';
import { createConnect } from './connect.ts';
import type { ConnectOptions } from './connect.ts';
import { createChecks } from './checks.ts';
import { Connection } from './connection.ts';
import type { ConnectionLimits, ConnectionOptions } from './connection.ts';
import { PlainExchange } from './plain/plain-exchange.ts';
import { requestText } from './plain/request-text.ts';

export type HttpPoolOptions = ConnectOptions & ConnectionLimits & { connections: number };

/** `headers` are names and values in turn. The pool adds Host and, unless they state it, the length of a known body. */
export type PoolRequest = {
  method: string;
  path: string;
  headers: string[];
  body: Buffer | Readable | null;
};

export type HttpPool = {
  /**
   * As undici's. `onRequestStart` may be called a second time, with the controller that holds from then on. False if
   * the request waits until a connection is free.
   */
  dispatch: (request: PoolRequest, handler: Dispatcher.DispatchHandler) => boolean;
  /** Takes no more requests; resolves when the last one has ended. */
  close: () => Promise<void>;
};

/** HTTP/1.1 connections to one server, one request at a time on each, as undici's Pool (ADR 0077). */
export function createHttpPool(origin: string, options: HttpPoolOptions): HttpPool {
  const connections = new Set<Connection>();
  const free: Connection[] = [];
  const waiting: PlainExchange[] = [];
  let unsent: Connection[] = [];
  const shortestMs = Math.min(options.headersTimeoutMs, options.bodyIdleTimeoutMs);
  const checks = createChecks((nowMs) => {
    let nextMs = Infinity;
    for (const connection of connections) nextMs = Math.min(nextMs, connection.check(nowMs));
    return nextMs;
  });
  let closed: PromiseWithResolvers<void> | undefined;
  const url = new URL(origin);
  const connect = createConnect(url, options);
  const ofConnections: ConnectionOptions = { origin: url, connect, limits: options, onFree, onClosed };

  function begin(exchange: PlainExchange): boolean {
    const connection = takeFree(exchange.text === null);
    if (connection === undefined) {
      if (connections.size >= options.connections) return false;
      connections.add(new Connection(ofConnections, exchange));
      return true;
    }
    connection.take(exchange);
    // What the server sent meanwhile, or its end, is seen first: it is no response to this request.
    if (unsent.push(connection) === 1) setImmediate(send);
    return true;
  }

  /** The one that was used last, so that others grow old; for undici one that it has already, if possible. */
  function takeFree(isForUndici: boolean): Connection | undefined {
    const at = free.findLastIndex(({ isUndicis }) => isUndicis === isForUndici);
    return at === -1 ? free.pop() : free.splice(at, 1)[0];
  }

  function send(): void {
    const connectionsToSend = unsent;
    unsent = [];
    for (const connection of connectionsToSend) connection.send();
  }

  function onFree(connection: Connection): void {
    if (closed !== undefined && waiting.length === 0) {
      connection.destroy();
      return;
    }
    free.push(connection);
    checks.within(connection.keepAliveMs);
    serveWaiting();
  }

  function serveWaiting(): void {
    while (waiting[0] !== undefined && begin(waiting[0])) waiting.shift();
  }

  function onClosed(connection: Connection, exchange: PlainExchange | null): void {
    connections.delete(connection);
    const at = free.indexOf(connection);
    if (at !== -1) free.splice(at, 1);
    if (exchange !== null) waiting.unshift(exchange);
    serveWaiting();
    if (connections.size === 0) closed?.resolve();
  }

  return {
    dispatch: (request, handler) => {
      const exchange = new PlainExchange(request, handler, requestText(url.host, request));
      if (closed !== undefined) {
        exchange.fail(new errors.ClientClosedError());
        return true;
      }
      checks.within(shortestMs);
      if (begin(exchange)) return true;
      waiting.push(exchange);
      return false;
    },
    close: () => {
      if (closed !== undefined) return closed.promise;
      closed = Promise.withResolvers();
      for (const connection of free) connection.destroy();
      if (connections.size === 0) closed.resolve();
      return closed.promise;
    },
  };
}
