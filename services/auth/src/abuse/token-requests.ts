import { applicationPart } from '@tollgate/access-token';
import type { Redis } from '@tollgate/redis';
import { redisAnswer } from '../redis-answer.ts';
import { tooManyRequests } from './too-many-requests.ts';

/**
 * Counts one token request of an authenticated client.
 * @throws {Problem} too_many_requests; service_unavailable where Redis can't be asked
 */
export type CountTokenRequest = (clientId: string) => Promise<void>;

const MINUTE_US = 60_000_000;

/**
 * The generic cell rate algorithm: the key holds the moment, in microseconds of Redis' clock, at which the
 * client's allowance is whole again. Answers 0, or how many microseconds are missing.
 */
const LUA = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local whole = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now) + tonumber(ARGV[1])
if whole - now > tonumber(ARGV[2]) then return math.ceil(whole - now - tonumber(ARGV[2])) end
redis.call('SET', KEYS[1], string.format('%.0f', whole), 'PX', math.ceil((whole - now) / 1000))
return 0
`;

type Script = { tollgateTokenRequest: (key: string, costUs: string, spanUs: number) => Promise<number> };

/**
 * Limits each client's token requests over all replicas, at `auth:{<application part>}:requests` in Redis.
 * A client may ask for a whole minute's worth at once; then it gets them as they accrue.
 */
export function createTokenRequestLimit(options: {
  redis: Redis;
  perMinute: number;
  onLimited: () => void;
}): CountTokenRequest {
  const { redis, perMinute, onLimited } = options;
  redis.defineCommand('tollgateTokenRequest', { numberOfKeys: 1, lua: LUA });
  // defineCommand adds the method at run time, where the type can't see it.
  const { tollgateTokenRequest } = redis as unknown as Script;
  const costUs = (MINUTE_US / perMinute).toFixed(3);
  return async (clientId) => {
    const key = `auth:{${applicationPart(clientId)}}:requests`;
    const missingUs = await redisAnswer(tollgateTokenRequest.call(redis, key, costUs, MINUTE_US));
    if (missingUs === 0) return;
    onLimited();
    throw tooManyRequests(missingUs / 1000);
  };
}
