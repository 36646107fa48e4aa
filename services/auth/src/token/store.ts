import { z } from 'zod';
import { accessTokenHash, applicationPart } from '@tollgate/credentials/access-token';
import { CLIENT_CHANGE_CHANNEL } from '@tollgate/contracts/client-change';
import type { ClientChange } from '@tollgate/contracts/client-change';
import type { ClientRecord } from '@tollgate/contracts/client-record';
import { batchCalls } from '@tollgate/redis/batch-calls';
import { onBatchEnd } from '@tollgate/redis/batch-writes';
import { LUA_DATA_SET } from '@tollgate/redis/script';
import type { Script, ScriptableRedis } from '@tollgate/redis/script';
import { epochKey, manualTokenField, tokenKey } from '../redis/keys.ts';
import { LUA_LISTED, defineScript } from '../redis/redis-script.ts';
import { tokenRecordSchema } from '../redis/token-record.ts';
import type { TokenRecord } from '../redis/token-record.ts';

/**
 * Finds tokens of one application. Returns for each whether the answer is certain on this Redis, the token's origin,
 * record and remaining life by Redis' clock. An issued token has its own key, a manual one is in the hash of account's
 * list (client-store.ts); a token in neither is certainly unknown only if that list is current. A token below the epoch
 * is dead, and its key is deleted.
 */
const FIND = `${LUA_DATA_SET}${LUA_LISTED}
local known = redis.call('HMGET', KEYS[1], 'epoch', 'verified_on', 'generation', 'listed_under', unpack(ARGV))
local epoch, is_verified, is_listed = tonumber(known[1] or '0'), known[2] == data_set, listed(known[3], known[4])
local time = redis.call('TIME')
local function find(key, listed_json)
  local json, origin, certain = redis.call('GET', key), 'issued', is_verified
  if not json then
    json, origin, certain = listed_json, 'manual', is_listed
    if not json then return {certain and 'certain' or 'uncertain', 'nowhere', '', 0} end
  end
  local readable, record = pcall(cjson.decode, json)
  if not readable or type(record) ~= 'table' or type(record.epoch) ~= 'number' or type(record.exp) ~= 'number' then
    return {'certain', origin, json, 0}
  end
  if record.epoch < epoch then
    redis.call('DEL', key)
    return {'certain', 'nowhere', '', 0}
  end
  local left_ms = (record.exp - tonumber(time[1])) * 1000 - math.floor(tonumber(time[2]) / 1000)
  return {certain and 'certain' or 'uncertain', origin, json, left_ms}
end
local answers = {}
for index = 1, #ARGV do answers[index] = find(KEYS[1 + index], known[4 + index]) end
return answers
`;

/**
 * Without a key it may be a manual token, so the generation is dropped: account's list on its way here would bring
 * it back. Published in any case, because a cache may still have what Redis has lost.
 */
const REVOKE = `
if redis.call('DEL', KEYS[1]) == 0 then redis.call('HDEL', KEYS[2], ARGV[3], 'generation') end
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 1
`;

const findAnswers = z.array(z.unknown());

const findAnswer = z.tuple([
  z.enum(['certain', 'uncertain']),
  z.enum(['issued', 'manual', 'nowhere']),
  z.string(),
  z.int(),
]);

export type LiveRecord = Readonly<TokenRecord & { expiresInMs: number }>;

type FoundToken = Readonly<{
  record: LiveRecord | null;
  /** False if this Redis may lack the application's last change. */
  certain: boolean;
  manualTokenHash: string | null;
}>;

/** Issued and manual tokens in Redis. @throws {Problem} (each call) service_unavailable */
export type TokenStore = {
  find: (token: string, applicationPart: string) => Promise<FoundToken>;
  /** Deletes and publishes it, whether it exists or not. */
  revoke: (token: string, client: Pick<ClientRecord, 'client_id' | 'revocation_epoch'>) => Promise<void>;
};

const EXPIRED: FoundToken = { record: null, certain: true, manualTokenHash: null };

/** @throws {z.ZodError | SyntaxError} if the record isn't one of ours */
function foundToken(answer: unknown, hash: string): FoundToken {
  const [certainty, origin, json, leftMs] = findAnswer.parse(answer);
  const certain = certainty === 'certain';
  if (origin === 'nowhere') return { record: null, certain, manualTokenHash: null };
  const record = tokenRecordSchema.parse(JSON.parse(json));
  // A replica may be late to delete an expired key, and fields of a hash don't expire.
  if (leftMs <= 0) return EXPIRED;
  return {
    record: { ...record, expiresInMs: leftMs },
    certain,
    manualTokenHash: origin === 'manual' ? hash : null,
  };
}

/**
 * In one turn of the event loop, introspections of one application's tokens share a script call, and those of one
 * token what it found (docs/design/tokens.md).
 */
function createFind(script: Script): TokenStore['find'] {
  const find = batchCalls(async (applicationPart: string, hashes: readonly string[]) => {
    const keys = [epochKey(applicationPart), ...hashes.map((hash) => tokenKey(hash, applicationPart))];
    return findAnswers.parse(await script(keys, hashes.map(manualTokenField)));
  });
  const asked = new Map<string, Promise<FoundToken>>();

  async function ask(token: string, applicationPart: string): Promise<FoundToken> {
    const hash = accessTokenHash(token);
    return foundToken(await find(applicationPart, hash), hash);
  }

  return (token, applicationPart) => {
    const shared = asked.get(token);
    if (shared !== undefined) return shared;
    if (asked.size === 0) {
      // The script call leaves then, and its answer is too old for those who ask later.
      onBatchEnd(() => {
        asked.clear();
      });
    }
    const found = ask(token, applicationPart);
    asked.set(token, found);
    return found;
  };
}

export function createTokenStore(redis: ScriptableRedis): TokenStore {
  const revoke = defineScript(redis, REVOKE);
  return {
    find: createFind(defineScript(redis, FIND)),
    revoke: async (token, { client_id, revocation_epoch }) => {
      const hash = accessTokenHash(token);
      const part = applicationPart(client_id);
      const common = { client_id, revocation_epoch, source: 'auth' as const };
      const change: ClientChange = { change: 'token', token_hash: hash, ...common };
      await revoke(
        [tokenKey(hash, part), epochKey(part)],
        [CLIENT_CHANGE_CHANNEL, JSON.stringify(change), manualTokenField(hash)],
      );
    },
  };
}
