import { z } from 'zod';
import { LUA_DATA_SET } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { defineScript } from '../redis/redis-script.ts';

/**
 * Which auth loads the tokens made by hand into a Redis that has lost its data, and whether that is done. `done`
 * holds the data set that was loaded, `lease` the one who loads now; a loss takes both with it. Of a Redis Cluster
 * they tell of one shard only: what another one loses comes back token by token, as it is used.
 */
const KEYS = ['auth:{restore}:done', 'auth:{restore}:lease'];

/** For so long an auth that dies while it loads keeps the others from it. */
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

/** Each call is one round trip, and throws service_unavailable where Redis can't be asked. */
export type RestoreStore = {
  /** `begin`: the caller has the lease and loads, on the data set that is named. `wait`: another one does. */
  begin: (owner: string) => Promise<{ turn: 'done' | 'begin' | 'wait'; dataSet: string }>;
  /** False where the lease or the data set has gone: what was loaded may be gone, too. */
  renew: (owner: string, dataSet: string) => Promise<boolean>;
  finish: (owner: string, dataSet: string) => Promise<boolean>;
};

export function createRestoreStore(redis: ScriptableRedis): RestoreStore {
  const begin = defineScript(redis, BEGIN);
  const renew = defineScript(redis, RENEW);
  const finish = defineScript(redis, FINISH);
  return {
    begin: async (owner) => {
      const [turn, dataSet] = beginAnswer.parse(await begin(KEYS, [owner, LEASE_MS]));
      return { turn, dataSet };
    },
    renew: async (owner, dataSet) => (await renew(KEYS, [owner, dataSet, LEASE_MS])) === 1,
    finish: async (owner, dataSet) => (await finish(KEYS, [owner, dataSet])) === 1,
  };
}
