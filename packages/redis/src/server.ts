import { Redis } from 'ioredis';
import type { Login, RedisEndpoint } from './redis-url.ts';
import type { tlsOptions } from './tls.ts';

export function retryDelayMs(attempt: number): number {
  return Math.min(50 * attempt, 1_000);
}

/**
 * Replies by which a server says that it isn't the master any more, or not yet able to answer, and keeps the connection:
 * a replica refuses writes (READONLY), one without its master refuses everything (MASTERDOWN), one that copies its
 * master's data loads it (LOADING), and a blocking command ends when its server becomes a replica (UNBLOCKED). A new
 * connection may lead to the master, and isn't used while its server is loading. CLUSTERDOWN isn't one of them: every
 * node says it, until the topology, which is asked for all the time, is whole again (docs/design/stores.md).
 */
const NOT_MASTER = /^-?(?:READONLY|MASTERDOWN|LOADING|UNBLOCKED)\b/;

/** Of ioredis. The failed command isn't sent again: its caller gets 503. */
export const LEAVING = {
  reconnectOnError: ({ message }: Error): boolean => NOT_MASTER.test(message),
  // How often a server that is loading is asked whether it is done.
  maxLoadingRetryTime: 500,
};

/** Fails fast and logs nothing. */
export function openOneServer(
  server: string | (RedisEndpoint & { login: Login }),
  timeouts: { connectTimeoutMs: number; commandTimeoutMs: number },
  tls: ReturnType<typeof tlsOptions>,
): Redis {
  const options = {
    connectTimeout: timeouts.connectTimeoutMs,
    commandTimeout: timeouts.commandTimeoutMs,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    ...LEAVING,
    ...tls,
    retryStrategy: retryDelayMs,
  };
  const redis =
    typeof server === 'string'
      ? new Redis(server, options)
      : new Redis({
          ...options,
          host: server.host,
          port: server.port,
          ...server.login,
        });
  redis.on('error', () => undefined);
  return redis;
}
