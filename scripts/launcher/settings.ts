import { resolve } from 'node:path';
import { redisUrl, wholeNumber } from '@tollgate/config/settings';
import { DEFAULT_REDIS_IMAGE } from '@tollgate/stack/config';
import { localUrl } from '@tollgate/stack/service-settings';
import type { ServicePort } from '@tollgate/stack/service-settings';
import { z } from 'zod';

/** PORT_BASE moves them together. */
export type Ports = Readonly<Record<ServicePort | 'upstream' | 'payments' | 'postgres' | 'redis', number>>;

export type Settings = {
  project: string;
  directory: string;
  ports: Ports;
  /** An external Redis of any topology; undefined to start our own. */
  redisUrl: string | undefined;
};

const HIGHEST_BASE = 65_535 - 102;

/** `npm start`'s own. The last two are read by tools/stack. */
export const LAUNCHER_SETTINGS = {
  PORT_BASE: wholeNumber(1_024, HIGHEST_BASE)
    .default(4_000)
    .describe("the gateway's port; the others follow from it"),
  TOLLGATE_DIR: z.string().default('.tollgate').meta({
    description: 'data, secrets, logs and `demo.json`; one running stack for each directory',
    values: 'a path in the project or an absolute one',
  }),
  REDIS_URL: redisUrl.optional().meta({
    description: 'a Redis that is already running, in any of the forms above',
    isSecret: true,
  }),
  REDIS_IMAGE: z
    .string()
    .default(DEFAULT_REDIS_IMAGE)
    .describe("Docker image that is used if Redis can't be installed otherwise"),
  XDG_CACHE_HOME: z.string().optional().meta({
    description: 'its `tollgate/` directory keeps an unpacked Redis for all checkouts',
    unset: '`~/.cache`',
  }),
};

/** From 1024 (WHATWG Fetch, section 2.9, port blocking). */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10080,
]);

/** @throws {Error} fit for a terminal if TOLLGATE_DIR, PORT_BASE or REDIS_URL is wrong */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const project = resolve(import.meta.dirname, '../..');
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = z.object(LAUNCHER_SETTINGS).safeParse(given);
  const [fault] = parsed.error?.issues ?? [];
  if (!parsed.success) throw new Error(`${String(fault?.path[0])} ${String(fault?.message)}.`);
  const { PORT_BASE: base, TOLLGATE_DIR: directory, REDIS_URL } = parsed.data;
  const ports = portsFrom(base);
  const blocked = blockedPort(ports);
  if (blocked !== undefined) {
    throw new Error(
      `PORT_BASE=${String(base)} uses port ${String(blocked)}, which browsers and fetch refuse to open. Choose another base, such as PORT_BASE=5000.`,
    );
  }
  return { project, directory: resolve(project, directory), ports, redisUrl: REDIS_URL };
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
    payments: base + 6,
  };
}

export function addressLines({ ports }: Pick<Settings, 'ports'>): string[] {
  return [
    `gateway   ${localUrl(ports.gateway)}   private ${localUrl(ports.gatewayPrivate)}`,
    `auth      ${localUrl(ports.auth)}   private ${localUrl(ports.authPrivate)}`,
    `account   ${localUrl(ports.account)}   private ${localUrl(ports.accountPrivate)}`,
    `upstream  ${localUrl(ports.upstream)}/graphql`,
    `payments  ${localUrl(ports.payments)}`,
  ];
}
