import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Redis } from 'ioredis';
import { mastersOf, onServerReturned } from './redis.ts';
import type { RedisConnection } from './redis.ts';

/** Counts this process' reconnections to Redis; call it before the first connection is ready. */
export function observeReconnects(redis: RedisConnection, registry: Registry): void {
  const reconnects = new Counter({
    name: 'tollgate_redis_reconnects_total',
    help: 'Connections to Redis that this process opened again after it had lost them',
    registers: [registry],
  });
  onServerReturned(redis, () => {
    reconnects.inc();
  });
}

type Field = { name: string; help: string; read: (info: Map<string, string>) => number | undefined };

const GAUGES: readonly Field[] = [
  { name: 'memory_used_bytes', help: 'Memory that Redis has allocated', read: field('used_memory') },
  { name: 'memory_max_bytes', help: 'maxmemory of Redis; 0 without a limit', read: field('maxmemory') },
  { name: 'clients_connected', help: 'Client connections to Redis', read: field('connected_clients') },
  { name: 'uptime_seconds', help: 'Time since Redis started', read: field('uptime_in_seconds') },
  {
    name: 'aof_write_ok',
    help: '1 if the last write to the append-only file succeeded, or it is off; else 0',
    read: (info) => (info.get('aof_last_write_status') === 'err' ? 0 : 1),
  },
];

const COUNTERS: readonly Field[] = [
  { name: 'evicted_keys_total', help: 'Keys that Redis evicted; must stay 0', read: field('evicted_keys') },
  { name: 'commands_total', help: 'Commands that Redis has run', read: field('total_commands_processed') },
];

/** INFO of each master at each scrape, as `tollgate_redis_…`, the same from every replica. */
export function observeServers(redis: RedisConnection, registry: Registry): void {
  const labelNames = ['server'] as const;
  const registers = [registry];
  const named = ({ name, help }: Field) => ({ name: `tollgate_redis_${name}`, help, labelNames, registers });
  // One scrape collects all metrics at once, and reads once.
  let reading: Promise<void> | undefined;
  const collect = () =>
    (reading ??= readAll().finally(() => {
      reading = undefined;
    }));
  const counters = COUNTERS.map((of) => ({ ...of, metric: new Counter({ ...named(of), collect }) }));
  const gauges = GAUGES.map((of) => ({ ...of, metric: new Gauge({ ...named(of), collect }) }));

  async function readAll(): Promise<void> {
    const servers = await Promise.all(mastersOf(redis).map(readInfo));
    for (const { metric } of [...counters, ...gauges]) metric.reset();
    for (const [server, info] of servers) {
      for (const { metric, read } of counters) metric.inc({ server }, read(info) ?? 0);
      for (const { metric, read } of gauges) {
        const value = read(info);
        if (value !== undefined) metric.set({ server }, value);
      }
    }
  }
}

function field(name: string): Field['read'] {
  return (info) => {
    const value = info.get(name);
    return value === undefined ? undefined : Number(value);
  };
}

/** Empty if Redis is unavailable or forbids INFO. */
async function readInfo(server: Redis): Promise<[string, Map<string, string>]> {
  const name = `${server.options.host ?? ''}:${String(server.options.port ?? '')}`;
  try {
    const lines = (await server.info()).split('\r\n');
    return [name, new Map(lines.map((line) => line.split(':', 2) as [string, string]))];
  } catch {
    return [name, new Map()];
  }
}
