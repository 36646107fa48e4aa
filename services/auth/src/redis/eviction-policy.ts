import type { Logger } from '@tollgate/log';
import { mastersOf, onServerReady } from '@tollgate/redis';
import type { Redis, RedisConnection } from '@tollgate/redis';

/** After that the service starts without Redis. */
const FIRST_CHECK_TIMEOUT_MS = 2_000;
const RECHECK_MS = 1_000;

/**
 * Exits with 1 if Redis may evict keys, because auth promises that tokens and revocations stay. Every new
 * connection is checked, because a failover changes the server. Resolves after the first check, or without
 * Redis.
 */
export async function refuseEvictingRedis(redis: RedisConnection, logger: Logger): Promise<void> {
  async function check(server: Redis): Promise<void> {
    const policy = await evictionPolicy(server);
    if (policy === 'noeviction') return;
    if (policy === 'unavailable') {
      setTimeout(() => {
        if (server.status === 'ready') void check(server);
      }, RECHECK_MS).unref();
      return;
    }
    logger.fatal(
      { maxmemory_policy: policy },
      `Redis may evict tokens and revocations: its maxmemory-policy is ${policy ?? 'unreadable'}, but must be noeviction. Change it, or set ALLOW_EVICTING_REDIS=true to disable this check.`,
    );
    process.exit(1);
  }

  const { promise: firstCheck, resolve } = Promise.withResolvers<undefined>();
  const late = setTimeout(resolve, FIRST_CHECK_TIMEOUT_MS, undefined);
  const checked = new Set<Redis>();
  onServerReady(redis, (server) => {
    void check(server).finally(() => {
      checked.add(server);
      if (mastersOf(redis).every((master) => checked.has(master))) resolve(undefined);
    });
  });
  redis.once('close', () => {
    resolve(undefined);
  });
  await firstCheck;
  clearTimeout(late);
}

/** The policy, null if it can't be read, or `unavailable`. Managed services often forbid CONFIG, and some ACLs INFO. */
async function evictionPolicy(redis: Redis): Promise<string | null> {
  try {
    const fromInfo = await replyOrNull(redis.info('memory'));
    const named = /^maxmemory_policy:(\S+)/m.exec(fromInfo ?? '')?.[1];
    if (named !== undefined) return named;
    const fromConfig = await replyOrNull(redis.config('GET', 'maxmemory-policy'));
    return Array.isArray(fromConfig) && typeof fromConfig[1] === 'string' ? fromConfig[1] : null;
  } catch {
    return 'unavailable';
  }
}

/** Null if Redis forbids or lacks the command. */
async function replyOrNull<T>(command: Promise<T>): Promise<T | null> {
  try {
    return await command;
  } catch (error) {
    if (error instanceof Error && /^(NOPERM|ERR unknown command)/i.test(error.message)) return null;
    throw error;
  }
}
