import { join } from 'node:path';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import { basic } from '../auth/auth-rates.ts';
import { until } from '../operator.ts';
import type { Servers } from '../servers.ts';
import { findNginxLua } from '../tools.ts';
import { startNginx } from './nginx.ts';
import type { Peer, PeerSetting } from './peer.ts';

/** `/graphql` records usage before the end of the answer, `/logged` afterwards (peers/nginx-lua). */
type Variant = { name: string; path: '/graphql' | '/logged' } & Pick<Peer, 'targetRatio'>;

export async function nginxLua(
  servers: Servers,
  setting: PeerSetting,
  { name, path, ...goal }: Variant,
  say: (line: string) => void,
): Promise<Peer> {
  const tools = await findNginxLua(servers, say);
  const { hostname, port, password } = new URL(servers.redisUrl);
  const auth = basic(setting.clientId, setting.clientSecret);
  const account = basic('gateway', servers.credentials.gateway);
  const door = await startNginx(servers, tools, {
    name,
    template: 'nginx-lua/nginx.conf',
    place: servers.places?.server,
    values: {
      PEER: join(servers.project, 'bench/peers/nginx-lua'),
      MODULES: tools.modules,
      LUA_PATH: tools.luaPath,
      LUA_CPATH: tools.luaCpath,
      REDIS_HOST: hostname,
      REDIS_PORT: port,
      REDIS_PASSWORD: decodeURIComponent(password),
      UPSTREAM: new URL(setting.upstreamUrl).host,
      INTROSPECTION: setting.introspectionUrl,
      INTROSPECTION_BASIC: auth['authorization'] ?? '',
      ENTITLEMENTS: `${servers.demo.private.account_url}/private/entitlements/`,
      ENTITLEMENTS_BASIC: account['authorization'] ?? '',
    },
  });
  return {
    door: { ...door, url: new URL(path, door.url).href },
    version: tools.version,
    recordedCalls: () => recordedCalls(servers.redisUrl),
    ...goal,
  };
}

/** By the counters of both variants and all payers. */
async function recordedCalls(redisUrl: string): Promise<number> {
  const redis = openRedis(redisUrl, createLogger('bench', 'silent'));
  try {
    await until('a connection to Redis', () => redis.status === 'ready');
    const keys = await redis.keys('{p*}:peer:counters:*');
    const counted = await Promise.all(keys.map((key) => redis.hget(key, 'requests')));
    return counted.reduce((sum, requests) => sum + Number(requests), 0);
  } finally {
    redis.disconnect();
  }
}
