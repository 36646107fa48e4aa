import { usageTrimmedKey } from '@tollgate/contracts/usage-stream';
import { LUA_STREAM_ID_IS_AFTER, defineScript } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { nextStreamId } from './stream-id.ts';

/**
 * Removes the entries up to a position and says so under a second key, at once for whoever looks (ADR 0008). The
 * second key is never lowered: a reader that comes late must not hide what another one has removed.
 *
 * Nothing is done where one of the two stores has been set back (ADR 0041): Redis doesn't say what it was known to
 * say (ARGV[3]), or it says more than the position. Nor where the stream's ids have fallen behind the position: what
 * a gateway has written there would go uncounted.
 *
 * XTRIM is first because Redis, out of memory, refuses a script's SET unless the script has written before, and
 * trimming is what frees memory.
 */
const LUA = `${LUA_STREAM_ID_IS_AFTER}
local position, known = ARGV[1], ARGV[3]
local trimmed = redis.call('GET', KEYS[2])
if known ~= '' and (not trimmed or is_after(known, trimmed)) then return { 2, '' } end
if trimmed and is_after(trimmed, position) then return { 3, trimmed } end
if redis.call('EXISTS', KEYS[1]) == 1 then
  local facts = redis.call('XINFO', 'STREAM', KEYS[1])
  for at = 1, #facts, 2 do
    if facts[at] == 'last-generated-id' and is_after(position, facts[at + 1]) then return { 0, '' } end
  end
end
redis.call('XTRIM', KEYS[1], 'MINID', ARGV[2])
if trimmed ~= position then redis.call('SET', KEYS[2], position) end
return { 1, '' }
`;

const OUTCOMES = ['behind', 'trimmed', 'redis_set_back', 'ahead'] as const;

/**
 * `behind` where the stream's newest id is before the position, `redis_set_back` where Redis doesn't know any more
 * how far it was trimmed, `ahead` where it was trimmed beyond the position, up to `trimmed`. Nothing is removed then.
 */
type TrimResult = { outcome: (typeof OUTCOMES)[number]; trimmed: string };

/** `known` is how far Redis was known to be trimmed; undefined where that isn't known. */
export type TrimStream = (
  stream: UsageStream,
  position: string,
  known: string | undefined,
) => Promise<TrimResult>;

/** A usage stream by its key and its shard. */
export type UsageStream = { key: string; shard: number };

/** Defines the script on a connection. Both keys of a shard share its Redis Cluster slot. */
export function createTrimStream(redis: ScriptableRedis): TrimStream {
  const script = defineScript(redis, LUA);
  return async ({ key, shard }, position, known = '') => {
    const args = [position, nextStreamId(position), known];
    const [code, trimmed] = (await script([key, usageTrimmedKey(shard)], args)) as [number, string];
    const outcome = OUTCOMES[code];
    if (outcome === undefined) throw new Error('the trim script gave an unknown answer');
    return { outcome, trimmed };
  };
}
