import type { Socket } from 'node:net';
import { Client, Pool, buildConnector, errors } from 'undici';
import { failByReset } from './fail-by-reset.ts';
import { dropUnsolicitedContinue } from './unsolicited-continue.ts';

export type HttpPoolOptions = {
  connections: number;
  connectTimeoutMs: number;
  /** A connection takes no new request after that, so that DNS changes are seen. Up to a fifth less, at random. */
  maxAgeMs: number;
  onConnected?: (seconds: number, socket: Socket) => void;
} & Pick<Pool.Options, 'headersTimeout' | 'bodyTimeout' | 'keepAliveTimeout' | 'keepAliveMaxTimeout'>;

/** HTTP/1.1 connections to one server, one request at a time on each. */
export function createHttpPool(origin: string, options: HttpPoolOptions): Pool {
  const { connectTimeoutMs, maxAgeMs, onConnected, ...ofPool } = options;
  const settings = { connect: createConnect(connectTimeoutMs, onConnected), maxAgeMs };
  return new Pool(origin, {
    ...ofPool,
    pipelining: 1,
    // With HTTP/2, one lost connection would fail many requests.
    allowH2: false,
    factory: (url, ofClient) => createClient(url, ofClient, settings),
  });
}

type Connect = (target: buildConnector.Options, callback: buildConnector.Callback) => void;

function createClient(
  origin: URL,
  options: object,
  { connect, maxAgeMs }: { connect: Connect; maxAgeMs: number },
): Client {
  let socket: Socket | null = null;
  let isOverdue = false;
  let awaitsHead = false;

  const client = new Client(origin, {
    ...options,
    connect: (target, callback) => {
      connect(target, (...result: Parameters<buildConnector.Callback>) => {
        if (result[0] === null) begin(result[1]);
        callback(...result);
      });
    },
  });

  function begin(connected: Socket): void {
    socket = connected;
    isOverdue = false;
    const aging = setTimeout(
      () => {
        isOverdue = true;
        endIfIdle();
      },
      maxAgeMs * (1 - Math.random() / 5),
    );
    aging.unref();
    connected.once('close', () => {
      clearTimeout(aging);
    });
    failByReset(connected);
    dropUnsolicitedContinue(connected, {
      awaitsHead: () => awaitsHead,
      headCame: () => {
        awaitsHead = false;
      },
    });
  }

  function endIfIdle(): void {
    if (isOverdue && client.stats.size === 0) socket?.destroy();
  }

  // Emitted after each request, before the pool's next one.
  client.on('drain', endIfIdle);
  // One request at a time: the next bytes are the head of its response.
  const dispatch = client.dispatch.bind(client);
  client.dispatch = (request, handler) => {
    awaitsHead = true;
    return dispatch(request, handler);
  };
  return client;
}

/** undici's own timer is up to a second late. */
function createConnect(timeoutMs: number, onConnected?: HttpPoolOptions['onConnected']): Connect {
  // Its type leaves out that it returns the socket.
  const connect = buildConnector({ timeout: 0, allowH2: false }) as (
    ...parameters: Parameters<buildConnector.connector>
  ) => Socket;
  return (target, callback) => {
    const beganMs = performance.now();
    const socket = connect(target, (...result: Parameters<buildConnector.Callback>) => {
      clearTimeout(overdue);
      if (result[0] === null) onConnected?.((performance.now() - beganMs) / 1000, result[1]);
      callback(...result);
    });
    const overdue = setTimeout(() => {
      socket.destroy(new errors.ConnectTimeoutError(`no connection within ${String(timeoutMs)} ms`));
    }, timeoutMs);
  };
}
