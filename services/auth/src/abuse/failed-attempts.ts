import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { RedisConnection } from '@tollgate/redis';
import { defineScript } from '../redis/redis-script.ts';
import { tooManyRequests } from './too-many-requests.ts';

export type FailedAttempts = {
  /** Whether this process knows that a limit is reached, without I/O. */
  isLimited: (clientId: string, address: string) => boolean;
  /** @throws {Problem} too_many_requests; service_unavailable if Redis is unavailable */
  count: (clientId: string, address: string) => Promise<void>;
};

export type FailedAttemptLimits = {
  perClientAndAddress: number;
  perAddress: number;
  windowMs: number;
};

/**
 * One hash per address, with the sum in `*` and a field per client, so that a Redis Cluster can check both
 * limits at once. Returns the limit that is reached, and for how many milliseconds.
 */
const LUA = `
local counts = redis.call('HMGET', KEYS[1], '*', ARGV[1])
local limited = ''
if tonumber(counts[1] or '0') >= tonumber(ARGV[2]) then limited = 'address'
elseif tonumber(counts[2] or '0') >= tonumber(ARGV[3]) then limited = 'pair' end
if limited ~= '' then return {limited, redis.call('PTTL', KEYS[1])} end
redis.call('HINCRBY', KEYS[1], '*', 1)
redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
return {'', 0}
`;

type ScriptAnswer = [limited: '' | 'address' | 'pair', retryAfterMs: number];

/** Remembered callers are refused without a round trip. */
const REMEMBERED_MAX = 10_000;

/** Limits failed attempts, over a window that starts with an address's first failure (docs/design/tokens.md). */
export function createFailedAttempts(options: {
  redis: RedisConnection;
  limits: FailedAttemptLimits;
  onLimited: (limit: 'address' | 'pair') => void;
}): FailedAttempts {
  const { redis, limits, onLimited } = options;
  const countFailure = defineScript(redis, LUA);
  const limitedUntil = new LRUCache<string, number>({ max: REMEMBERED_MAX });

  function knownLimit(clientId: string, address: string) {
    if (limitedUntil.size === 0) return undefined;
    for (const limit of ['address', 'pair'] as const) {
      const until = limitedUntil.get(limit === 'address' ? address : pairOf(clientId, address)) ?? 0;
      const restMs = until - Date.now();
      if (restMs > 0) return { limit, restMs };
    }
    return undefined;
  }

  return {
    isLimited: (clientId, address) => knownLimit(clientId, address) !== undefined,
    count: async (clientId, address) => {
      const known = knownLimit(clientId, address);
      if (known !== undefined) {
        onLimited(known.limit);
        throw tooManyRequests(known.restMs);
      }
      const [limited, restMs] = (await countFailure(
        [`auth:{address:${shortHash(address)}}:failed`],
        [shortHash(clientId), limits.perAddress, limits.perClientAndAddress, limits.windowMs],
      )) as ScriptAnswer;
      if (limited === '') return;
      limitedUntil.set(limited === 'address' ? address : pairOf(clientId, address), Date.now() + restMs);
      onLimited(limited);
      throw tooManyRequests(restMs);
    },
  };
}

function pairOf(clientId: string, address: string): string {
  return `${address} ${shortHash(clientId)}`;
}

/** Callers choose client ids of any length. */
function shortHash(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}
