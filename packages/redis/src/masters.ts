import { ReplyError } from 'ioredis';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { RedisAddress, RedisEndpoint } from './redis-url.ts';

type Masters = {
  endpoints: RedisEndpoint[];
  /** False if answers differ or are too few: another server may take writes. */
  agreed: boolean;
};

export type FindMasters = {
  find: (followed: readonly Redis[]) => Promise<Masters>;
  close: () => void;
};

export type OpenServer = (endpoint: RedisEndpoint) => Redis;

const roleReply = z.tuple([z.string()]).rest(z.unknown());
const addressReply = z.tuple([z.string(), z.coerce.number()]);
const slotsReply = z.array(
  z
    .tuple([z.number(), z.number(), z.tuple([z.string().nullable(), z.number()]).rest(z.unknown())])
    .rest(z.unknown()),
);

/** Agreed if most sentinels name a master that confirms. Only the sentinel that leads a failover knows it at once. */
export function mastersBySentinel(
  { sentinels, masterName }: Extract<RedisAddress, { topology: 'sentinel' }>,
  openSentinel: OpenServer,
): FindMasters {
  const connections = sentinels.map(openSentinel);

  async function ask(sentinel: Redis): Promise<RedisEndpoint | undefined> {
    try {
      const reply = await sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', masterName);
      const address = addressReply.safeParse(reply);
      return address.success ? { host: address.data[0], port: address.data[1] } : undefined;
    } catch (error) {
      // A sentinel that hangs delays one round only: until it is reconnected, commands fail at once.
      if (!(error instanceof ReplyError) && sentinel.status === 'ready') sentinel.disconnect(true);
      return undefined;
    }
  }

  return {
    find: async (followed) => {
      const [answers, roles] = await Promise.all([
        Promise.all(connections.map(ask)),
        Promise.all(followed.map(isMaster)),
      ]);
      const named = unique(answers.filter((answer) => answer !== undefined));
      const enough = answers.filter((answer) => answer !== undefined).length * 2 > answers.length;
      return { endpoints: named, agreed: enough && named.length === 1 && roles.every(Boolean) };
    },
    close: () => {
      for (const connection of connections) connection.disconnect();
    },
  };
}

async function isMaster(server: Redis): Promise<boolean> {
  try {
    return roleReply.parse(await server.call('ROLE'))[0] === 'master';
  } catch {
    return false;
  }
}

/** Agreed if all masters that own slots name the same. If none answers, any node of the URL does, without agreement. */
export function mastersOfCluster(
  { nodes }: Extract<RedisAddress, { topology: 'cluster' }>,
  openNode: OpenServer,
): FindMasters {
  const open = new Set<Redis>();

  async function askFirstThatAnswers(): Promise<RedisEndpoint[]> {
    for (const endpoint of nodes) {
      const node = openNode(endpoint);
      open.add(node);
      try {
        await ready(node);
        return await slotOwners(node);
      } catch {
        // The next one may answer.
      } finally {
        node.disconnect();
        open.delete(node);
      }
    }
    return [];
  }

  return {
    find: async (followed) => {
      const settled = await Promise.allSettled(followed.map(slotOwners));
      const views = settled.flatMap((view) => (view.status === 'fulfilled' ? [view.value] : []));
      if (views.length === 0) return { endpoints: await askFirstThatAnswers(), agreed: false };
      const endpoints = unique(views.flat());
      const agreed =
        views.length === followed.length && views.every((view) => view.length === endpoints.length);
      return { endpoints, agreed };
    },
    close: () => {
      for (const node of open) node.disconnect();
    },
  };
}

async function slotOwners(node: Redis): Promise<RedisEndpoint[]> {
  const ranges = slotsReply.parse(await node.call('CLUSTER', 'SLOTS'));
  const own = node.options.host ?? '';
  return unique(
    ranges.map(([, , [host, port]]) => ({ host: host === null || host === '' ? own : host, port })),
  );
}

async function ready(node: Redis): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    node.once('ready', resolve);
    node.once('close', () => {
      reject(new Error('the connection was closed'));
    });
  });
}

function unique(endpoints: readonly RedisEndpoint[]): RedisEndpoint[] {
  return [...new Map(endpoints.map((endpoint) => [endpointKey(endpoint), endpoint])).values()];
}

export function endpointKey({ host, port }: RedisEndpoint): string {
  return `${host}:${String(port)}`;
}
