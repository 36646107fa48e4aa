import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { applicationPart } from '@tollgate/access-token';
import { clientRecordSchema } from '@tollgate/contracts/client-record';
import type { ClientRecord } from '@tollgate/contracts/client-record';
import { REVOCATION_CHANNEL } from '@tollgate/contracts/revocation';
import type { Revocation } from '@tollgate/contracts/revocation';
import { LUA_DATA_SET, defineScript } from '../redis-script.ts';
import type { ScriptableRedis } from '../redis-script.ts';
import { clientKey, epochKey } from './client-keys.ts';

/**
 * What Redis holds of a client: account's record (`…:client`), and a hash of its revocation epoch (`…:epoch`):
 *
 * - `epoch`: the greatest that auth has been told. A token below it is dead, whatever else is known.
 * - `verified_on`: the Redis data set on which Postgres was asked. Only on that one may `epoch` be the whole
 *   truth; elsewhere later writes may be missing.
 * - `generation`: drawn for those who ask account, and gone with each change and each loss of data. An answer
 *   may be noted only while the generation under which it was asked for is still there.
 */

/** Missing is unverified, never wrong: the hash may go, so that deleted applications leave nothing behind. */
const EPOCH_TTL_MS = 86_400_000;

/** Anybody can ask for a client that doesn't exist: what a look-up leaves behind when it fails goes soon. */
const LOOK_UP_TTL_MS = 120_000;

const READ = `${LUA_DATA_SET}
local known = redis.call('HMGET', KEYS[2], 'verified_on', 'generation')
if ARGV[2] == 'cached' and known[1] == data_set then
  local record = redis.call('GET', KEYS[1])
  if record then return {'cached', record} end
end
if ARGV[4] == 'known unknown' then return {'ask', ''} end
local generation = known[2]
if not generation or string.sub(generation, 1, #data_set) ~= data_set then
  generation = data_set .. ':' .. ARGV[1]
  redis.call('HSET', KEYS[2], 'generation', generation)
  if redis.call('PTTL', KEYS[2]) < 0 then redis.call('PEXPIRE', KEYS[2], ARGV[3]) end
end
return {'ask', generation}
`;

const LEARN = `${LUA_DATA_SET}
local known = redis.call('HMGET', KEYS[2], 'generation', 'epoch')
if known[1] ~= ARGV[1] or string.sub(ARGV[1], 1, #data_set) ~= data_set then return 'changed' end
if ARGV[3] == 'unknown' then
  if not known[2] then redis.call('DEL', KEYS[2]) end
  return 'learnt'
end
if tonumber(ARGV[3]) < tonumber(known[2] or '0') then return 'older' end
redis.call('HSET', KEYS[2], 'epoch', ARGV[3], 'verified_on', data_set)
redis.call('PEXPIRE', KEYS[2], ARGV[5])
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[4])
return 'learnt'
`;

/**
 * DEL comes first: a Redis that is full refuses a script's first write if that needs memory, and a revocation
 * must get through. PUBLISH comes last: whoever asks after hearing of it must meet the new epoch.
 */
const CHANGE = `
redis.call('DEL', KEYS[1])
local known = redis.call('HGET', KEYS[2], 'epoch')
if tonumber(ARGV[1]) > tonumber(known or '-1') then redis.call('HSET', KEYS[2], 'epoch', ARGV[1]) end
redis.call('HDEL', KEYS[2], 'generation')
redis.call('PEXPIRE', KEYS[2], ARGV[2])
redis.call('PUBLISH', ARGV[3], ARGV[4])
return 1
`;

const readAnswer = z.tuple([z.enum(['cached', 'ask']), z.string()]);
const learnAnswer = z.enum(['learnt', 'changed', 'older']);

export type ClientStore = {
  /**
   * The cached record, or the generation under which account is to be asked. None is drawn for a client that is
   * known to be unknown: it would leave a key behind.
   */
  read: (clientId: string, isUnknown: boolean) => Promise<{ record: ClientRecord } | { generation: string }>;
  /**
   * Notes what account has answered under a generation (of an unknown client, nothing), and with it the
   * verified epoch. `changed`: a change or a loss of data came between, ask again. `older`: auth knows a later
   * epoch than account.
   */
  learn: (
    clientId: string,
    generation: string,
    record: ClientRecord | null,
  ) => Promise<z.infer<typeof learnAnswer>>;
  /** The client has changed in account: raises the epoch, drops the record, tells the subscribers. */
  change: (clientId: string, revocationEpoch: number) => Promise<void>;
};

/** Each call is one round trip, and throws service_unavailable where Redis can't be asked. */
export function createClientStore(redis: ScriptableRedis, cacheTtlMs: number): ClientStore {
  const read = defineScript(redis, 'tollgateReadClient', READ);
  const learn = defineScript(redis, 'tollgateLearnClient', LEARN);
  const change = defineScript(redis, 'tollgateChangeClient', CHANGE);
  const keys = (clientId: string) => [clientKey(clientId), epochKey(applicationPart(clientId))];

  async function readWith(clientId: string, cache: 'cached' | 'anew', isUnknown: boolean) {
    const draw = isUnknown ? 'known unknown' : 'draw';
    return readAnswer.parse(await read(keys(clientId), [randomUUID(), cache, LOOK_UP_TTL_MS, draw]));
  }

  return {
    read: async (clientId, isUnknown) => {
      const [found, text] = await readWith(clientId, 'cached', isUnknown);
      if (found === 'ask') return { generation: text };
      const parsed = clientRecordSchema.safeParse(JSON.parse(text));
      if (parsed.success) return { record: parsed.data };
      // What another version of auth left behind in another shape counts as nothing.
      const [, generation] = await readWith(clientId, 'anew', false);
      return { generation };
    },
    learn: async (clientId, generation, record) => {
      const epoch = record === null ? 'unknown' : record.revocation_epoch;
      return learnAnswer.parse(
        await learn(keys(clientId), [generation, JSON.stringify(record), epoch, cacheTtlMs, EPOCH_TTL_MS]),
      );
    },
    change: async (clientId, revocationEpoch) => {
      const revocation: Revocation = { kind: 'client', client_id: clientId };
      await change(keys(clientId), [
        revocationEpoch,
        EPOCH_TTL_MS,
        REVOCATION_CHANNEL,
        JSON.stringify(revocation),
      ]);
    },
  };
}
