import { usageTrimmedKey } from '@tollgate/contracts/usage-stream';
import { LUA_STREAM_ID_IS_AFTER, defineScript } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { nextStreamId } from './stream-id.ts';

/**
 * Removes the entries up to a position and says so under a second key, at once for whoever looks (ADR 0008). The
 * second key is never lowered: a reader that comes late must not hide what another one has removed.
 *
 * A stream whose ids have fallen behind the position is left as it is: what a gateway has written there would go
 * uncounted. XTRIM is first because Redis, out of memory, refuses a script's SET unless the script has written
 * before, and trimming is what frees memory.
 */
const LUA = `${LUA_STREAM_ID_IS_AFTER}
local position = ARGV[1]
if redis.call('EXISTS', KEYS[1]) == 1 then
  local facts = redis.call('XINFO', 'STREAM', KEYS[1])
  for at = 1, #facts, 2 do
    if facts[at] == 'last-generated-id' and is_after(position, facts[at + 1]) then return 0 end
  end
end
redis.call('XTRIM', KEYS[1], 'MINID', ARGV[2])
local trimmed = redis.call('GET', KEYS[2])
if not trimmed or is_after(position, trimmed) then redis.call('SET', KEYS[2], position) end
return 1
`;

/** `behind` where the stream's newest id is before the position; nothing is removed then. */
type TrimResult = 'trimmed' | 'behind';

export type TrimStream = (stream: UsageStream, position: string) => Promise<TrimResult>;

/** A usage stream by its key and its shard. */
export type UsageStream = { key: string; shard: number };

/** Defines the script on a connection. Both keys of a shard share its Redis Cluster slot. */
export function createTrimStream(redis: ScriptableRedis): TrimStream {
  const script = defineScript(redis, LUA);
  return async ({ key, shard }, position) => {
    const done = await script([key, usageTrimmedKey(shard)], [position, nextStreamId(position)]);
    return done === 1 ? 'trimmed' : 'behind';
  };
}
