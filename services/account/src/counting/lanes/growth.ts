import { usageStreamKey, usageTrimmedKey } from '@tollgate/contracts/usage-stream';
import type { Logger } from '@tollgate/log';
import type { RedisConnection } from '@tollgate/redis';
import { startWorkLoop } from '../../platform/background/work-loop.ts';
import type { DueWatch } from '../../platform/background/due-watch.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { adoptGrowth, beginGrowth, lanesUpTo } from '../../platform/usage-lanes.ts';
import { loadPositions, lockStreams, storePositions } from '../stream/positions.ts';
import { FIRST_STREAM_ID, compareStreamIds, nextStreamId } from '../stream/stream-id.ts';
import { createTellGateways } from './tell-gateways.ts';

export type GrowthOptions = {
  query: Query;
  transact: Transact;
  redis: RedisConnection;
  /** USAGE_LANES, if it is set. */
  setting: number | undefined;
  dueWatch: DueWatch;
  logger: Pick<Logger, 'info' | 'warn'>;
};

type Growing = { lanes: number; before: number; moved_after: Record<string, string> | null };

/**
 * Adds lanes while calls run (docs/design/settlement.md#more-lanes): Postgres knows of it first, then all gateways at
 * once by a script, and what the lanes that there were had taken until then is counted before anything of the new ones.
 * Each step may be repeated, by any replica.
 */
export function startLaneGrowth(options: GrowthOptions): { close: () => Promise<void> } {
  const { query, transact, redis, setting = 0, dueWatch, logger } = options;
  const tellGateways = createTellGateways(redis);

  /**
   * Whether entries of a lane up to the `last` of before are still to be counted. Also if it is trimmed beyond its
   * position: then Postgres was restored, and what it had counted of payers that move is recovered first.
   */
  async function isBehind(
    lane: number,
    { position, trimmed, last }: { position: string; trimmed: string | null; last: string },
  ): Promise<boolean> {
    if (trimmed !== null && compareStreamIds(trimmed, position) > 0) return true;
    if (compareStreamIds(position, last) >= 0) return false;
    const left = await redis.xrange(usageStreamKey(lane), nextStreamId(position), last, 'COUNT', 1);
    return left.length > 0;
  }

  const trimmedOf = (lanes: readonly number[]) =>
    Promise.all(lanes.map((lane) => redis.get(usageTrimmedKey(lane))));

  async function tell({ lanes, before }: Growing, inside: Query): Promise<void> {
    const added = lanesUpTo(lanes).slice(before);
    const positions = await lockStreams(inside, added);
    const movedAfter = await tellGateways({ lanes, before }, positions);
    const trimmed = await trimmedOf(added);
    const begun = new Map<string, string>();
    for (const [index, lane] of added.entries()) {
      const stream = usageStreamKey(lane);
      const position = positions.get(stream) ?? FIRST_STREAM_ID;
      const last = movedAfter.get(usageStreamKey(lane % before)) ?? FIRST_STREAM_ID;
      const isOlder = await isBehind(lane, { position, trimmed: trimmed[index] ?? null, last });
      if (!isOlder && compareStreamIds(position, last) < 0) begun.set(stream, last);
    }
    // With a position of none, what payers that move have used before would be taken for nothing (prime-script.ts).
    await storePositions(inside, begun, NOTHING_TRIMMED);
    await inside('UPDATE usage_lanes SET moved_after = CAST(:moved AS jsonb)', {
      moved: JSON.stringify(Object.fromEntries(movedAfter)),
    });
    logger.info({ lanes, before }, 'usage goes to more lanes');
  }

  async function finish({ lanes, moved_after: movedAfter }: Growing, inside: Query): Promise<void> {
    const all = lanesUpTo(lanes);
    // Before the positions, which they never pass unless Postgres was restored.
    const trimmed = await trimmedOf(all);
    const counted = await loadPositions(inside, all.map(usageStreamKey));
    const behind = await Promise.all(
      all.map((lane) => {
        const stream = usageStreamKey(lane);
        const position = counted.get(stream)?.position ?? FIRST_STREAM_ID;
        const last = movedAfter?.[stream] ?? FIRST_STREAM_ID;
        return isBehind(lane, { position, trimmed: trimmed[lane] ?? null, last });
      }),
    );
    if (behind.some(Boolean)) return;
    await inside('UPDATE usage_lanes SET lanes_before = NULL, moved_after = NULL');
    logger.info('usage of the former lanes is counted');
  }

  return startWorkLoop({
    work: async () => {
      // First: with lanes of which Postgres no longer knows, the setting's are added to fewer than there are.
      await adoptGrowth(query, redis);
      if (setting > 0) await beginGrowth(query, setting);
      await transact(async (inside) => {
        const [growing] = await inside<Growing>(
          'SELECT lanes, lanes_before AS before, moved_after FROM usage_lanes WHERE lanes_before IS NOT NULL FOR UPDATE',
        );
        if (growing === undefined) return;
        if (growing.moved_after === null) await tell(growing, inside);
        else await finish(growing, inside);
      });
    },
    messages: {
      failed: 'lanes of usage cannot be added; retrying',
      recovered: 'lanes of usage can be added again',
    },
    due: {
      dueWatch,
      condition: `EXISTS (SELECT FROM usage_lanes WHERE lanes_before IS NOT NULL OR lanes < ${String(setting)})`,
    },
    // What Redis knows of a growth isn't in the condition.
    worksAtStart: true,
    logger,
  });
}

const NOTHING_TRIMMED: ReadonlyMap<string, undefined> = new Map();
