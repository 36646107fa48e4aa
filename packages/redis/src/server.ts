import { Redis } from 'ioredis';
import type { Login, RedisEndpoint } from './redis-url.ts';

export function retryDelayMs(attempt: number): number {
  return Math.min(50 * attempt, 1_000);
}

/** Fails fast and logs nothing. */
export function openOneServer(
  server: string | (RedisEndpoint & { tls: boolean; login: Login }),
  timeouts: { connectTimeoutMs: number; commandTimeoutMs: number },
): Redis {
  const options = {
    connectTimeout: timeouts.connectTimeoutMs,
    commandTimeout: timeouts.commandTimeoutMs,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
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
          ...(server.tls ? { tls: {} } : {}),
        });
  redis.on('error', () => undefined);
  return redis;
}
