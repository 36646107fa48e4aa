import type { Knex } from 'knex';
import {
  USAGE_SHARD_COUNT,
  addCounters,
  usageStreamKey,
  usageTrimmedKey,
} from '@tollgate/contracts/usage-stream';
import type { UsageCounters } from '@tollgate/contracts/usage-stream';
import type { RedisConnection } from '@tollgate/redis';
import { defineScript } from '@tollgate/redis/script';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { createTransact } from '../../platform/database/query.ts';
import type { Query } from '../../platform/database/query.ts';
import { createRecoverPeriods } from '../gaps/recover-periods.ts';
import { forgetRestores } from '../gaps/gaps.ts';
import { isImplausible, lockLane, recoverStream, skipUsedIds } from '../gaps/rollback-repair.ts';
import { loadPositions } from '../stream/positions.ts';
import { ensurePartitions } from '../retention/partitions.ts';
import { compareStreamIds } from '../stream/stream-id.ts';
import type { UsageStream } from '../stream/trim-script.ts';

/** `rolled_back_streams` were trimmed beyond Postgres' position; of `reset_streams` Redis named a future position. */
type Repaired = {
  checked_streams: number;
  rolled_back_streams: string[];
  reset_streams: string[];
  repaired_periods: number;
  recovered: UsageCounters;
  ids_skipped: boolean;
};

const STREAMS: readonly UsageStream[] = Array.from({ length: USAGE_SHARD_COUNT }, (_, lane) => ({
  lane,
  key: usageStreamKey(lane),
}));

/** Replaces a position only while it is the one that was read: a reader may have trimmed meanwhile. */
const RESET_LUA = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1
`;

export type RepairUsage = (options: { restored: boolean }, by: Actor) => Promise<Repaired>;

/**
 * Brings counters in Postgres and Redis together after a restore (docs/design/counting.md): what the usage reader
 * repairs by itself, at once, and what it can't detect. Each stream is one transaction that keeps the usage reader
 * away. Repeating it changes nothing more, apart from `restored`, which skips ids assigned after the backup.
 */
export function createRepairUsage({
  database,
  redis,
  onTotalsChanged,
}: {
  database: Knex;
  redis: RedisConnection;
  onTotalsChanged: () => void;
}): RepairUsage {
  const transact = createTransact(database);
  const recoverPeriods = createRecoverPeriods(redis);
  const reset = defineScript(redis, RESET_LUA);

  async function repairStream(query: Query, stream: UsageStream, repaired: Repaired): Promise<void> {
    const locked = await lockLane(query, stream);
    const { stored } = locked;
    const trimmed = await redis.get(usageTrimmedKey(stream.lane));
    if (trimmed !== null && compareStreamIds(trimmed, stored) > 0) {
      if (!isImplausible(trimmed)) {
        const gap = await recoverStream(query, recoverPeriods, locked, trimmed);
        repaired.rolled_back_streams.push(stream.key);
        addCounters(repaired.recovered, gap.recovered);
        return;
      }
      await reset([usageTrimmedKey(stream.lane)], [trimmed, stored]);
      repaired.reset_streams.push(stream.key);
    }
    const { usage, periods } = await recoverPeriods(query, locked, 'rolled_back');
    repaired.repaired_periods += periods;
    addCounters(repaired.recovered, usage);
  }

  return async ({ restored }, by) => {
    const repaired: Repaired = {
      checked_streams: 0,
      rolled_back_streams: [],
      reset_streams: [],
      repaired_periods: 0,
      recovered: { points: 0, requests: 0, time_ms: 0, traffic_bytes: 0 },
      ids_skipped: restored,
    };
    await ensurePartitions(database, [Date.now()]);
    await transact(async (query) => {
      await loadPositions(
        query,
        STREAMS.map(({ key }) => key),
      );
      if (restored) await skipUsedIds(query);
    });
    for (const stream of STREAMS) {
      await transact((query) => repairStream(query, stream, repaired));
      repaired.checked_streams += 1;
    }
    await transact(async (query) => {
      if (restored) await forgetRestores(query);
      await recordAudit(query, {
        ...by,
        action: 'usage_repaired',
        application_id: null,
        account_id: null,
        details: repaired,
      });
    });
    onTotalsChanged();
    return repaired;
  };
}
