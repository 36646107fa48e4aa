import { Redis } from 'ioredis';
import type { Logger } from '@tollgate/log';

export type { Redis } from 'ioredis';

/**
 * Opens a Redis connection that fails fast: while Redis is away a command is rejected at once instead of
 * queued, so that callers get their 503; the connection itself is tried again for ever, at most a second
 * apart. A command that gets no answer is rejected after commandTimeoutMs.
 */
export function openRedis(url: string, logger: Logger, commandTimeoutMs = 2_000): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    ...(commandTimeoutMs > 0 ? { commandTimeout: commandTimeoutMs } : {}),
    retryStrategy: (attempt) => Math.min(50 * attempt, 1_000),
  });
  let away = false;
  const onAway = (error?: Error) => {
    if (!away) logger.warn({ err: error }, 'Redis is away; trying again');
    away = true;
  };
  redis.on('error', onAway);
  // A connection that Redis closes is no error to ioredis.
  redis.on('reconnecting', () => {
    onAway();
  });
  redis.on('ready', () => {
    if (away) logger.info('Redis is back');
    away = false;
  });
  return redis;
}
