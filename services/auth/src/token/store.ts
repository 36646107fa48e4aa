import { z } from 'zod';
import { accessTokenHash } from '@tollgate/access-token';
import { REVOCATION_CHANNEL } from '@tollgate/contracts/revocation';
import type { Revocation } from '@tollgate/contracts/revocation';
import type { Redis } from '@tollgate/redis';
import { epochKey } from '../client/client-keys.ts';
import { redisAnswer } from '../redis-answer.ts';
import { LUA_DATA_SET, defineScript } from '../redis-script.ts';

/** What Redis holds of a token, as JSON. The token itself is nowhere stored. */
const tokenRecordSchema = z.object({
  client_id: z.string(),
  account_id: z.int(),
  application_id: z.int(),
  scope: z.string(),
  /** Seconds since the epoch, like `exp`. */
  iat: z.int(),
  exp: z.int(),
  /** The application's revocation epoch when the token was issued. */
  epoch: z.int(),
});

export type TokenRecord = z.infer<typeof tokenRecordSchema>;

/**
 * The token's record and whether its application's epoch is known for certain on this Redis. A token below any
 * epoch that was ever told is dead: its key is deleted. A record that can't be read is the caller's to refuse.
 */
const FIND = `${LUA_DATA_SET}
local json = redis.call('GET', KEYS[1])
if not json then return false end
local readable, record = pcall(cjson.decode, json)
if not readable or type(record) ~= 'table' or type(record.epoch) ~= 'number' then
  return {'verified', json}
end
local known = redis.call('HMGET', KEYS[2], 'epoch', 'verified_on')
if record.epoch < tonumber(known[1] or '0') then
  redis.call('DEL', KEYS[1])
  return false
end
return {known[2] == data_set and 'verified' or 'unverified', json}
`;

/** Told even where the key was gone already: a cache may still hold what Redis has lost. */
const REVOKE = `
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 1
`;

const findAnswer = z.tuple([z.enum(['verified', 'unverified']), z.string()]).nullable();

type StoredToken = {
  record: TokenRecord;
  /** False where this Redis may lack the application's last revocation: account must be asked. */
  verified: boolean;
};

/**
 * Access tokens in Redis, at `auth:{<application part>}:token:<SHA-256 of the token, base64url>` until `exp`.
 * Each call is one round trip, and throws service_unavailable where Redis can't be asked.
 */
export type TokenStore = {
  save: (token: string, applicationPart: string, record: TokenRecord) => Promise<void>;
  /** A token that hasn't expired and isn't known to be revoked, or null. */
  find: (token: string, applicationPart: string) => Promise<StoredToken | null>;
  /** Deletes a token and tells the subscribers; the same where there is none. */
  revoke: (token: string, applicationPart: string) => Promise<void>;
};

export function createTokenStore(redis: Pick<Redis, 'set' | 'defineCommand'>): TokenStore {
  const find = defineScript(redis, 'tollgateFindToken', FIND);
  const revoke = defineScript(redis, 'tollgateRevokeToken', REVOKE);
  return {
    save: async (token, applicationPart, record) => {
      await redisAnswer(
        redis.set(tokenKey(token, applicationPart), JSON.stringify(record), 'EXAT', record.exp),
      );
    },
    find: async (token, applicationPart) => {
      const keys = [tokenKey(token, applicationPart), epochKey(applicationPart)];
      const found = findAnswer.parse(await find(keys, []));
      if (found === null) return null;
      const [state, json] = found;
      const record = tokenRecordSchema.parse(JSON.parse(json));
      // Redis removes the key by its own clock, and a replica may be late with it.
      return record.exp * 1000 > Date.now() ? { record, verified: state === 'verified' } : null;
    },
    revoke: async (token, applicationPart) => {
      const revocation: Revocation = { kind: 'token', token_hash: accessTokenHash(token) };
      await revoke([tokenKey(token, applicationPart)], [REVOCATION_CHANNEL, JSON.stringify(revocation)]);
    },
  };
}

function tokenKey(token: string, applicationPart: string): string {
  return `auth:{${applicationPart}}:token:${accessTokenHash(token)}`;
}
