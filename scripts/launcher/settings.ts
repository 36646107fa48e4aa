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

/** @throws {Error} fit for a terminal if TOLLGATE_DIR, PORT_BASE or REDIS_URL is wrong */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const project = resolve(import.meta.dirname, '../..');
  const base = env['PORT_BASE'] ?? '4000';
  if (!/^\d{1,5}$/.test(base) || Number(base) < 1_024 || Number(base) > HIGHEST_BASE) {
    throw new Error(`PORT_BASE must be a whole number from 1024 to ${String(HIGHEST_BASE)}.`);
  }
  return {
    project,
    directory: resolve(project, env['TOLLGATE_DIR'] ?? '.tollgate'),
    ports: portsFrom(Number(base)),
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
