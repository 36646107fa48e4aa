import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { RedisConnection } from '@tollgate/redis';
import { defineScript } from '../redis/redis-script.ts';
import { tooManyRequests } from './too-many-requests.ts';

export type FailedAttempts = {
  /** Whether this process knows a client at an address to be over a limit, without I/O. */
  isLimited: (clientId: string, address: string) => boolean;
  /**
   * Counts an attempt whose credentials are wrong. Resolves where its caller may be told so.
   * @throws {Problem} too_many_requests over a limit; service_unavailable where Redis can't be asked
   */
  count: (clientId: string, address: string) => Promise<void>;
};

export type FailedAttemptLimits = {
  perClientAndAddress: number;
  perAddress: number;
  windowMs: number;
};

/**
 * One address's failures: a hash with the sum in `*` and one field for each client. It is one key, so that both
 * limits are judged at one moment in any Redis Cluster, and it has no more fields than an address has failures.
 * Answers which limit is reached, and for how many milliseconds more.
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

/** How many limited callers a process remembers, to refuse them without a round trip. */
const REMEMBERED_MAX = 10_000;

/**
 * Limits failed attempts to authenticate, per client and address and per address, over a window that starts
 * with an address's first failure (ADR 0014). At `auth:{address:<hash>}:failed` in Redis, for windowMs. Right
 * credentials never come here, so a limit refuses wrong ones only.
 */
export function createFailedAttempts(options: {
  redis: RedisConnection;
  limits: FailedAttemptLimits;
  onLimited: (limit: 'address' | 'pair') => void;
}): FailedAttempts {
  const { redis, limits, onLimited } = options;
  const countFailure = defineScript(redis, LUA);
  const limitedUntil = new LRUCache<string, number>({ max: REMEMBERED_MAX });

  /** The limit that this process knows to be reached, and for how long still. */
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

/** 128 bits: keys of one length, whatever a stranger sends as a client id. */
function shortHash(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}
