import { usageShard, usageStreamKey } from '@tollgate/contracts/usage-stream';
import { defineScript } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { FIRST_STREAM_ID, nextStreamId, streamIdMs } from '../counting/stream/stream-id.ts';
import { findPosition } from '../counting/stream/positions.ts';
import type { Query } from '../platform/database/query.ts';

/** Until which instant of Redis' clock (Unix time in ms, exclusive) all usage of an account is counted. */
export type CountedUntil = (accountId: number) => Promise<number>;

/** The clock and the first entry from an ID on, both of one moment. */
const LUA = `
local time = redis.call('TIME')
local first = redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', 1)[1]
return { time[1] * 1000 + math.floor(time[2] / 1000), first and first[1] or '' }
`;

/**
 * Asks once for each stream. Nothing is locked: the position is read first, so what Redis lacks after it was counted
 * and trimmed meanwhile.
 */
export function createCountedUntil(query: Query, redis: ScriptableRedis): CountedUntil {
  const script = defineScript(redis, LUA);
  const known = new Map<number, Promise<number>>();

  async function ask(shard: number): Promise<number> {
    const stream = usageStreamKey(shard);
    const position = (await findPosition(query, stream)) ?? FIRST_STREAM_ID;
    const [nowMs, uncounted] = (await script([stream], [nextStreamId(position)])) as [number, string];
    return uncounted === '' ? nowMs : Math.min(nowMs, streamIdMs(uncounted));
  }

  return (accountId) => {
    const shard = usageShard(accountId);
    const asked = known.get(shard) ?? ask(shard);
    known.set(shard, asked);
    return asked;
  };
}
