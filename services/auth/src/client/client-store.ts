import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { applicationPart } from '@tollgate/credentials/access-token';
import { clientRecordSchema } from '@tollgate/contracts/client-record';
import type { ClientAnswer, ClientRecord } from '@tollgate/contracts/client-record';
import { CLIENT_CHANGE_CHANNEL } from '@tollgate/contracts/client-change';
import type { ClientChange } from '@tollgate/contracts/client-change';
import { DATA_SCOPE } from '@tollgate/contracts/resource-servers';
import { LUA_DATA_SET } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { redisAnswer } from '../redis/redis-answer.ts';
import { LUA_CACHED_RECORD, LUA_LISTED, defineScript } from '../redis/redis-script.ts';
import type { TokenRecord } from '../redis/token-record.ts';
import { clientKey, epochKey, issuedTokensKey, manualTokenField, tokenKey } from '../redis/keys.ts';

/**
 * What Redis holds of a client: account's record (`…:client`), and a hash of its revocation epoch and its
 * manual tokens (`…:epoch`):
 *
 * - `epoch`: the greatest that auth has been told. A token below it is dead, whatever else is known.
 * - `verified_on`: the Redis data set on which Postgres was asked, and from which the tokens that were revoked one
 *   by one have been deleted. Only on that one may `epoch` be the whole truth; elsewhere later writes may be missing.
 * - `generation`: drawn for those who ask account, and gone with each change and each loss of data. An answer
 *   may be noted only while the generation under which it was asked for is still there.
 * - `token:<hash>`, one for each manual token that is live in account, and `listed_under`, the generation
 *   under which they were noted. Only while that is the current one are they all that there are; a change ends it
 *   with the generation. One key holds them together with what they depend on, so that nothing that Redis can lose
 *   of it (by time, eviction, or a DEL by hand) leaves a list that seems whole and isn't.
 *
 * What a look-up gets, from the record and the fields of the hash:
 *
 * | the hash                                     | record  | client (READ)         | manual token (FIND)    | issued token (FIND) |
 * | -------------------------------------------- | ------- | --------------------- | ---------------------- | ------------------- |
 * | verified, listed under its generation        | there   | the record            | certain                | certain             |
 * | verified, listed under its generation        | expired | ask account, verified | certain                | certain             |
 * | verified, its generation gone with a change  | any     | ask account, verified | uncertain: ask account | certain             |
 * | verified on an earlier data set              | any     | ask account           | uncertain              | uncertain           |
 * | none, as before the first look-up            | any     | ask account           | uncertain              | uncertain           |
 *
 * "Ask account" draws a generation unless there is one of this data set; LEARN notes the answer only under it. A token
 * below `epoch` is dead in every row.
 */

/** The hash may expire: without it a client is unverified, never wrong. */
const EPOCH_TTL_MS = 86_400_000;

/** Look-ups of invented clients leave a key behind, which expires soon. */
const LOOK_UP_TTL_MS = 120_000;

/** Some 2 kB each. */
const REMEMBERED_RECORDS_MAX = 1_000;

const READ = `${LUA_DATA_SET}${LUA_LISTED}${LUA_CACHED_RECORD}
local record, generation = cached_record(1)
if ARGV[2] == 'cached' and record then return {'cached', record, ''} end
local verified = redis.call('HGET', KEYS[2], 'verified_on') == data_set and 'verified' or 'unverified'
if not generation or string.sub(generation, 1, #data_set) ~= data_set then
  generation = data_set .. ':' .. ARGV[1]
  redis.call('HSET', KEYS[2], 'generation', generation)
  if redis.call('PTTL', KEYS[2]) < 0 then redis.call('PEXPIRE', KEYS[2], ARGV[3]) end
end
return {'ask', generation, verified}
`;

const PEEK = `${LUA_DATA_SET}${LUA_LISTED}${LUA_CACHED_RECORD}
return { cached_record(1) or false, redis.call('HEXISTS', KEYS[2], 'verified_on') }
`;

const LEARN = `${LUA_DATA_SET}
local known = redis.call('HMGET', KEYS[2], 'generation', 'epoch')
if known[1] ~= ARGV[1] or string.sub(ARGV[1], 1, #data_set) ~= data_set then return {'changed', ''} end
if ARGV[3] == 'unknown' then
  if not known[2] then redis.call('DEL', KEYS[2]) end
  return {'learnt', ''}
end
if tonumber(ARGV[3]) < tonumber(known[2] or '0') then return {'older', known[2]} end
redis.call('DEL', KEYS[2])
redis.call('HSET', KEYS[2], 'epoch', ARGV[3], 'verified_on', data_set,
  'generation', ARGV[1], 'listed_under', ARGV[1])
for at = 6, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 1]) end
redis.call('PEXPIRE', KEYS[2], ARGV[5])
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[4])
return {'learnt', ''}
`;

/**
 * DEL comes first: a full Redis refuses a script whose first write needs memory, and a revocation must get through.
 * PUBLISH comes last: a request after the message must meet the new epoch.
 */
const CHANGE = `
redis.call('DEL', KEYS[1])
local known = redis.call('HGET', KEYS[2], 'epoch')
if tonumber(ARGV[2]) > tonumber(known or '-1') then redis.call('HSET', KEYS[2], 'epoch', ARGV[2]) end
redis.call('HDEL', KEYS[2], 'generation')
redis.call('PEXPIRE', KEYS[2], ARGV[3])
redis.call('PUBLISH', ARGV[4], ARGV[5])
`;

/**
 * Frees the memory of issued tokens below the epoch, oldest first, so many that Redis is held up for about a
 * millisecond. Returns whether there may be more. Epochs don't fall along the list, so it ends at a living token; one that
 * has expired tells nothing.
 */
const FREE_DEAD = `
local epoch = tonumber(redis.call('HGET', KEYS[2], 'epoch') or '0')
for _ = 1, 500 do
  local hash = redis.call('LINDEX', KEYS[3], 0)
  if not hash then return 0 end
  local json = redis.call('GET', ARGV[1] .. hash)
  if json then
    local of = tonumber(string.match(json, '"epoch":(%d+)') or '-1')
    if of >= epoch then return 0 end
    redis.call('DEL', ARGV[1] .. hash)
  end
  redis.call('LPOP', KEYS[3])
end
return 1
`;

const readAnswer = z.tuple([z.enum(['cached', 'ask']), z.string(), z.enum(['', 'verified', 'unverified'])]);
const peekAnswer = z.tuple([z.string().nullable(), z.union([z.literal(0), z.literal(1)])]);
const learnAnswer = z.tuple([z.enum(['learnt', 'changed', 'older']), z.coerce.number()]);

/** `changed`: a change or a loss of data came between, so ask again. `older`: auth knows this later epoch. */
export type Noted = { noted: 'learnt' | 'changed' } | { noted: 'older'; knownEpoch: number };

/** `verified`: this Redis has lost nothing since account was asked last, so it holds no token revoked by itself. */
export type LookUp = { generation: string; verified: boolean };

/** Valid only if a script still finds this JSON in Redis. */
export type RememberedClient = { record: ClientRecord; json: string };

export type ClientStore = {
  /** The cached record, or a generation for asking account, which leaves a key behind. */
  read: (clientId: string) => Promise<{ record: ClientRecord } | LookUp>;
  /** The cached record, if any, and whether account has known the client within a day. Leaves no key behind. */
  peek: (clientId: string) => Promise<{ record: ClientRecord | null; wasKnown: boolean }>;
  /** From this process' memory, without a round trip. */
  remembered: (clientId: string) => RememberedClient | null;
  deleteTokens: (clientId: string, tokenHashes: readonly string[]) => Promise<void>;
  /** Stores account's answer, if its generation is still there: record, verified epoch, manual tokens. */
  learn: (clientId: string, generation: string, answer: ClientAnswer | null) => Promise<Noted>;
  /** Raises the epoch, drops the record, publishes the change as auth's, and deletes the tokens that it ends. */
  change: (change: ClientChange) => Promise<void>;
};

/** Each call is one round trip, and throws service_unavailable if Redis is unavailable. */
export function createClientStore(
  redis: ScriptableRedis & { del: (keys: string[]) => Promise<number> },
  cacheTtlMs: number,
): ClientStore {
  const read = defineScript(redis, READ);
  const peek = defineScript(redis, PEEK);
  const learn = defineScript(redis, LEARN);
  const change = defineScript(redis, CHANGE + FREE_DEAD);
  const freeDead = defineScript(redis, FREE_DEAD);
  const remembered = new LRUCache<string, RememberedClient>({ max: REMEMBERED_RECORDS_MAX });
  const keys = (clientId: string) => [clientKey(clientId), epochKey(applicationPart(clientId))];

  function recordFrom(clientId: string, json: string): ClientRecord | null {
    const known = remembered.get(clientId);
    if (known?.json === json) return known.record;
    const parsed = clientRecordSchema.safeParse(JSON.parse(json));
    if (!parsed.success) return null;
    remembered.set(clientId, { record: parsed.data, json });
    return parsed.data;
  }

  async function readWith(clientId: string, cache: 'cached' | 'anew') {
    return readAnswer.parse(await read(keys(clientId), [randomUUID(), cache, LOOK_UP_TTL_MS]));
  }

  return {
    read: async (clientId) => {
      const [found, text, verified] = await readWith(clientId, 'cached');
      if (found === 'ask') {
        remembered.delete(clientId);
        return { generation: text, verified: verified === 'verified' };
      }
      const record = recordFrom(clientId, text);
      if (record !== null) return { record };
      // A record of another version's shape is ignored.
      const [, generation, known] = await readWith(clientId, 'anew');
      return { generation, verified: known === 'verified' };
    },
    peek: async (clientId) => {
      const [json, wasKnown] = peekAnswer.parse(await peek(keys(clientId), []));
      return { record: json === null ? null : recordFrom(clientId, json), wasKnown: wasKnown === 1 };
    },
    remembered: (clientId) => remembered.get(clientId) ?? null,
    deleteTokens: async (clientId, tokenHashes) => {
      if (tokenHashes.length === 0) return;
      const part = applicationPart(clientId);
      await redisAnswer(redis.del(tokenHashes.map((hash) => tokenKey(hash, part))));
    },
    learn: async (clientId, generation, answer) => {
      const record = answer === null ? null : clientRecordSchema.parse(answer);
      const json = JSON.stringify(record);
      const epoch = answer === null ? 'unknown' : answer.revocation_epoch;
      const tokens = answer === null ? [] : manualTokenFields(answer);
      const args = [generation, json, epoch, cacheTtlMs, EPOCH_TTL_MS, ...tokens];
      const [noted, knownEpoch] = learnAnswer.parse(await learn(keys(clientId), args));
      if (record !== null && noted === 'learnt') remembered.set(clientId, { record, json });
      return noted === 'older' ? { noted, knownEpoch } : { noted };
    },
    change: async (changed) => {
      const message: ClientChange = { ...changed, source: 'auth' };
      const part = applicationPart(changed.client_id);
      const keysOfTokens = [...keys(changed.client_id), issuedTokensKey(part)];
      const prefix = tokenKey('', part);
      const args = [prefix, changed.revocation_epoch, EPOCH_TTL_MS, CLIENT_CHANGE_CHANNEL];
      let isRest = await change(keysOfTokens, [...args, JSON.stringify(message)]);
      // account repeats what isn't acknowledged, so a crash leaves nothing behind.
      while (isRest === 1) isRest = await freeDead(keysOfTokens, [prefix]);
    },
  };
}

function manualTokenFields({ client_id, account_id, application_id, manual_tokens }: ClientAnswer): string[] {
  // It registered itself, and no one issues tokens for it.
  if (account_id === null) return [];
  return manual_tokens.flatMap(({ token_hash, iat, exp, epoch }) => {
    const record: TokenRecord = { client_id, account_id, application_id, scope: DATA_SCOPE, iat, exp, epoch };
    return [manualTokenField(token_hash), JSON.stringify(record)];
  });
}
