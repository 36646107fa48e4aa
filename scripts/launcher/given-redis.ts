import { connect } from 'node:net';
import { parseRedisUrl } from '@tollgate/redis/redis-url';
import type { RedisEndpoint } from '@tollgate/redis/redis-url';

const TIME_LIMIT_MS = 5_000;

/** Fails early. One node of a cluster, or one sentinel, is enough; the message holds no password. */
export async function requireRedis(url: string): Promise<void> {
  const endpoints = endpointsOf(url);
  const listening = await Promise.all(endpoints.map(listens));
  if (listening.includes(true)) return;
  const names = endpoints.map(({ host, port }) => `${host}:${String(port)}`).join(', ');
  throw new Error(`The Redis that REDIS_URL names (${names}) can't be reached.`);
}

function endpointsOf(url: string): RedisEndpoint[] {
  const address = parseRedisUrl(url);
  switch (address.topology) {
    case 'cluster':
      return address.nodes;
    case 'sentinel':
      return address.sentinels;
    case 'standalone': {
      const { hostname, port } = new URL(address.url);
      return [{ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port === '' ? '6379' : port) }];
    }
  }
}

function listens({ host, port }: RedisEndpoint): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: TIME_LIMIT_MS });
    const answer = (listening: boolean) => () => {
      socket.destroy();
      resolve(listening);
    };
    socket.once('connect', answer(true)).once('error', answer(false)).once('timeout', answer(false));
  });
}
