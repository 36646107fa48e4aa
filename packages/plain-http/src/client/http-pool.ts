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
import type { Holder, PoolRequest } from './pool-request.ts';
import { createWaitingLine } from './waiting-line.ts';

export type HttpPoolOptions = ConnectOptions &
  ConnectionLimits & {
    connections: number;
    /** False leaves all exchanges to undici. */
    plainHttp: boolean;
    /** Of one holder, and fewer while few are left; by default all. */
    connectionsPerHolder?: number;
    /** Requests that may wait for a connection. */
    maxWaiting?: number;
  };

const MAX_WAITING = 4_096;

/** Of the connections, how many a holder may have for each one that is left, so that some are left for another one. */
const HELD_PER_ONE_LEFT = 4;

/** Nothing has been sent. */
export class PoolFullError extends Error {
  override name = 'PoolFullError';
  readonly code = 'POOL_FULL';
}

export type { PoolRequest } from './pool-request.ts';

export type HttpPool = {
  /**
   * As undici's. `onRequestStart` may be called a second time, with the controller that holds from then on. Null if
   * the request has a connection, or has failed: with PoolFullError if it may not even wait for one.
   */
  dispatch: (request: PoolRequest, handler: Dispatcher.DispatchHandler) => StopWaiting | null;
  /**
   * For an exchange that has turned out to last: its connection leaves the pool, which may open another one in its
   * place, and is closed at its end.
   */
  setApart: (handler: Dispatcher.DispatchHandler) => void;
  /** Takes no more requests; resolves when the last one has ended. */
  close: () => Promise<void>;
};

/** Takes a request that waits out of the line, without a word to its handler. */
export type StopWaiting = () => void;

/** HTTP/1.1 connections to one server, one request at a time on each, as undici's Pool (docs/design/forwarding.md). */
export function createHttpPool(origin: string, options: HttpPoolOptions): HttpPool {
  const connections = new Set<Connection>();
  const apart = new Set<Connection>();
  const free: Connection[] = [];
  const { connections: max, connectionsPerHolder: maxPerHolder = Infinity } = options;
  const waiting = createWaitingLine(options.maxWaiting ?? MAX_WAITING, refuse);
  const held = new Map<Holder, number>();
  const sendLater = createSendLater();
  const shortestMs = Math.min(options.headersTimeoutMs, options.bodyIdleTimeoutMs);
  const checks = createChecks((nowMs) => Math.min(checkAll(connections, nowMs), checkAll(apart, nowMs)));
  let closed: PromiseWithResolvers<void> | undefined;
  const url = new URL(origin);
  const toText = options.plainHttp ? createRequestText(url.host) : () => null;
  const ofConnections: ConnectionOptions = {
    origin: url,
    connect: createConnect(url, options),
    limits: options,
    readHead: createReadHead(),
    onSent,
    onFree,
    onClosed,
  };

  /** Counts nothing where a holder may have all: it is on the way of each call. */
  function mayHold(holder: Holder): boolean {
    if (maxPerHolder >= max || holder === undefined) return true;
    const left = max - connections.size + free.length;
    return (held.get(holder) ?? 0) < Math.min(maxPerHolder, HELD_PER_ONE_LEFT * left);
  }

  function hold(connection: Connection, holder: Holder): void {
    if (maxPerHolder >= max || holder === undefined) return;
    connection.holder = holder;
    held.set(holder, (held.get(holder) ?? 0) + 1);
  }

  function letGo(connection: Connection): void {
    const { holder } = connection;
    if (holder === undefined) return;
    connection.holder = undefined;
    const left = (held.get(holder) ?? 0) - 1;
    if (left > 0) held.set(holder, left);
    else held.delete(holder);
  }

  function hasRoom(): boolean {
    return free.length > 0 || connections.size < max;
  }

  function begin(exchange: PlainExchange): void {
    const { holder } = exchange.request;
    const connection = takeFrom(free, exchange.text === null);
    if (connection === undefined) {
      const opened = new Connection(ofConnections, exchange);
      connections.add(opened);
      hold(opened, holder);
      return;
    }
    hold(connection, holder);
    connection.take(exchange);
    sendLater(connection);
  }

  function onSent(nowMs: number): void {
    checks.within(shortestMs, nowMs);
  }

  function onFree(connection: Connection, nowMs: number): void {
    letGo(connection);
    if (apart.has(connection) || (closed !== undefined && waiting.size === 0)) {
      connection.destroy();
      return;
    }
    free.push(connection);
    checks.within(connection.keepAliveMs, nowMs);
    serveWaiting();
  }

  function serveWaiting(): void {
    while (waiting.size > 0 && hasRoom()) {
      const next = waiting.next(mayHold);
      if (next === undefined) return;
      begin(next);
    }
  }

  function onClosed(connection: Connection, exchange: PlainExchange | null): void {
    letGo(connection);
    connections.delete(connection);
    apart.delete(connection);
    const at = free.indexOf(connection);
    if (at !== -1) free.splice(at, 1);
    // It had a connection, so no time limit for a wait holds for it; the closed one has left room.
    if (exchange !== null) begin(exchange);
    serveWaiting();
    if (isEmpty()) closed?.resolve();
  }

  function stopWaiting(exchange: PlainExchange): StopWaiting {
    return () => {
      waiting.remove(exchange);
    };
  }

  function isEmpty(): boolean {
    return connections.size === 0 && apart.size === 0;
  }

  return {
    setApart: (handler) => {
      for (const connection of connections) {
        if (!connection.carries(handler)) continue;
        letGo(connection);
        connections.delete(connection);
        apart.add(connection);
        serveWaiting();
        return;
      }
    },
    dispatch: (request, handler) => {
      const exchange = new PlainExchange(request, handler, toText(request));
      if (closed !== undefined) {
        exchange.fail(new errors.ClientClosedError());
        return null;
      }
      if (hasRoom() && mayHold(request.holder)) begin(exchange);
      else if (waiting.add(exchange)) return stopWaiting(exchange);
      else refuse(exchange);
      return null;
    },
    close: () => {
      if (closed !== undefined) return closed.promise;
      closed = Promise.withResolvers();
      for (const connection of free) connection.destroy();
      if (isEmpty()) closed.resolve();
      return closed.promise;
    },
  };
}

function refuse(exchange: PlainExchange): void {
  exchange.fail(new PoolFullError('all connections are in use, and too many requests wait for one'));
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
