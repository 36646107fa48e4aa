import { z } from 'zod';
import { LUA_DATA_SET } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { defineScript } from '../redis/redis-script.ts';

/**
 * `done` has the data set into which all manual tokens were loaded, `lease` the replica that loads them; a loss of
 * data deletes both. In a Redis Cluster they cover one shard only: tokens of the others come back as they are used.
 */
const KEYS = ['auth:{restore}:done', 'auth:{restore}:lease'];

/** A replica that dies while loading blocks the others for that long. */
const LEASE_MS = 10_000;

const BEGIN = `${LUA_DATA_SET}
if redis.call('GET', KEYS[1]) == data_set then return {'done', data_set} end
if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then return {'begin', data_set} end
return {'wait', data_set}
`;

const RENEW = `${LUA_DATA_SET}
if redis.call('GET', KEYS[2]) ~= ARGV[1] or data_set ~= ARGV[2] then return 0 end
return redis.call('PEXPIRE', KEYS[2], ARGV[3])
`;

const FINISH = `${LUA_DATA_SET}
if redis.call('GET', KEYS[2]) ~= ARGV[1] or data_set ~= ARGV[2] then return 0 end
redis.call('DEL', KEYS[2])
redis.call('SET', KEYS[1], data_set)
return 1
`;

const beginAnswer = z.tuple([z.enum(['done', 'begin', 'wait']), z.string()]);

/** @throws {Problem} (each call) service_unavailable */
export type RestoreStore = {
  /** `begin`: the caller has the lease. `wait`: another replica has it. */
  begin: (owner: string) => Promise<{ state: 'done' | 'begin' | 'wait'; dataSet: string }>;
  /** False if the lease or the data set has changed, so that loaded tokens may be lost. */
  renew: (owner: string, dataSet: string) => Promise<boolean>;
  finish: (owner: string, dataSet: string) => Promise<boolean>;
};

export function createRestoreStore(redis: ScriptableRedis): RestoreStore {
  const begin = defineScript(redis, BEGIN);
  const renew = defineScript(redis, RENEW);
  const finish = defineScript(redis, FINISH);
  return {
    begin: async (owner) => {
      const [state, dataSet] = beginAnswer.parse(await begin(KEYS, [owner, LEASE_MS]));
      return { state, dataSet };
    },
    renew: async (owner, dataSet) => (await renew(KEYS, [owner, dataSet, LEASE_MS])) === 1,
    finish: async (owner, dataSet) => (await finish(KEYS, [owner, dataSet])) === 1,
  };
}
