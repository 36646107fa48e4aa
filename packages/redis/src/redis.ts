import { Cluster, Redis } from 'ioredis';
import type { Logger } from '@tollgate/log';
import { openCluster } from './cluster.ts';
import { parseRedisUrl } from './redis-url.ts';
import type { RedisAddress } from './redis-url.ts';
import { retryDelayMs } from './server.ts';
import type { SharedOptions } from './shared-options.ts';

export type { Cluster, Command, Redis } from 'ioredis';

/**
 * One server, what Sentinel says is the master, or a Redis Cluster (ADR 0018). A command's keys, and a script's,
 * must share one hash tag; a pipeline's too.
 */
export type RedisConnection = Redis | Cluster;

/** How much later than its command a connection without an answer is given up. */
const HANG_MARGIN_MS = 1_000;

/**
 * Opens what a REDIS_URL names (redis-url.ts), and fails fast: while Redis is away a command is rejected at once
 * instead of queued, so that callers get their 503; the connection itself is tried again for ever, at most a
 * second apart. A command that gets no answer is rejected after commandTimeoutMs (0: never), and none is sent
 * twice: who gets no answer can't know whether it was carried out.
 *
 * @throws {Error} where the URL can't be read
 */
export function openRedis(url: string, logger: Logger, commandTimeoutMs = 2_000): RedisConnection {
  const address = parseRedisUrl(url);
  const options: SharedOptions = {
    connectTimeout: 2_000,
    maxRetriesPerRequest: 0,
    ...(commandTimeoutMs > 0 ? timeouts(commandTimeoutMs) : {}),
  };
  if (address.topology === 'cluster') return openCluster(address, options, logger);
  return openServer(address, options, logger);
}

/**
 * ioredis gives up on a command that gets no answer and keeps its connection: one on which nothing comes any more
 * would be used for ever.
 */
function timeouts(commandTimeoutMs: number): Pick<SharedOptions, 'commandTimeout' | 'socketTimeout'> {
  return { commandTimeout: commandTimeoutMs, socketTimeout: commandTimeoutMs + HANG_MARGIN_MS };
}

/** The connections to the servers that commands go to: of a Redis Cluster its masters, as far as they are known. */
export function mastersOf(redis: RedisConnection): Redis[] {
  return redis instanceof Cluster ? redis.nodes('master') : [redis];
}

/** The server's time, in milliseconds since the epoch; of a Redis Cluster that of one of its masters. */
export async function redisTimeMs(redis: RedisConnection): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
}

/**
 * Calls back at each new connection to a server: after a restart or a failover another one may answer. Of a
 * Redis Cluster also for replicas, which become masters without a new connection.
 */
export function onServerReady(redis: RedisConnection, callback: (server: Redis) => void): void {
  const listen = (server: Redis) => {
    server.on('ready', () => {
      callback(server);
    });
  };
  if (!(redis instanceof Cluster)) {
    listen(redis);
    return;
  }
  redis.nodes().forEach(listen);
  redis.on('+node', listen);
}

/** One connection to one server, the one that Sentinel says is the master or that the URL names. */
function openServer(
  address: Exclude<RedisAddress, { topology: 'cluster' }>,
  shared: SharedOptions,
  logger: Logger,
): Redis {
  const options = { ...shared, enableOfflineQueue: false, retryStrategy: retryDelayMs };
  const redis =
    address.topology === 'standalone'
      ? new Redis(address.url, options)
      : new Redis({ ...options, ...sentinelOptions(address) });
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

function sentinelOptions(address: Extract<RedisAddress, { topology: 'sentinel' }>) {
  const { tls, sentinels, masterName, db, login, sentinelLogin } = address;
  return {
    sentinels,
    name: masterName,
    role: 'master' as const,
    db,
    ...login,
    ...(sentinelLogin.username === undefined ? {} : { sentinelUsername: sentinelLogin.username }),
    ...(sentinelLogin.password === undefined ? {} : { sentinelPassword: sentinelLogin.password }),
    ...(tls ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
    // A master that was replaced may live on, and keep its connections: a sentinel's word ends them.
    failoverDetector: true,
    sentinelCommandTimeout: 2_000,
    sentinelRetryStrategy: retryDelayMs,
    sentinelReconnectStrategy: retryDelayMs,
  };
}
