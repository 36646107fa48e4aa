import type { Redis } from 'ioredis';
import type { Logger } from '@tollgate/log';
import { openChannelLink } from './channel-link.ts';
import type { ChannelLink } from './channel-link.ts';
import { endpointKey, mastersBySentinel, mastersOfCluster } from '../masters.ts';
import type { FindMasters } from '../masters.ts';
import { parseRedisUrl } from '../redis-url.ts';
import type { RedisEndpoint } from '../redis-url.ts';
import { onServerReturned } from '../redis.ts';
import type { RedisConnection } from '../redis.ts';
import { openOneServer } from '../server.ts';
import { tlsOptions } from '../tls.ts';
import type { RedisTls } from '../tls.ts';
import { createRounds } from './rounds.ts';
import { createTrust } from './trust.ts';
import type { CacheTrust } from './trust.ts';

export type { CacheTrust } from './trust.ts';

export type FollowedChannel = {
  channel: string;
  onMessage: (message: string) => void;
  /** Null where it doesn't matter whether a message was missed. */
  cache: CacheTrust | null;
};

const TRUST_INTERVAL_MS = 200;

/** Where nothing is trusted, dead connections and new masters only have to be noticed. */
const INTERVAL_MS = 1_000;

/** A sentinel that hangs mustn't delay a round until trust expires. */
const SENTINEL_TIMEOUT_MS = 250;

type Followed = { link: ChannelLink; control: Redis | undefined };

/**
 * Follows channels by the same connections, one to every master, because only the server that published a message can
 * prove its delivery (docs/design/stores.md). Pub/sub loses messages without a subscriber, so trust starts with a drop
 * after each gap.
 */
export function followChannels(options: {
  url: string;
  tls?: RedisTls;
  /**
   * The process' connection for commands. One server's address may lead to another one after a failover, while the old
   * one, now a replica, still answers PING. That connection notices, as its writes are refused; then channels are
   * followed anew.
   */
  alongside?: RedisConnection;
  channels: readonly FollowedChannel[];
  logger: Logger;
}): { close: () => void } {
  const { url, tls, alongside, channels, logger } = options;
  const { open, masters } = topologyOf(url, tls);
  const caches = channels.flatMap(({ cache }) => cache ?? []);
  const trust = createTrust({ channels: channels.map(({ channel }) => channel), caches, logger });
  let lastError: unknown;
  let closed = false;
  const isClosed = () => closed;
  const onMessages = new Map(channels.map(({ channel, onMessage }) => [channel, onMessage]));
  const servers = createFollowedServers((endpoint) => ({
    control: masters === undefined ? undefined : open(endpoint),
    link: openChannelLink({
      subscriber: open(endpoint),
      onMessages,
      onBegun: () => {
        trust.lose();
        rounds.start();
      },
      onEnded: (error) => {
        lastError = error;
        trust.lose();
        if (rounds.isResting()) rounds.start();
      },
    }),
  }));

  async function proveOnce(): Promise<void> {
    const [askedMs, losses] = [performance.now(), trust.losses()];
    const [found, proofs] = await Promise.all([
      masters?.find(servers.all().flatMap(({ control }) => (control === undefined ? [] : [control]))),
      Promise.all(servers.all().map(({ link }) => link.prove())),
    ]);
    if (isClosed()) return;
    // If no server could be asked, the known masters are the best guess.
    const known = found !== undefined && found.endpoints.length > 0;
    if (known && !(servers.settleOn(found.endpoints) && found.agreed)) trust.lose();
    else if (losses === trust.losses() && found?.agreed !== false && proofs.every(Boolean))
      trust.renew(askedMs);
    trust.logGap(lastError);
  }

  function followAnew(): void {
    if (!closed) for (const { link } of servers.all()) link.reconnect();
  }

  const rounds = createRounds({
    prove: proveOnce,
    intervalMs: caches.length > 0 ? TRUST_INTERVAL_MS : INTERVAL_MS,
    // Of several servers, one may be replaced and come back during a rest, and have missed messages.
    mayRest: () => masters === undefined && trust.mayRest(),
    onRest: () => {
      trust.rest(async () => {
        await rounds.wake();
        // Else the caches would wait again at each use.
        if (!trust.isTrusted() && !rounds.isResting()) trust.lose();
      });
    },
  });

  if (masters === undefined) {
    servers.settleOn([{ host: '', port: 0 }]);
    if (alongside !== undefined) onServerReturned(alongside, followAnew);
  }
  rounds.start();
  return {
    close: () => {
      closed = true;
      rounds.close();
      trust.lose();
      servers.settleOn([]);
      masters?.close();
    },
  };
}

function createFollowedServers(follow: (endpoint: RedisEndpoint) => Followed) {
  const byKey = new Map<string, Followed>();
  return {
    all: () => [...byKey.values()],
    settleOn: (endpoints: readonly RedisEndpoint[]): boolean => {
      const wanted = new Set(endpoints.map(endpointKey));
      const gone = [...byKey].filter(([key]) => !wanted.has(key));
      const added = endpoints.filter((endpoint) => !byKey.has(endpointKey(endpoint)));
      for (const [key, server] of gone) {
        end(server);
        byKey.delete(key);
      }
      for (const endpoint of added) byKey.set(endpointKey(endpoint), follow(endpoint));
      return gone.length === 0 && added.length === 0;
    },
  };
}

function end({ link, control }: Followed): void {
  link.close();
  control?.disconnect();
}

/** `masters` is undefined for one server. */
function topologyOf(
  url: string,
  tls: RedisTls | undefined,
): {
  open: (endpoint: RedisEndpoint) => Redis;
  masters: FindMasters | undefined;
} {
  const address = parseRedisUrl(url);
  const withTls = tlsOptions(address, tls);
  const timeouts = { connectTimeoutMs: 2_000, commandTimeoutMs: 2_000 };
  if (address.topology === 'standalone') {
    return { open: () => openOneServer(address.url, timeouts, withTls), masters: undefined };
  }
  const { login } = address;
  const open = (endpoint: RedisEndpoint) => openOneServer({ ...endpoint, login }, timeouts, withTls);
  if (address.topology === 'cluster') return { open, masters: mastersOfCluster(address, open) };
  const { sentinelLogin } = address;
  const openSentinel = (endpoint: RedisEndpoint) =>
    openOneServer(
      { ...endpoint, login: sentinelLogin },
      { ...timeouts, commandTimeoutMs: SENTINEL_TIMEOUT_MS },
      withTls,
    );
  return { open, masters: mastersBySentinel(address, openSentinel) };
}
