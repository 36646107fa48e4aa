import { errors } from 'undici';
import type { Dispatcher } from 'undici';
import { createConnect } from './connect.ts';
import type { ConnectOptions } from './connect.ts';
import { createChecks } from './checks.ts';
import { Connection } from './connection.ts';
import type { ConnectionOptions } from './connection.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import { PlainExchange } from './plain/plain-exchange.ts';
import { createReadHead } from './plain/read-response.ts';
import { createRequestText } from './plain/request-text.ts';
import type { PoolRequest } from './pool-request.ts';

export type HttpPoolOptions = ConnectOptions & ConnectionLimits & { connections: number };

export type { PoolRequest } from './pool-request.ts';

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
  const sendLater = createSendLater();
  const shortestMs = Math.min(options.headersTimeoutMs, options.bodyIdleTimeoutMs);
  const checks = createChecks((nowMs) => checkAll(connections, nowMs));
  let closed: PromiseWithResolvers<void> | undefined;
  const url = new URL(origin);
  const toText = createRequestText(url.host);
  const ofConnections: ConnectionOptions = {
    ...{ origin: url, connect: createConnect(url, options), limits: options },
    ...{ readHead: createReadHead(), onSent, onFree, onClosed },
  };

  function begin(exchange: PlainExchange): boolean {
    const connection = takeFrom(free, exchange.text === null);
    if (connection === undefined) {
      if (connections.size >= options.connections) return false;
      connections.add(new Connection(ofConnections, exchange));
      return true;
    }
    connection.take(exchange);
    sendLater(connection);
    return true;
  }

  function onSent(nowMs: number): void {
    checks.within(shortestMs, nowMs);
  }

  function onFree(connection: Connection, nowMs: number): void {
    if (closed !== undefined && waiting.length === 0) {
      connection.destroy();
      return;
    }
    free.push(connection);
    checks.within(connection.keepAliveMs, nowMs);
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
      const exchange = new PlainExchange(request, handler, toText(request));
      if (closed !== undefined) {
        exchange.fail(new errors.ClientClosedError());
        return true;
      }
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

function checkAll(connections: Iterable<Connection>, nowMs: number): number {
  let nextMs = Infinity;
  for (const connection of connections) nextMs = Math.min(nextMs, connection.check(nowMs));
  return nextMs;
}

/** The one that was used last, so that others grow old; for undici one that it has already, if possible. */
function takeFrom(free: Connection[], isForUndici: boolean): Connection | undefined {
  const at = free.findLastIndex(({ isUndicis }) => isUndicis === isForUndici);
  return at === -1 ? free.pop() : free.splice(at, 1)[0];
}

/**
 * Sends what connections have taken when all that has arrived is read. What a server sent before the request, or its
 * end of the connection, is seen first: it must not become the response.
 */
function createSendLater(): (connection: Connection) => void {
  let unsent: Connection[] = [];

  function send(): void {
    const connections = unsent;
    unsent = [];
    for (const connection of connections) connection.send();
  }

  return (connection) => {
    if (unsent.push(connection) === 1) setImmediate(send);
  };
}
