import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { freePort } from '@tollgate/stack/ports';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedisProcess } from './redis.ts';
import type { OwnRedis, RunningRedis } from './redis.ts';
import { startTcpRelay } from '../tcp-relay.ts';
import { readRun } from '../run.ts';

/** How long a master that is killed is waited for before its replica takes over. */
const DOWN_AFTER_MS = 1_000;

/** The same while none is killed: a busy machine keeps a server, which is to stay the master, silent for seconds. */
const BUSY_AFTER_MS = 15_000;

/**
 * How long a failover may take. A sentinel whose timer was late by two seconds, as on a busy machine, does nothing for 30
 * (its TILT mode).
 */
export const FAILOVER = { timeoutMs: 90_000 };

const SLOTS = 16_384;
const MASTERS = 3;

export type RedisCluster = RunningRedis & {
  /** First the three masters in the order of their slots, then their replicas in the same order. */
  nodes: readonly OwnRedis[];
};

export type RedisSentinel = RunningRedis & {
  master: OwnRedis;
  replica: OwnRedis;
  sentinels: readonly OwnRedis[];
};

/** Three masters (some two seconds). `settings` are lines of each redis.conf; kill and restart affect all nodes. */
export async function startRedisCluster({
  replicas = false,
  settings = [],
}: { replicas?: boolean; settings?: readonly string[] } = {}): Promise<RedisCluster> {
  await requireProgram();
  const password = randomBytes(16).toString('hex');
  const nodeSettings = async () => [
    'cluster-enabled yes',
    `cluster-port ${String(await freePort())}`,
    `cluster-node-timeout ${String(DOWN_AFTER_MS)}`,
    ...replicationSettings(password),
    ...settings,
  ];
  const count = replicas ? MASTERS * 2 : MASTERS;
  const nodes = await Promise.all(
    Array.from({ length: count }, () => startRedisProcess({ settings: nodeSettings, password })),
  );
  await onAll(nodes, join);
  const all = (act: (node: OwnRedis) => Promise<void>) => Promise.all(nodes.map(act));
  return {
    url: `redis+cluster://:${password}@${hosts(nodes)}`,
    nodes: nodes.map((node) => {
      const others = nodes.filter((other) => other !== node);
      return replacedSoon(node, () => onAll(others, (each) => setNodeTimeout(each, DOWN_AFTER_MS)));
    }),
    stop: async () => {
      await all((node) => node.stop());
    },
    kill: async () => {
      await all((node) => node.kill());
    },
    restart: async () => {
      await all((node) => node.restart());
      await onAll(nodes, async (each) => {
        await becomeOk(each);
        await setNodeTimeout(each, BUSY_AFTER_MS);
      });
    },
  };
}

/** kill and restart affect the master and its replica, not the three sentinels. */
export async function startRedisSentinel(settings: readonly string[] = []): Promise<RedisSentinel> {
  await requireProgram();
  const password = randomBytes(16).toString('hex');
  const serverSettings = [...replicationSettings(password), ...settings];
  const master = await startRedisProcess({ settings: () => Promise.resolve(serverSettings), password });
  const following = [...serverSettings, `replicaof 127.0.0.1 ${String(master.port)}`];
  const replica = await startRedisProcess({ settings: () => Promise.resolve(following), password });
  await onAll([replica], ([connection]) => linkUp(connection));
  const sentinels = await Promise.all(
    Array.from({ length: 3 }, () =>
      startRedisProcess({
        settings: () => Promise.resolve(sentinelSettings(master, password)),
        password,
        mode: 'sentinel',
      }),
    ),
  );
  await onAll(sentinels, seeEachOther);
  const both = (act: (node: OwnRedis) => Promise<void>) => Promise.all([master, replica].map(act));
  const watchClosely = () => onAll(sentinels, (each) => setDownAfter(each, DOWN_AFTER_MS));
  return {
    url: `redis+sentinel://:${password}@${hosts(sentinels)}/tollgate`,
    master: replacedSoon(master, watchClosely),
    replica,
    sentinels,
    stop: async () => {
      await Promise.all(sentinels.map((sentinel) => sentinel.stop()));
      await both((node) => node.stop());
    },
    kill: async () => {
      await both((node) => node.kill());
    },
    restart: async () => {
      await both((node) => node.restart());
    },
  };
}

export type MovableRedis = RunningRedis & {
  master: OwnRedis;
  replica: OwnRedis;
  /** New connections lead to the replica. */
  move: () => void;
  /** The replica becomes the master, and the master its replica; open connections stay. */
  failOver: () => Promise<void>;
};

/** A master and its replica behind one address, as a managed Redis. kill and restart affect both. */
export async function startMovableRedis(settings: readonly string[] = []): Promise<MovableRedis> {
  const password = randomBytes(16).toString('hex');
  const lines = [...replicationSettings(password), ...settings];
  const start = () => startRedisProcess({ settings: () => Promise.resolve(lines), password });
  const [master, replica] = await Promise.all([start(), start()]);
  await setMaster(replica, master);
  const address = await startTcpRelay(master.url);
  const move = () => {
    address.moveTo(replica.url);
  };
  const both = (act: (node: OwnRedis) => Promise<void>) => Promise.all([master, replica].map(act));
  return {
    url: address.url,
    master,
    replica,
    move,
    failOver: async () => {
      await setMaster(replica);
      await setMaster(master, replica);
      move();
    },
    stop: async () => {
      await both((node) => node.stop());
      await address.close();
    },
    kill: async () => {
      await both((node) => node.kill());
    },
    restart: async () => {
      await both((node) => node.restart());
    },
  };
}

/** Without a master, the server becomes one. */
async function setMaster(server: OwnRedis, master?: OwnRedis): Promise<void> {
  await onAll([server], async ([connection]) => {
    if (master === undefined) await connection?.replicaof('NO', 'ONE');
    else {
      await connection?.replicaof('127.0.0.1', master.port);
      await linkUp(connection);
    }
  });
}

function replicationSettings(password: string): string[] {
  return [`masterauth ${password}`, 'repl-diskless-sync-delay 0', 'repl-ping-replica-period 1'];
}

function sentinelSettings({ port }: OwnRedis, password: string): string[] {
  return [
    `sentinel monitor tollgate 127.0.0.1 ${String(port)} 2`,
    `sentinel auth-pass tollgate ${password}`,
    `sentinel sentinel-pass ${password}`,
    `sentinel down-after-milliseconds tollgate ${String(BUSY_AFTER_MS)}`,
    'sentinel failover-timeout tollgate 5000',
  ];
}

async function join(nodes: readonly Redis[]): Promise<void> {
  const masters = nodes.slice(0, MASTERS);
  const [first] = masters;
  await Promise.all(
    masters.map(async (node, index) => {
      await node.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
      const from = Math.floor((index * SLOTS) / MASTERS);
      const to = Math.floor(((index + 1) * SLOTS) / MASTERS);
      await node.call('CLUSTER', 'ADDSLOTS', ...Array.from({ length: to - from }, (_, slot) => from + slot));
    }),
  );
  for (const node of nodes) {
    const [, busPort] = await node.config('GET', 'cluster-port');
    if (node !== first)
      await first?.call('CLUSTER', 'MEET', '127.0.0.1', node.options.port ?? 0, busPort ?? 0);
  }
  await becomeOk(masters, nodes.length);
  await Promise.all(
    nodes.slice(MASTERS).map(async (replica, index) => {
      const id = String(await masters[index]?.call('CLUSTER', 'MYID'));
      await waitFor(() => replica.call('CLUSTER', 'REPLICATE', id), { what: `a replica to know ${id}` });
      await linkUp(replica);
    }),
  );
  // A client asks any node for the slots: one that doesn't know all of them yet makes it drop a master.
  await becomeOk(nodes);
  await setNodeTimeout(nodes, BUSY_AFTER_MS);
}

/** Only from then on does a server that doesn't answer count as down soon. */
function replacedSoon(server: OwnRedis, watchClosely: () => Promise<void>): OwnRedis {
  return {
    ...server,
    kill: async () => {
      await watchClosely();
      await server.kill();
    },
  };
}

async function setNodeTimeout(nodes: readonly Redis[], timeoutMs: number): Promise<void> {
  await Promise.all(nodes.map((node) => node.config('SET', 'cluster-node-timeout', timeoutMs)));
}

async function setDownAfter(sentinels: readonly Redis[], timeoutMs: number): Promise<void> {
  const setting = ['tollgate', 'down-after-milliseconds', timeoutMs] as const;
  await Promise.all(sentinels.map((sentinel) => sentinel.call('SENTINEL', 'SET', ...setting)));
}

async function becomeOk(nodes: readonly Redis[], known = nodes.length): Promise<void> {
  for (const node of nodes) {
    await waitFor(
      async () => {
        const info = String(await node.call('CLUSTER', 'INFO'));
        return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${String(known)}\r`);
      },
      { what: 'the Redis Cluster to serve all slots' },
    );
  }
}

async function linkUp(replica: Redis | undefined): Promise<void> {
  await waitFor(async () => (await replica?.info('replication'))?.includes('master_link_status:up'), {
    timeoutMs: 30_000,
    what: 'a replica to follow its master',
  });
}

async function seeEachOther(sentinels: readonly Redis[]): Promise<void> {
  for (const sentinel of sentinels) {
    await waitFor(
      async () => {
        const fields = (await sentinel.call('SENTINEL', 'MASTER', 'tollgate')) as string[];
        const value = (name: string) => fields[fields.indexOf(name) + 1];
        return value('num-slaves') === '1' && value('num-other-sentinels') === '2';
      },
      { what: 'the sentinels to see each other and the replica' },
    );
  }
}

async function onAll(
  servers: readonly OwnRedis[],
  use: (connections: Redis[]) => Promise<void>,
): Promise<void> {
  const connections = servers.map(({ url }) => new Redis(url));
  // The command that needs the connection reports its failure.
  for (const connection of connections) connection.on('error', () => undefined);
  try {
    await use(connections);
  } finally {
    for (const connection of connections) connection.disconnect();
  }
}

function hosts(nodes: readonly OwnRedis[]): string {
  return nodes.map(({ port }) => `127.0.0.1:${String(port)}`).join(',');
}

/** Containers would announce addresses that others can't reach. */
async function requireProgram(): Promise<void> {
  if ((await readRun()).redisProgram.kind === 'docker') {
    throw new Error('A Redis Cluster and Sentinel need a redis-server on this machine, not only in Docker.');
  }
}
