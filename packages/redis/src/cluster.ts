import { Cluster } from 'ioredis';
import type { Redis } from 'ioredis';
import type { Logger } from '@tollgate/log';
import type { RedisAddress } from './redis-url.ts';
import { retryDelayMs } from './server.ts';
import type { SharedOptions } from './shared-options.ts';

/** How old the known topology gets, where no redirection has told of a change before. */
const TOPOLOGY_REFRESH_MS = 500;

/** Connections to all nodes of a Redis Cluster; each command goes to the master of its slot. */
export function openCluster(
  { nodes, tls, login }: Extract<RedisAddress, { topology: 'cluster' }>,
  shared: SharedOptions,
  logger: Logger,
): Cluster {
  const cluster = new Cluster(nodes, {
    redisOptions: { ...shared, ...login, ...(tls ? { tls: {} } : {}) },
    // Nothing that may have been carried out is sent again: only redirections, which say that it was not.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    clusterRetryStrategy: retryDelayMs,
    slotsRefreshTimeout: 2_000,
    // Names stay names: they are looked up at each connection, and a certificate is checked against them.
    dnsLookup: (hostname, callback) => {
      callback(null, hostname);
    },
  });
  failFast(cluster);
  refreshTopology(cluster);
  // A node that nobody has needed yet would make its first command wait.
  cluster.on('+node', (node: Redis) => {
    node.connect().catch(() => undefined);
  });
  sayWhenAway(cluster, logger);
  return cluster;
}

/**
 * ioredis' own slotsRefreshInterval goes on for ever where a refresh is under way as the cluster is closed, and
 * once more after each reconnect that overtakes one.
 */
function refreshTopology(cluster: Cluster): void {
  const timer = setInterval(() => {
    if (cluster.status === 'ready') cluster.refreshSlotsCache();
  }, TOPOLOGY_REFRESH_MS);
  // Where the cluster was never reached, ioredis says no end.
  timer.unref();
  cluster.once('end', () => {
    clearInterval(timer);
  });
}

/**
 * ioredis' own switch (enableOfflineQueue) would also refuse what comes in the milliseconds in which a new node
 * is being connected to; those wait, for commandTimeout at most.
 */
function failFast(cluster: Cluster): void {
  const sendCommand = cluster.sendCommand.bind(cluster);
  cluster.sendCommand = (command, ...rest) => {
    // CLUSTER is how ioredis finds out whether it is ready.
    if (cluster.status === 'ready' || command.name === 'cluster') return sendCommand(command, ...rest);
    command.reject(new Error('The Redis Cluster is away'));
    return command.promise;
  };
}

/** One line when a master is away, and one when all that own slots are there again. */
function sayWhenAway(cluster: Cluster, logger: Logger): void {
  let away = false;
  let masters: Redis[] = [];
  const onAway = (error?: Error) => {
    if (!away) logger.warn({ err: error }, 'Redis is away; trying again');
    away = true;
  };
  const lookAgain = () => {
    // It is ready only where the nodes themselves say that the cluster works.
    if (!away || cluster.status !== 'ready' || masters.some(({ status }) => status !== 'ready')) return;
    logger.info('Redis is back');
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
