import { REVOCATION_CHANNEL, revocationSchema } from '@tollgate/contracts/revocation';
import type { Logger } from '@tollgate/log';
import type { Redis } from '@tollgate/redis';
import type { Introspector } from './introspection.ts';

/** Whoever keeps something that a revocation ends. */
export type RevocationListener = Pick<
  Introspector,
  'dropClient' | 'dropToken' | 'dropAll' | 'trustCacheUntil'
>;

/**
 * Redis delivers a connection's messages and replies in order, so the reply to a PING proves that every
 * revocation published before it has arrived. A cache is trusted for this long after such a PING was sent:
 * together with what a call takes, a revoked token is refused within a second, also where the connection is
 * dead without a word.
 */
const TRUST_MS = 800;
const PING_INTERVAL_MS = 200;

/**
 * Follows auth's revocations on a Redis connection of its own, and passes them on. Pub/sub loses what is said
 * while nobody listens: at each subscription all is dropped, and without one nothing is trusted. The connection
 * should be one that fails fast (openRedis).
 */
export function followRevocations(options: { redis: Redis; listener: RevocationListener; logger: Logger }): {
  close: () => void;
} {
  const { redis, listener, logger } = options;
  // A subscription that comes back by itself would come without a drop.
  redis.options.autoResubscribe = false;
  let subscribed = false;
  let pinging = false;
  const trustFrom = (askedMs: number) => {
    if (subscribed) listener.trustCacheUntil(askedMs + TRUST_MS);
  };

  function lose(): void {
    subscribed = false;
    listener.trustCacheUntil(0);
  }

  async function subscribe(): Promise<void> {
    const askedMs = performance.now();
    try {
      await redis.subscribe(REVOCATION_CHANNEL);
    } catch (error) {
      logger.warn({ err: error }, 'the subscription to revocations failed; trying again');
      redis.disconnect(true);
      return;
    }
    listener.dropAll();
    subscribed = true;
    trustFrom(askedMs);
  }

  async function ping(): Promise<void> {
    if (!subscribed || pinging) return;
    pinging = true;
    const askedMs = performance.now();
    try {
      await redis.ping();
      // Not where the subscription has ended meanwhile.
      trustFrom(askedMs);
    } catch {
      // No answer in time: the connection may be dead without the system knowing.
      lose();
      redis.disconnect(true);
    } finally {
      pinging = false;
    }
  }

  redis.on('ready', () => void subscribe());
  redis.on('close', lose);
  redis.on('message', (_channel: string, message: string) => {
    pass(message, listener, logger);
  });
  const timer = setInterval(() => void ping(), PING_INTERVAL_MS);
  timer.unref();
  return {
    close: () => {
      clearInterval(timer);
      lose();
      redis.disconnect();
    },
  };
}

function pass(message: string, listener: RevocationListener, logger: Logger): void {
  const parsed = revocationSchema.safeParse(parseJson(message));
  if (!parsed.success) {
    logger.warn('a revocation message could not be read; all cached introspections are dropped');
    listener.dropAll();
  } else if (parsed.data.kind === 'client') listener.dropClient(parsed.data.client_id);
  else listener.dropToken(parsed.data.token_hash);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
