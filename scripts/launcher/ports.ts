import { isPortTaken } from '@tollgate/stack/ports';
import { blockedPort, portsFrom } from './settings.ts';
import type { Ports, Settings } from './settings.ts';

const NAMES: Record<keyof Ports, string> = {
  gateway: 'the gateway',
  gatewayPrivate: "the gateway's private listener",
  auth: 'auth',
  authPrivate: "auth's private listener",
  account: 'account',
  accountPrivate: "account's private listener",
  upstream: 'the sample upstream',
  payments: 'the sample payments',
  postgres: 'Postgres',
  redis: 'Redis',
};

/** @throws {Error} that names each taken port, its purpose and the way out */
export async function requireFreePorts({ ports, redisUrl }: Settings): Promise<void> {
  const taken = await takenPorts(ports, redisUrl);
  if (taken.length === 0) return;
  const base = await freeBase(redisUrl);
  throw new Error(
    [
      ...taken.map((name) => `Port ${String(ports[name])}, for ${NAMES[name]}, is taken by another process.`),
      `End that process, or move all ports together: PORT_BASE=${String(base)} npm start`,
    ].join('\n'),
  );
}

/** Redis' own port isn't checked if REDIS_URL names another Redis. */
export async function takenPorts(ports: Ports, redisUrl?: string): Promise<(keyof Ports)[]> {
  const wanted = (Object.keys(NAMES) as (keyof Ports)[]).filter(
    (name) => name !== 'redis' || redisUrl === undefined,
  );
  const taken = await Promise.all(wanted.map((name) => isPortTaken(ports[name])));
  return wanted.filter((_name, index) => taken[index]);
}

async function freeBase(redisUrl: string | undefined): Promise<number> {
  for (let base = 5_000; base < 30_000; base += 1_000) {
    const ports = portsFrom(base);
    if (blockedPort(ports) !== undefined) continue;
    if ((await takenPorts(ports, redisUrl)).length === 0) return base;
  }
  return 30_000;
}
