import type { HealthReport } from '@tollgate/contracts/health-report';
import { mastersOf, redisTimeMs } from '@tollgate/redis';
import type { Redis, RedisConnection } from '@tollgate/redis';
import { expiryOf } from './postgres-report.ts';

type RedisReport = NonNullable<HealthReport['redis']>;

export async function reportRedis(redis: RedisConnection): Promise<RedisReport> {
  const redisMs = await redisTimeMs(redis);
  return {
    clock_skew_sec: (Date.now() - redisMs) / 1_000,
    servers: await Promise.all(mastersOf(redis).map(reportServer)),
  };
}

/** Managed services often forbid CONFIG, so INFO comes first. */
async function reportServer(server: Redis): Promise<RedisReport['servers'][number]> {
  const [about, memory, persistence, replication, fsync] = await Promise.all([
    server.info('server'),
    server.info('memory'),
    server.info('persistence'),
    server.info('replication'),
    configured(server, 'appendfsync'),
  ]);
  const fact = (text: string, name: string) => new RegExp(`^${name}:(\\S+)`, 'm').exec(text)?.[1] ?? null;
  const appendonly = fact(persistence, 'aof_enabled');
  const { host = '', port = 0 } = server.options;
  return {
    address: `${host}:${String(port)}`,
    role: fact(replication, 'role'),
    version: fact(about, 'redis_version'),
    eviction_policy: fact(memory, 'maxmemory_policy'),
    appendonly: appendonly === null ? null : appendonly === '1',
    appendfsync: fsync,
    certificate_expires_at: expiryOf(server.stream),
  };
}

async function configured(server: Redis, name: string): Promise<string | null> {
  try {
    const reply: unknown = await server.config('GET', name);
    return Array.isArray(reply) && typeof reply[1] === 'string' ? reply[1] : null;
  } catch {
    return null;
  }
}
