import type { Socket } from 'node:net';
import { createHttpPool } from '../../src/client/http-pool.ts';
import type { HttpPool, HttpPoolOptions, PoolRequest } from '../../src/client/http-pool.ts';
import type { Dispatcher } from 'undici';
import { startRawPeer } from './raw-peer.ts';

export const POOL_OPTIONS: HttpPoolOptions = {
  connections: 1,
  plainHttp: true,
  connectTimeoutMs: 1_000,
  headersTimeoutMs: 10_000,
  bodyIdleTimeoutMs: 10_000,
  keepAliveMs: 4_000,
  maxAgeMs: 60_000,
};

export const GET: PoolRequest = { method: 'GET', path: '/', headers: [], body: null };

/** `connection` counts from 1. */
type Answer = (socket: Socket, request: string, connection: number) => void;

export type RawServer = {
  origin: string;
  connections: Socket[];
  /** A pool of connections to it, whose requests it answers so. */
  open: (answer: Answer, options?: Partial<HttpPoolOptions>) => HttpPool;
  /** Ends all connections, and the pool. */
  reset: () => Promise<void>;
  stop: () => Promise<void>;
};

/** A raw peer, and a pool of connections to it. */
export async function startRawServer(): Promise<RawServer> {
  let answer: Answer = () => undefined;
  let pool: HttpPool | undefined;
  const connections: Socket[] = [];
  const peer = await startRawPeer((socket) => {
    const number = connections.push(socket);
    socket.setNoDelay(true).on('data', (bytes) => {
      answer(socket, bytes.toString('latin1'), number);
    });
  });
  const { origin } = peer;

  async function reset(): Promise<void> {
    const closed = pool?.close();
    for (const socket of connections) socket.destroy();
    await closed;
    pool = undefined;
    connections.length = 0;
  }

  return {
    origin,
    connections,
    open: (answers, options = {}) => {
      answer = answers;
      pool = createHttpPool(origin, { ...POOL_OPTIONS, ...options });
      return pool;
    },
    reset,
    stop: async () => {
      await reset();
      await peer.close();
    },
  };
}

type Outcome = { status: number; headers: object; body: string } | { error: string };

export type Dispatch = (request: PoolRequest, handler: Dispatcher.DispatchHandler) => unknown;

export function outcomeOf(dispatch: Dispatch, request = GET): Promise<Outcome> {
  return new Promise((resolve) => {
    const got = { status: 0, headers: {}, body: '' };
    dispatch(request, {
      onRequestStart: () => undefined,
      onResponseStart: (_controller, status, headers) => {
        Object.assign(got, { status, headers: { ...headers } });
      },
      onResponseData: (_controller, chunk) => {
        got.body += chunk.toString('latin1');
      },
      onResponseEnd: () => {
        resolve(got);
      },
      onResponseError: (_controller, error) => {
        resolve({ error: 'code' in error ? String(error.code) : error.message });
      },
    });
  });
}

/** Or the code of the error. */
export async function bodyOf(dispatch: Dispatch, request = GET): Promise<string> {
  const outcome = await outcomeOf(dispatch, request);
  return 'error' in outcome ? outcome.error : outcome.body;
}
