import { z } from 'zod';
import { accessTokenHash } from '@tollgate/credentials/access-token';
import { REVOCATION_CHANNEL } from '@tollgate/contracts/revocation';
import type { Revocation } from '@tollgate/contracts/revocation';
import { LUA_DATA_SET } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { epochKey, manualTokenField, tokenKey } from '../client/client-keys.ts';
import { LUA_LISTED, defineScript } from '../redis/redis-script.ts';
import { tokenRecordSchema } from './token-record.ts';
import type { TokenRecord } from './token-record.ts';

/**
 * The token's record, how long it still lives by Redis' clock, where it is from, and whether that is certain on this Redis. A token that was issued has a
 * key of its own; one made by hand is in the hash that account's list was written to (client-store.ts). Without
 * either it is unknown, for certain only where that list is the last one. A token below any epoch that was ever
 * told is dead: its key is deleted. A record that can't be read is the caller's to refuse.
 */
const FIND = `${LUA_DATA_SET}${LUA_LISTED}
local json = redis.call('GET', KEYS[1])
local known = redis.call('HMGET', KEYS[2], 'epoch', 'verified_on', 'generation', 'listed_under', ARGV[1])
local origin = 'issued'
local certain = known[2] == data_set
if not json then
  json, origin, certain = known[5], 'manual', listed(known[3], known[4])
  if not json then return {certain and 'certain' or 'uncertain', 'nowhere', '', 0} end
end
local readable, record = pcall(cjson.decode, json)
if not readable or type(record) ~= 'table' or type(record.epoch) ~= 'number' or type(record.exp) ~= 'number' then
  return {'certain', origin, json, 0}
end
if record.epoch < tonumber(known[1] or '0') then
  redis.call('DEL', KEYS[1])
  return {'certain', 'nowhere', '', 0}
end
local time = redis.call('TIME')
local left_ms = (record.exp - tonumber(time[1])) * 1000 - math.floor(tonumber(time[2]) / 1000)
return {certain and 'certain' or 'uncertain', origin, json, left_ms}
`;

/**
 * A token without a key of its own may be one made by hand, and account's list of them may be on its way here: the
 * generation goes, so that a list from before is not noted. Told even where the key was gone already: a cache may
 * still hold what Redis has lost.
 */
const REVOKE = `
if redis.call('DEL', KEYS[1]) == 0 then redis.call('HDEL', KEYS[2], ARGV[3], 'generation') end
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 1
`;

const findAnswer = z.tuple([
  z.enum(['certain', 'uncertain']),
  z.enum(['issued', 'manual', 'nowhere']),
  z.string(),
  z.int(),
]);

/** A token's record, and how long it lives from now on. */
export type LiveRecord = TokenRecord & { expiresInMs: number };

type FoundToken = {
  /** Null where it is unknown, has expired or is known to be revoked. */
  record: LiveRecord | null;
  /** False where this Redis may lack the application's last change: account must be asked. */
  certain: boolean;
  /** Of a token made by hand, its hash. */
  manualTokenHash: string | null;
};

/**
 * Access tokens in Redis, at `auth:{<application part>}:token:<SHA-256 of the token, base64url>` until `exp`, and
 * those made by hand beside their application's epoch. Each call is one round trip, and throws
 * service_unavailable where Redis can't be asked.
 */
export type TokenStore = {
  find: (token: string, applicationPart: string) => Promise<FoundToken>;
  /** Deletes a token, issued or made by hand, and tells the subscribers; the same where there is none. */
  revoke: (token: string, applicationPart: string) => Promise<void>;
};

const EXPIRED: FoundToken = { record: null, certain: true, manualTokenHash: null };

export function createTokenStore(redis: ScriptableRedis): TokenStore {
  const find = defineScript(redis, FIND);
  const revoke = defineScript(redis, REVOKE);
  return {
    find: async (token, applicationPart) => {
      const hash = accessTokenHash(token);
      const keys = [tokenKey(hash, applicationPart), epochKey(applicationPart)];
      const [certainty, origin, json, leftMs] = findAnswer.parse(await find(keys, [manualTokenField(hash)]));
      const certain = certainty === 'certain';
      if (origin === 'nowhere') return { record: null, certain, manualTokenHash: null };
      const record = tokenRecordSchema.parse(JSON.parse(json));
      // Redis removes a key that has expired, and a replica may be late with it; it removes no field of a hash.
      if (leftMs <= 0) return EXPIRED;
      return {
        record: { ...record, expiresInMs: leftMs },
        certain,
        manualTokenHash: origin === 'manual' ? hash : null,
      };
    },
    revoke: async (token, applicationPart) => {
      const hash = accessTokenHash(token);
      const revocation: Revocation = { kind: 'token', token_hash: hash };
      const keys = [tokenKey(hash, applicationPart), epochKey(applicationPart)];
      await revoke(keys, [REVOCATION_CHANNEL, JSON.stringify(revocation), manualTokenField(hash)]);
    },
  };
}
