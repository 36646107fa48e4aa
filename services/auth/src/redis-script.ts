import type { Redis } from '@tollgate/redis';
import { redisAnswer } from './redis-answer.ts';

export type Script = (keys: readonly string[], args: readonly (string | number)[]) => Promise<unknown>;

type Command = (this: unknown, ...args: (string | number)[]) => Promise<unknown>;

/** A connection that scripts can be defined on. */
export type ScriptableRedis = Pick<Redis, 'defineCommand'>;

/**
 * For a script: which data set this Redis serves. Redis draws a new id at every start and at every promotion of
 * a replica, so nothing that was noted under another one needs to be the last that was written (ADR 0013).
 */
export const LUA_DATA_SET = `
local data_set = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
`;

/**
 * Defines a Lua script on a connection. A call is one round trip (EVALSHA), two where Redis meets the script for
 * the first time. All keys of a call must share one hash tag.
 *
 * @throws {Problem} (the script's promise) service_unavailable
 */
export function defineScript(redis: ScriptableRedis, name: string, lua: string): Script {
  redis.defineCommand(name, { lua });
  // defineCommand adds the method at run time, where the type can't see it.
  const command = (redis as unknown as Record<string, Command>)[name];
  if (command === undefined) throw new Error(`the script ${name} isn't defined`);
  return (keys, args) => redisAnswer(command.call(redis, keys.length, ...keys, ...args));
}
