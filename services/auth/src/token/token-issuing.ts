import { accessTokenHash, applicationPart } from '@tollgate/access-token';
import type { RedisConnection } from '@tollgate/redis';
import { LUA_DATA_SET } from '@tollgate/redis/script';
import { tooManyRequests } from '../abuse/too-many-requests.ts';
import { clientKey, epochKey } from '../client/client-keys.ts';
import { redisAnswer } from '../redis-answer.ts';
import { LUA_CACHED_RECORD, LUA_LISTED, defineScript } from '../redis-script.ts';
import { tokenKey } from './store.ts';
import type { TokenRecord } from './token-record.ts';

/**
 * What a token request does in Redis, limited per client over all replicas at
 * `auth:{<application part>}:requests`. A client may ask for a whole minute's worth at once; then it gets them
 * as they accrue.
 */
export type TokenIssuing = {
  /**
   * Counts one request of an authenticated client that gets no token.
   * @throws {Problem} too_many_requests; service_unavailable where Redis can't be asked
   */
  count: (clientId: string) => Promise<void>;
  /**
   * Counts one request of an authenticated client and stores its token, in one round trip. `settled` is the
   * word of the limit on failed attempts (authenticator.ts), which may come at the same time: where it refuses,
   * nobody is told the token, and it is deleted.
   *
   * Of a client that was only remembered, `clientJson` is its record. Where Redis holds another one by now, or
   * none that may be used, nothing is done, and the answer is `changed`.
   * @throws {Problem} too_many_requests; service_unavailable where Redis can't be asked
   */
  issue: (
    token: string,
    record: TokenRecord,
    settled: Promise<void>,
    clientJson?: string,
  ) => Promise<'issued' | 'changed'>;
};

const MINUTE_US = 60_000_000;

/**
 * The generic cell rate algorithm: the first key holds the moment, in microseconds of Redis' clock, at which the
 * client's allowance is whole again. Answers 0, or how many microseconds are missing. Where nothing is missing,
 * the second key, if there is one, takes the token.
 *
 * Two more keys, if there are any, are the client's; it answers -1 where the record there isn't the expected one.
 * What is checked and what is stored are of one moment: a token of a client that has changed is never stored.
 */
const LUA = `
if KEYS[3] then
  ${LUA_DATA_SET}${LUA_LISTED}${LUA_CACHED_RECORD}
  if cached_record(3) ~= ARGV[5] then return -1 end
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local whole = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now) + tonumber(ARGV[1])
if whole - now > tonumber(ARGV[2]) then return math.ceil(whole - now - tonumber(ARGV[2])) end
if KEYS[2] then redis.call('SET', KEYS[2], ARGV[3], 'EXAT', ARGV[4]) end
redis.call('SET', KEYS[1], string.format('%.0f', whole), 'PX', math.ceil((whole - now) / 1000))
return 0
`;

export function createTokenIssuing(options: {
  redis: Pick<RedisConnection, 'defineCommand' | 'del'>;
  perMinute: number;
  onLimited: () => void;
}): TokenIssuing {
  const { redis, perMinute, onLimited } = options;
  const run = defineScript(redis, 'tollgateIssueToken', LUA);
  const costUs = (MINUTE_US / perMinute).toFixed(3);
  const requestsKey = (part: string) => `auth:{${part}}:requests`;

  async function runWithin(
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<'issued' | 'changed'> {
    const missingUs = Number(await run(keys, [costUs, MINUTE_US, ...args]));
    if (missingUs === 0) return 'issued';
    if (missingUs < 0) return 'changed';
    onLimited();
    throw tooManyRequests(missingUs / 1000);
  }

  /** Best effort: what stays behind where this fails is a token that nobody knows, until it expires. */
  async function withdraw(stored: Promise<unknown>, key: string): Promise<void> {
    try {
      await stored;
      await redisAnswer(redis.del(key));
    } catch {
      // It wasn't stored, or Redis is away.
    }
  }

  return {
    count: async (clientId) => {
      await runWithin([requestsKey(applicationPart(clientId))], []);
    },
    issue: async (token, record, settled, clientJson) => {
      const part = applicationPart(record.client_id);
      const key = tokenKey(accessTokenHash(token), part);
      const keys = [requestsKey(part), key];
      const args = [JSON.stringify(record), record.exp];
      if (clientJson !== undefined) {
        keys.push(clientKey(record.client_id), epochKey(part));
        args.push(clientJson);
      }
      const stored = runWithin(keys, args);
      try {
        // Both wait for Redis; a failure of the second must not be nobody's meanwhile.
        stored.catch(() => undefined);
        await settled;
      } catch (refusal) {
        void withdraw(stored, key);
        throw refusal;
      }
      return await stored;
    },
  };
}
