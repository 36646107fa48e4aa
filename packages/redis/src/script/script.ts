import { createHash } from 'node:crypto';
import type { RedisConnection } from '../redis.ts';
import { ScriptCommand } from './script-command.ts';

export type ScriptableRedis = Pick<RedisConnection, 'sendCommand'>;

export type Script = (keys: readonly string[], args: readonly (string | number)[]) => Promise<unknown>;

/**
 * The data set of this Redis: a new id after every start and promotion, where later writes may be missing
 * (docs/design/revocation.md). A plain search, because a pattern costs half as much as INFO itself.
 */
export const LUA_DATA_SET = `
local replication = redis.call('INFO', 'replication')
local _, before_id = string.find(replication, 'master_replid:', 1, true)
local data_set = string.sub(replication, before_id + 1, before_id + 40)
`;

/** Later writes skip the append-only file, so that callers don't wait for its sync. For data that a restart may lose. */
export const LUA_NOT_TO_DISK = `
redis.set_repl(redis.REPL_REPLICA)
`;

/** Compares stream ids as decimal text, because Lua numbers don't hold 64 bits. */
export const LUA_STREAM_ID_IS_AFTER = `
local function larger(one, other) return #one > #other or (#one == #other and one > other) end
local function is_after(one, other)
  local one_ms, one_seq = string.match(one, '^(%d+)-(%d+)$')
  local other_ms, other_seq = string.match(other, '^(%d+)-(%d+)$')
  return larger(one_ms, other_ms) or (one_ms == other_ms and larger(one_seq, other_seq))
end
`;

/** EVALSHA, then EVAL. ioredis' defineCommand would double the cost of a command (docs/design/settlement.md). */
export function defineScript(redis: ScriptableRedis, lua: string): Script {
  const digest = createHash('sha1').update(lua).digest('hex');
  return async (keys, args) => {
    try {
      return await run(redis, 'evalsha', digest, keys, args);
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      return run(redis, 'eval', lua, keys, args);
    }
  };
}

/** EVAL, for a script that must not come behind commands that are sent after it. */
export function defineScriptInOrder(redis: ScriptableRedis, lua: string): Script {
  return (keys, args) => run(redis, 'eval', lua, keys, args);
}

async function run(
  redis: ScriptableRedis,
  name: 'evalsha' | 'eval',
  script: string,
  ...[keys, args]: Parameters<Script>
): Promise<unknown> {
  const command = new ScriptCommand(name, [script, keys.length, ...keys, ...args]);
  try {
    return await redis.sendCommand(command);
  } finally {
    command.clearTimeLimit();
  }
}

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
