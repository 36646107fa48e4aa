import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { RedisConnection } from '@tollgate/redis';
import { redisAnswer } from '../redis-answer.ts';
import { defineScript } from '../redis-script.ts';
import { tooManyRequests } from './too-many-requests.ts';

export type FailedAttempts = {
  /**
   * Refuses at once, without a round trip, an attempt that this process knows to be over a limit.
   * @throws {Problem} too_many_requests
   */
  refuseKnown: (clientId: string, address: string) => void;
  /**
   * Called when the credentials have been checked and before anyone is told how they are: counts a failure.
   * Once a limit is reached it throws for right credentials and wrong ones alike.
   * @throws {Problem} too_many_requests; service_unavailable where Redis can't be asked
   */
  settle: (clientId: string, address: string, failed: boolean) => Promise<void>;
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
 *
 * An attempt's place in line is that of this script. Of any number at once, only those that come before the
 * limit is reached are told whether their secret was right.
 */
const LUA = `
local counts = redis.call('HMGET', KEYS[1], '*', ARGV[1])
local limited = ''
if tonumber(counts[1] or '0') >= tonumber(ARGV[3]) then limited = 'address'
elseif tonumber(counts[2] or '0') >= tonumber(ARGV[4]) then limited = 'pair' end
if limited ~= '' then return {limited, redis.call('PTTL', KEYS[1])} end
if ARGV[2] == '1' then
  redis.call('HINCRBY', KEYS[1], '*', 1)
  redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
  if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[5]) end
end
return {'', 0}
`;

type ScriptAnswer = [limited: '' | 'address' | 'pair', retryAfterMs: number];

/** How many limited callers a process remembers, to refuse them without a round trip. */
const REMEMBERED_MAX = 10_000;

/**
 * Limits failed attempts to authenticate, per client and address and per address, over a window that starts
 * with an address's first failure (ADR 0014). At `auth:{address:<hash>}:failed` in Redis, for windowMs.
 * No count is kept for a client alone: strangers could lock it out.
 */
export function createFailedAttempts(options: {
  redis: RedisConnection;
  limits: FailedAttemptLimits;
  onLimited: (limit: 'address' | 'pair') => void;
}): FailedAttempts {
  const { redis, limits, onLimited } = options;
  const settleAttempt = defineScript(redis, LUA);
  const limitedUntil = new LRUCache<string, number>({ max: REMEMBERED_MAX });

  const keyOf = (address: string) => `auth:{address:${shortHash(address)}}:failed`;

  function refuseKnown(clientId: string, address: string): void {
    if (limitedUntil.size === 0) return;
    for (const limit of ['address', 'pair'] as const) {
      const until = limitedUntil.get(limit === 'address' ? address : pairOf(clientId, address)) ?? 0;
      const restMs = until - Date.now();
      if (restMs <= 0) continue;
      onLimited(limit);
      throw tooManyRequests(restMs);
    }
  }

  /** The script's reading half as a plain command, of half its cost: all that nearly every right secret needs. */
  async function readBelowLimits(clientId: string, address: string): Promise<boolean> {
    const [all, pair] = await redisAnswer(redis.hmget(keyOf(address), '*', shortHash(clientId)));
    return Number(all) < limits.perAddress && Number(pair) < limits.perClientAndAddress;
  }

  /**
   * Right attempts of one pair in one turn of the event loop share a look at the counts: none of them is told
   * anything before it, and it is taken when all their secrets are checked (gather-writes.ts sends it at the end
   * of the turn). The next turn has a look of its own.
   */
  const looks = new Map<string, Promise<boolean>>();
  function isBelowLimits(clientId: string, address: string): Promise<boolean> {
    const pair = `${address} ${clientId}`;
    const begun = looks.get(pair);
    if (begun !== undefined) return begun;
    if (looks.size === 0) {
      setImmediate(() => {
        looks.clear();
      });
    }
    const look = readBelowLimits(clientId, address);
    looks.set(pair, look);
    return look;
  }

  return {
    refuseKnown,
    settle: async (clientId, address, failed) => {
      if (!failed && (await isBelowLimits(clientId, address))) return;
      const [limited, restMs] = (await settleAttempt(
        [keyOf(address)],
        [shortHash(clientId), failed ? 1 : 0, limits.perAddress, limits.perClientAndAddress, limits.windowMs],
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

/** Hashes that were worked out before: one attempt needs its own more than once, and most come again. */
const knownHashes = new Map<string, string>();
const KNOWN_HASHES_MAX = 10_000;

/** 128 bits: keys of one length, whatever a stranger sends as a client id. */
function shortHash(text: string): string {
  const known = knownHashes.get(text);
  if (known !== undefined) return known;
  const short = hash('sha256', text, 'base64url').slice(0, 22);
  // Cheaper than to find out which was used least: they are soon there again.
  if (knownHashes.size === KNOWN_HASHES_MAX) knownHashes.clear();
  knownHashes.set(text, short);
  return short;
}
