import { createHash } from 'node:crypto';
import type { RedisConnection } from '../redis.ts';
import { ScriptCommand } from './script-command.ts';

/** A connection that scripts can be run on. */
export type ScriptableRedis = Pick<RedisConnection, 'sendCommand'>;

export type Script = (keys: readonly string[], args: readonly (string | number)[]) => Promise<unknown>;

/**
 * For a script: which data set this Redis serves. Redis draws a new id at every start and at every promotion of
 * a replica, so nothing that was noted under another one needs to be the last that was written (ADR 0013). Found
 * as plain text: to match a pattern against all of the answer costs half as much again as the answer.
 */
export const LUA_DATA_SET = `
local replication = redis.call('INFO', 'replication')
local _, before_id = string.find(replication, 'master_replid:', 1, true)
local data_set = string.sub(replication, before_id + 1, before_id + 40)
`;

/**
 * For a script: what it writes from here on goes to the replicas, but not to the append-only file. Where that is
 * all that a turn of Redis has written, nobody waits for a sync of its disk. For what a restart may forget.
 */
export const LUA_NOT_TO_DISK = `
redis.set_repl(redis.REPL_REPLICA)
`;

/**
 * For a script: whether one stream id is after another. Ids are pairs of unsigned 64 bit numbers, which a Lua
 * number can't hold: compared as decimal text.
 */
export const LUA_STREAM_ID_IS_AFTER = `
local function larger(one, other) return #one > #other or (#one == #other and one > other) end
local function is_after(one, other)
  local one_ms, one_seq = string.match(one, '^(%d+)-(%d+)$')
  local other_ms, other_seq = string.match(other, '^(%d+)-(%d+)$')
  return larger(one_ms, other_ms) or (one_ms == other_ms and larger(one_seq, other_seq))
end
`;

/**
 * Defines a Lua script on a connection. A call is one round trip (EVALSHA), two where this Redis hasn't met the
 * script yet: then nothing was carried out, and it goes again with its text. All keys of a call must share one hash
 * tag. Not by ioredis' defineCommand, whose wrappers and time limit cost as much as the rest of a command (ADR 0033).
 */
export function defineScript(redis: ScriptableRedis, lua: string): Script {
  const digest = createHash('sha1').update(lua).digest('hex');
  const run = async (name: 'evalsha' | 'eval', script: string, ...[keys, args]: Parameters<Script>) => {
    const command = new ScriptCommand(name, [script, keys.length, ...keys, ...args]);
    try {
      return await redis.sendCommand(command);
    } finally {
      command.clearTimeLimit();
    }
  };
  return async (keys, args) => {
    try {
      return await run('evalsha', digest, keys, args);
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      return run('eval', lua, keys, args);
    }
  };
}

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
