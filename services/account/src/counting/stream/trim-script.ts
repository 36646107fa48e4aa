import { usageTrimmedKey } from '@tollgate/contracts/usage-stream';
import { LUA_STREAM_ID_IS_AFTER, defineScript } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { nextStreamId } from './stream-id.ts';

/**
 * Removes the entries up to a position and stores the position under a second key (docs/design/settlement.md), which is
 * never lowered: a late reader must not hide what another one has removed.
 *
 * Does nothing after a rollback (docs/design/counting.md): Redis has lost the known position (ARGV[3]) or is trimmed
 * further than this position. Also if the stream's ids are behind the position, as new entries would go uncounted.
 *
 * XTRIM comes first: a Redis that is out of memory refuses a SET unless the script has written before.
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
 * `behind`: the newest id is before the position. `redis_set_back`: Redis has lost how far it was trimmed. `ahead`:
 * it is trimmed beyond the position, to `trimmed`.
 */
type TrimResult = { outcome: (typeof OUTCOMES)[number]; trimmed: string };

/** `known`: how far Redis is known to be trimmed. */
export type TrimStream = (
  stream: UsageStream,
  position: string,
  known: string | undefined,
) => Promise<TrimResult>;

export type UsageStream = { key: string; lane: number };

export function createTrimStream(redis: ScriptableRedis): TrimStream {
  const script = defineScript(redis, LUA);
  return async ({ key, lane }, position, known = '') => {
    const args = [position, nextStreamId(position), known];
    const [code, trimmed] = (await script([key, usageTrimmedKey(lane)], args)) as [number, string];
    const outcome = OUTCOMES[code];
    if (outcome === undefined) throw new Error('the trim script returned an unknown code');
    return { outcome, trimmed };
  };
}
