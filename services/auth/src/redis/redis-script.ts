import { defineScript as defineOn } from '@tollgate/redis/script';
import type { Script, ScriptableRedis } from '@tollgate/redis/script';
import { redisAnswer } from './redis-answer.ts';

/** After LUA_DATA_SET: whether the hash has all of the application's manual tokens (client-store.ts). */
export const LUA_LISTED = `
local function listed(generation, listed_under)
  return generation and generation == listed_under and string.sub(generation, 1, #data_set) == data_set
end
`;

/**
 * After LUA_DATA_SET and LUA_LISTED: the client's cached record, if it, the epoch and the manual tokens are current,
 * and the generation, which may be old. KEYS[client_key] is the record, KEYS[client_key + 1] the hash.
 */
export const LUA_CACHED_RECORD = `
local function cached_record(client_key)
  local known = redis.call('HMGET', KEYS[client_key + 1], 'verified_on', 'generation', 'listed_under')
  local usable = known[1] == data_set and listed(known[2], known[3])
  return usable and redis.call('GET', KEYS[client_key]), known[2]
end
`;

/** @throws {Problem} (the script's promise) service_unavailable */
export function defineScript(redis: ScriptableRedis, lua: string): Script {
  const script = defineOn(redis, lua);
  return (keys, args) => redisAnswer(script(keys, args));
}
