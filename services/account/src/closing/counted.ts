import { usageStreamKey, usageTrimmedKey } from '@tollgate/contracts/usage-stream';
import { defineScript } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { isImplausible } from '../counting/gaps/rollback-repair.ts';
import { FIRST_STREAM_ID, compareStreamIds, nextStreamId, streamIdMs } from '../counting/stream/stream-id.ts';
import type { Query } from '../platform/database/query.ts';
import { findLaneCount, lanesOfPayer } from '../platform/usage-lanes.ts';
import type { LaneCount } from '../platform/usage-lanes.ts';

/** Until which instant of Redis' clock (Unix time in ms, exclusive) all usage of an account is counted. */
export type CountedUntil = (accountId: number) => Promise<number>;

/** The clock, the first entry from an ID on, and the entry up to which the stream is trimmed, all of one moment. */
const LUA = `
local time = redis.call('TIME')
local first = redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', 1)[1]
return { time[1] * 1000 + math.floor(time[2] / 1000), first and first[1] or '', redis.call('GET', KEYS[2]) or '' }
`;

/** After a restore of Postgres. */
export const UNKNOWN = 0;

/**
 * Asks once for each stream. Nothing is locked: the position is read first, so what Redis lacks after it was counted
 * and trimmed meanwhile. A stream that is trimmed beyond a position that stays was counted before Postgres was restored
 * from a backup. From then on until that is repaired nothing is known (docs/design/credits.md).
 * What is known of a stream holds for the payers that had their usage in it. So if there are more lanes after a question
 * than before it, it is asked again.
 */
export function createCountedUntil(query: Query, redis: ScriptableRedis): CountedUntil {
  const script = defineScript(redis, LUA);
  const known = new Map<number, Promise<number | undefined>>();
  let count: Promise<LaneCount> | undefined;

  async function askUnlessGrown(lane: number, before: LaneCount): Promise<number | undefined> {
    const until = await ask(lane);
    const after = await findLaneCount(query);
    return after.lanes === before.lanes ? until : undefined;
  }

  async function ask(lane: number): Promise<number> {
    const stream = usageStreamKey(lane);
    for (let before: string | undefined; ;) {
      const position = await findCountedPosition(query, stream);
      if (position === undefined || position === before) return UNKNOWN;
      const answer = await script([stream, usageTrimmedKey(lane)], [nextStreamId(position)]);
      const [nowMs, uncounted, trimmed] = answer as [number, string, string];
      if (trimmed === '' || isImplausible(trimmed) || compareStreamIds(trimmed, position) <= 0) {
        return uncounted === '' ? nowMs : Math.min(nowMs, streamIdMs(uncounted));
      }
      before = position;
    }
  }

  return async (accountId) => {
    for (;;) {
      const found = await (count ??= findLaneCount(query));
      const asked = lanesOfPayer(found, accountId).map((lane) => {
        const until = known.get(lane) ?? askUnlessGrown(lane, found);
        known.set(lane, until);
        return until;
      });
      const until = (await Promise.all(asked)).filter((one) => one !== undefined);
      if (until.length === asked.length) return Math.min(...until);
      known.clear();
      count = undefined;
    }
  };
}

/** Undefined while the repair after a restore is outstanding. One statement: the repair moves the position. */
async function findCountedPosition(query: Query, stream: string): Promise<string | undefined> {
  const rows = await query<{ position: string | null }>(
    `SELECT (SELECT position FROM usage_stream_positions WHERE stream = :stream) AS position
     WHERE NOT EXISTS (SELECT FROM usage_restores)`,
    { stream },
    'closing_position',
  );
  return rows.map(({ position }) => position ?? FIRST_STREAM_ID)[0];
}
