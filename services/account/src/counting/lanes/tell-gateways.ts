import {
  usageFenceKey,
  usageFloorKey,
  usageLanesKey,
  usageMovedKey,
  usageStreamKey,
} from '@tollgate/contracts/usage-stream';
import { LUA_STREAM_ID_IS_AFTER, defineScript } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';

/**
 * Tells all lanes at once how many there are: from then on, each takes usage of its own payers only. Before, it sets
 * down the last entry of each lane that there was. New streams continue after it, and after what account has counted of
 * them, so that ids of a payer's entries always grow; what is known of the former lane's data set holds for them.
 * Repeating it changes nothing. Its keys have several slots: a Redis Cluster begins with all lanes.
 * Returns the last entries of the lanes that there were.
 */
const LUA = `${LUA_STREAM_ID_IS_AFTER}
local lanes, before = tonumber(ARGV[1]), tonumber(ARGV[2])
local function keys_of(lane) return unpack(KEYS, 5 * lane + 1, 5 * lane + 5) end
local function last_id_of(stream)
  if redis.call('EXISTS', stream) == 0 then return '0-0' end
  local facts = redis.call('XINFO', 'STREAM', stream)
  for index = 1, #facts, 2 do
    if facts[index] == 'last-generated-id' then return facts[index + 1] end
  end
end
local last_ids = {}
local is_told = tonumber(redis.call('GET', KEYS[1]) or '0') >= lanes
for lane = 0, before - 1 do
  local _, stream, moved = keys_of(lane)
  last_ids[lane + 1] = is_told and redis.call('GET', moved) or last_id_of(stream)
end
if is_told then return last_ids end
for lane = 0, lanes - 1 do
  local lanes_key, stream, moved, floor, fence = keys_of(lane)
  redis.call('SET', lanes_key, ARGV[1])
  if lane < before then redis.call('SET', moved, last_ids[lane + 1])
  else
    local _, _, _, former_floor, former_fence = keys_of(lane % before)
    local last, counted = last_ids[lane % before + 1], ARGV[3 + lane - before]
    if is_after(counted, last) then last = counted end
    if is_after(last, last_id_of(stream)) then
      if redis.call('EXISTS', stream) == 0 then
        redis.call('XADD', stream, last, 'floor', '')
        redis.call('XDEL', stream, last)
      else redis.call('XSETID', stream, last) end
    end
    for former, own in pairs({ [former_floor] = floor, [former_fence] = fence }) do
      local value = redis.call('GET', former)
      if value then redis.call('SET', own, value) end
    end
  end
end
return last_ids
`;

/** `counted`: positions of the new streams. Resolves with the last entry of each lane that there was. */
export type TellGateways = (
  count: { lanes: number; before: number },
  counted: ReadonlyMap<string, string>,
) => Promise<Map<string, string>>;

export function createTellGateways(redis: ScriptableRedis): TellGateways {
  const tell = defineScript(redis, LUA);
  return async ({ lanes, before }, counted) => {
    const all = Array.from({ length: lanes }, (_, lane) => lane);
    const keys = all.flatMap((lane) => [
      usageLanesKey(lane),
      usageStreamKey(lane),
      usageMovedKey(lane),
      usageFloorKey(lane),
      usageFenceKey(lane),
    ]);
    const positions = all.slice(before).map((lane) => counted.get(usageStreamKey(lane)) ?? '0-0');
    const lastIds = (await tell(keys, [lanes, before, ...positions])) as string[];
    return new Map(lastIds.map((id, lane) => [usageStreamKey(lane), id]));
  };
}
