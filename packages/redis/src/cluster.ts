import { Cluster } from 'ioredis';
import type { Redis } from 'ioredis';
import type { Logger } from '@tollgate/log';
import type { RedisAddress } from './redis-url.ts';
import { retryDelayMs } from './server.ts';
import type { SharedOptions } from './shared-options.ts';

const TOPOLOGY_REFRESH_MS = 500;

export function openCluster(
  { nodes, login }: Extract<RedisAddress, { topology: 'cluster' }>,
  shared: SharedOptions,
  logger: Logger,
): Cluster {
  const cluster = new Cluster(nodes, {
    redisOptions: { ...shared, ...login },
    // Only redirections are followed: anything else may have run already.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    clusterRetryStrategy: retryDelayMs,
    slotsRefreshTimeout: 2_000,
    // Names aren't resolved here, because certificates are checked against them.
    dnsLookup: (hostname, callback) => {
      callback(null, hostname);
    },
  });
  failFast(cluster);
  refreshTopology(cluster);
  // ioredis would connect only on a node's first command.
  cluster.on('+node', (node: Redis) => {
    node.connect().catch(() => undefined);
  });
  logAvailability(cluster, logger);
  return cluster;
}

/** ioredis' own slotsRefreshInterval never ends if the cluster is closed or reconnects during a refresh. */
function refreshTopology(cluster: Cluster): void {
  const timer = setInterval(() => {
    if (cluster.status === 'ready') cluster.refreshSlotsCache();
  }, TOPOLOGY_REFRESH_MS);
  // ioredis emits no `end` for a cluster that it never reached.
  timer.unref();
  cluster.once('end', () => {
    clearInterval(timer);
  });
}

/** ioredis' enableOfflineQueue would also refuse commands while it connects to a new node. */
function failFast(cluster: Cluster): void {
  const sendCommand = cluster.sendCommand.bind(cluster);
  cluster.sendCommand = (command, ...rest) => {
    // ioredis needs CLUSTER to become ready.
    if (cluster.status === 'ready' || command.name === 'cluster') return sendCommand(command, ...rest);
    command.reject(new Error('The Redis Cluster is unavailable'));
    return command.promise;
  };
}

function logAvailability(cluster: Cluster, logger: Logger): void {
  let away = false;
  let masters: Redis[] = [];
  const onAway = (error?: Error) => {
    if (!away) logger.warn({ err: error }, 'Redis is unavailable; retrying');
    away = true;
  };
  const lookAgain = () => {
    if (!away || cluster.status !== 'ready' || masters.some(({ status }) => status !== 'ready')) return;
    logger.info('Redis is available again');
    away = false;
  };
  cluster.on('error', onAway);
  cluster.on('reconnecting', () => {
    onAway();
  });
  cluster.on('ready', lookAgain);
  cluster.on('refresh', () => {
    masters = cluster.nodes('master');
    lookAgain();
  });
  cluster.on('+node', (node: Redis) => {
    node.on('ready', lookAgain);
    node.on('end', () => {
      if (masters.includes(node)) onAway();
    });
  });
}
