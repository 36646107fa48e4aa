import { resolve } from 'node:path';
import { parseRedisUrl } from '@tollgate/redis/redis-url';
import { localUrl } from '@tollgate/stack/service-settings';
import type { ServicePort } from '@tollgate/stack/service-settings';

/** PORT_BASE moves them together. */
export type Ports = Readonly<Record<ServicePort | 'upstream' | 'postgres' | 'redis', number>>;

export type Settings = {
  project: string;
  directory: string;
  ports: Ports;
  /** An external Redis of any topology; undefined to start our own. */
  redisUrl: string | undefined;
};

const HIGHEST_BASE = 65_535 - 102;

/** From 1024 (WHATWG Fetch, section 2.9, port blocking). */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10080,
]);

/** @throws {Error} fit for a terminal if TOLLGATE_DIR, PORT_BASE or REDIS_URL is wrong */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const project = resolve(import.meta.dirname, '../..');
  const base = env['PORT_BASE'] ?? '4000';
  if (!/^\d{1,5}$/.test(base) || Number(base) < 1_024 || Number(base) > HIGHEST_BASE) {
    throw new Error(`PORT_BASE must be a whole number from 1024 to ${String(HIGHEST_BASE)}.`);
  }
  const ports = portsFrom(Number(base));
  const blocked = blockedPort(ports);
  if (blocked !== undefined) {
    throw new Error(
      `PORT_BASE=${base} uses port ${String(blocked)}, which browsers and fetch refuse to open. Choose another base, such as PORT_BASE=5000.`,
    );
  }
  return {
    project,
    directory: resolve(project, env['TOLLGATE_DIR'] ?? '.tollgate'),
    ports,
    redisUrl: readRedisUrl(env['REDIS_URL']),
  };
}

function readRedisUrl(url: string | undefined): string | undefined {
  if (url === undefined || url === '') return undefined;
  try {
    parseRedisUrl(url);
  } catch (error) {
    throw new Error(`REDIS_URL ${error instanceof Error ? error.message : 'is wrong'}.`, { cause: error });
  }
  return url;
}

/** A port that is spoken to over HTTP and that browsers and fetch refuse, because other protocols use it. */
export function blockedPort({ postgres: _postgres, redis: _redis, ...http }: Ports): number | undefined {
  return Object.values(http).find((port) => BLOCKED_PORTS.has(port));
}

export function portsFrom(base: number): Ports {
  return {
    gateway: base,
    gatewayPrivate: base + 100,
    auth: base + 1,
    authPrivate: base + 101,
    account: base + 2,
    accountPrivate: base + 102,
    upstream: base + 3,
    postgres: base + 4,
    redis: base + 5,
  };
}

export function addressLines({ ports }: Pick<Settings, 'ports'>): string[] {
  return [
    `gateway   ${localUrl(ports.gateway)}   private ${localUrl(ports.gatewayPrivate)}`,
    `auth      ${localUrl(ports.auth)}   private ${localUrl(ports.authPrivate)}`,
    `account   ${localUrl(ports.account)}   private ${localUrl(ports.accountPrivate)}`,
    `upstream  ${localUrl(ports.upstream)}/graphql`,
  ];
}
