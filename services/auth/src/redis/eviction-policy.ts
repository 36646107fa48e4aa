import type { Logger } from '@tollgate/log';
import { mastersOf, onServerReady } from '@tollgate/redis';
import type { Redis, RedisConnection } from '@tollgate/redis';

/** How long a start waits for Redis before it goes on without it. */
const FIRST_LOOK_MS = 2_000;
const LOOK_AGAIN_MS = 1_000;

/**
 * Ends the process with exit code 1 where Redis may evict keys: a revocation or a token that is dropped
 * under memory pressure breaks what auth promises. Every server is asked whenever it is connected to, for what
 * answers after a restart or a failover may be set up in another way.
 *
 * Resolves when the first answers are there, or when Redis turns out to be away: it is asked when it comes.
 */
export async function refuseEvictingRedis(redis: RedisConnection, logger: Logger): Promise<void> {
  async function look(server: Redis): Promise<void> {
    const policy = await evictionPolicy(server);
    if (policy === 'noeviction') return;
    if (policy === 'away') {
      setTimeout(() => {
        if (server.status === 'ready') void look(server);
      }, LOOK_AGAIN_MS).unref();
      return;
    }
    logger.fatal(
      { maxmemory_policy: policy },
      `Redis may evict tokens and revocations: its maxmemory-policy is ${policy ?? 'not to be read'}, and must be noeviction. Set it there, or set ALLOW_EVICTING_REDIS=true to run all the same.`,
    );
    process.exit(1);
  }

  const { promise: firstLook, resolve } = Promise.withResolvers<undefined>();
  const late = setTimeout(resolve, FIRST_LOOK_MS, undefined);
  const looked = new Set<Redis>();
  onServerReady(redis, (server) => {
    void look(server).finally(() => {
      looked.add(server);
      if (mastersOf(redis).every((master) => looked.has(master))) resolve(undefined);
    });
  });
  redis.once('close', () => {
    resolve(undefined);
  });
  await firstLook;
  clearTimeout(late);
}

/**
 * The policy's name, null where Redis doesn't let it be read, or `away`. Managed services often forbid
 * CONFIG, and some access lists forbid INFO.
 */
async function evictionPolicy(redis: Redis): Promise<string | null> {
  try {
    const fromInfo = await replyOrNull(redis.info('memory'));
    const named = /^maxmemory_policy:(\S+)/m.exec(fromInfo ?? '')?.[1];
    if (named !== undefined) return named;
    const fromConfig = await replyOrNull(redis.config('GET', 'maxmemory-policy'));
    return Array.isArray(fromConfig) && typeof fromConfig[1] === 'string' ? fromConfig[1] : null;
  } catch {
    return 'away';
  }
}

/** A command's answer; null where Redis forbids it or doesn't have it. */
async function replyOrNull<T>(command: Promise<T>): Promise<T | null> {
  try {
    return await command;
  } catch (error) {
    if (error instanceof Error && /^(NOPERM|ERR unknown command)/i.test(error.message)) return null;
    throw error;
  }
}
