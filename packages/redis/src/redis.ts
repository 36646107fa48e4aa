import { Cluster, Redis } from 'ioredis';
import type { Logger } from '@tollgate/log';
import { openCluster } from './cluster.ts';
import { parseRedisUrl } from './redis-url.ts';
import type { RedisAddress } from './redis-url.ts';
import { LEAVING, retryDelayMs } from './server.ts';
import type { SharedOptions } from './shared-options.ts';
import { tlsOptions } from './tls.ts';
import type { RedisTls } from './tls.ts';

export type { RedisTls } from './tls.ts';

export type { Cluster, Command, Redis } from 'ioredis';

/** All keys of a command, script or pipeline must share one hash tag (docs/design/stores.md). */
export type RedisConnection = Redis | Cluster;

/** How long after the command timeout a silent connection is closed. */
const HANG_MARGIN_MS = 1_000;

/**
 * Reconnects forever. While Redis is unavailable, commands fail at once, so that callers get their 503. A
 * command without a reply fails after commandTimeoutMs (0: never) and isn't sent again, because it may have
 * run.
 * @throws {Error} if the URL is invalid
 */
export function openRedis(
  url: string,
  logger: Logger,
  { commandTimeoutMs = 2_000, tls }: { commandTimeoutMs?: number; tls?: RedisTls } = {},
): RedisConnection {
  const address = parseRedisUrl(url);
  const options: SharedOptions = {
    connectTimeout: 2_000,
    maxRetriesPerRequest: 0,
    ...LEAVING,
    ...tlsOptions(address, tls),
    ...(commandTimeoutMs > 0 ? timeouts(commandTimeoutMs) : {}),
  };
  if (address.topology === 'cluster') return openCluster(address, options, logger);
  return openServer(address, options, logger);
}

/** Without a socket timeout ioredis would use a dead connection forever, although each command times out. */
function timeouts(commandTimeoutMs: number): Pick<SharedOptions, 'commandTimeout' | 'socketTimeout'> {
  return { commandTimeout: commandTimeoutMs, socketTimeout: commandTimeoutMs + HANG_MARGIN_MS };
}

export function mastersOf(redis: RedisConnection): Redis[] {
  return redis instanceof Cluster ? redis.nodes('master') : [redis];
}

export async function redisTimeMs(redis: RedisConnection): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
}

/** Calls back on each new connection, also to replicas, which become masters without a new one. */
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

/** Calls back on each connection to a server after the first one. */
export function onServerReturned(redis: RedisConnection, callback: () => void): void {
  const known = new WeakSet<Redis>();
  for (const server of mastersOf(redis)) if (server.status === 'ready') known.add(server);
  onServerReady(redis, (server) => {
    if (known.has(server)) callback();
    known.add(server);
  });
}

function openServer(
  address: Exclude<RedisAddress, { topology: 'cluster' }>,
  shared: SharedOptions,
  logger: Logger,
): Redis {
  const options = { ...shared, enableOfflineQueue: false, retryStrategy: retryDelayMs };
  const redis =
    address.topology === 'standalone'
      ? new Redis(address.url, options)
      : new Redis({ ...options, ...sentinelOptions(address, shared.tls) });
  let away = false;
  const onAway = (error?: Error) => {
    if (!away) logger.warn({ err: error }, 'Redis is unavailable; retrying');
    away = true;
  };
  redis.on('error', onAway);
  // ioredis reports no error when Redis closes a connection.
  redis.on('reconnecting', () => {
    onAway();
  });
  redis.on('ready', () => {
    if (away) logger.info('Redis is available again');
    away = false;
  });
  return redis;
}

function sentinelOptions(
  address: Extract<RedisAddress, { topology: 'sentinel' }>,
  tls: SharedOptions['tls'],
) {
  const { sentinels, masterName, db, login, sentinelLogin } = address;
  return {
    sentinels,
    name: masterName,
    role: 'master' as const,
    db,
    ...login,
    ...(sentinelLogin.username === undefined ? {} : { sentinelUsername: sentinelLogin.username }),
    ...(sentinelLogin.password === undefined ? {} : { sentinelPassword: sentinelLogin.password }),
    ...(tls === undefined ? {} : { sentinelTLS: tls, enableTLSForSentinelMode: true }),
    // A replaced master may live on and keep its connections.
    failoverDetector: true,
    sentinelCommandTimeout: 2_000,
    sentinelRetryStrategy: retryDelayMs,
    sentinelReconnectStrategy: retryDelayMs,
  };
}
