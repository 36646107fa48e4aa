import { USAGE_SHARD_COUNT } from '@tollgate/contracts/usage-stream';
import { parseRedisUrl } from '@tollgate/redis/redis-url';
import { Refusal } from '@tollgate/server/refusal';
import type { Query } from './database/query.ts';

/**
 * How many lanes take usage (docs/design/settlement.md). It stays what it was at the first start: payers would move to
 * other streams, whose positions say nothing of theirs.
 * @throws {Refusal} if the settings ask for another number, or Redis needs one
 */
export type UsageLanes = () => Promise<number>;

/** `setting`: USAGE_LANES, if it is set. */
export function createUsageLanes(
  query: Query,
  { setting, redisUrl }: { setting: number | undefined; redisUrl: string },
): UsageLanes {
  const isCluster = parseRedisUrl(redisUrl).topology === 'cluster';
  let known: number | undefined;

  function check(lanes: number): number {
    if (isCluster && lanes !== USAGE_SHARD_COUNT) {
      throw new Refusal(
        `A Redis Cluster needs ${String(USAGE_SHARD_COUNT)} lanes of usage, and this database has ${String(lanes)} since its ` +
          'first start. Use one server or Sentinel, or an empty database.',
      );
    }
    if (setting !== undefined && setting !== lanes) {
      throw new Refusal(
        `This database has counted ${String(lanes)} lanes of usage since its first start. ` +
          `Set USAGE_LANES to ${String(lanes)}, or remove it.`,
      );
    }
    return lanes;
  }

  async function read(): Promise<number> {
    const stored = await findLanes(query);
    if (stored !== undefined) return check(stored);
    return check(await storeLanes(query, check(setting ?? (isCluster ? USAGE_SHARD_COUNT : 1))));
  }

  return async () => (known ??= await read());
}

async function findLanes(query: Query): Promise<number | undefined> {
  const [row] = await query<{ lanes: number }>('SELECT lanes FROM usage_lanes');
  return row?.lanes;
}

/** Another replica may be first. */
async function storeLanes(query: Query, lanes: number): Promise<number> {
  await query('INSERT INTO usage_lanes (lanes) VALUES (:lanes) ON CONFLICT DO NOTHING', { lanes });
  return (await findLanes(query)) ?? lanes;
}
