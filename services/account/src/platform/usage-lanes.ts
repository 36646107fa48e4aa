import { USAGE_SHARD_COUNT, usageLane, usageLanesKey } from '@tollgate/contracts/usage-stream';
import type { RedisConnection } from '@tollgate/redis';
import { parseRedisUrl } from '@tollgate/redis/redis-url';
import { Refusal } from '@tollgate/server/refusal';
import type { Query } from './database/query.ts';

/** How many lanes take usage (docs/design/settlement.md), a second old at most. It only grows. */
export type UsageLanes = () => Promise<number>;

export type LaneCount = {
  lanes: number;
  /** How many there were, until the usage that these had taken of payers that move is counted. */
  before: number | null;
  /** Whether gateways have been told. From then on, the usage of payers that move goes to their new lanes. */
  isTold: boolean;
};

const KNOWN_FOR_MS = 1_000;

/** Any number that nothing else locks in this database. */
const GROWTH_LOCK = 7_462_041;

/**
 * `setting`: USAGE_LANES, if it is set.
 * @throws {Refusal} (its first call) if the settings ask for fewer lanes, or for a number that these can't grow to, or
 * Redis needs another one
 */
export function createUsageLanes(
  query: Query,
  { setting, redisUrl }: { setting: number | undefined; redisUrl: string },
): UsageLanes {
  const isCluster = parseRedisUrl(redisUrl).topology === 'cluster';
  const atFirst = setting ?? (isCluster ? USAGE_SHARD_COUNT : 1);
  let isChecked = false;
  let known = { lanes: 0, untilMs: -Infinity };

  function check(lanes: number): void {
    if (isCluster && lanes !== USAGE_SHARD_COUNT) {
      throw new Refusal(
        `A Redis Cluster needs ${String(USAGE_SHARD_COUNT)} lanes of usage, and there are ${String(lanes)}. Use one server ` +
          `or Sentinel until USAGE_LANES=${String(USAGE_SHARD_COUNT)} has been applied there.`,
      );
    }
    if (setting !== undefined && (setting < lanes || setting % lanes !== 0)) {
      throw new Refusal(
        `There are ${String(lanes)} lanes of usage, and their number can only grow, to a multiple of it. ` +
          `Set USAGE_LANES to ${String(lanes)} or such a multiple, or remove it.`,
      );
    }
  }

  async function read(): Promise<number> {
    if (!isChecked) {
      // Another replica may be first.
      await query('INSERT INTO usage_lanes (lanes) VALUES (:atFirst) ON CONFLICT DO NOTHING', { atFirst });
    }
    const count = await findLaneCount(query);
    if (!isChecked) check(count.lanes);
    isChecked = true;
    return count.before === null || count.isTold ? count.lanes : count.before;
  }

  return async () => {
    if (performance.now() >= known.untilMs) {
      known = { lanes: await read(), untilMs: performance.now() + KNOWN_FOR_MS };
    }
    return known.lanes;
  };
}

/** @throws {Error} if account has never been started on this database */
export async function findLaneCount(query: Query): Promise<LaneCount> {
  const [count] = await query<LaneCount>(
    `SELECT lanes, lanes_before AS before, moved_after IS NOT NULL AS "isTold" FROM usage_lanes`,
  );
  if (count === undefined) throw new Error('this database has no lanes of usage');
  return count;
}

/** That of the moment, until the end of the transaction. */
export async function lockLaneCount(query: Query): Promise<LaneCount> {
  await query('SELECT pg_advisory_xact_lock_shared(:lock)', { lock: GROWTH_LOCK });
  return findLaneCount(query);
}

/** The payer's lane; while it moves, the one that it had, too. */
export function lanesOfPayer({ lanes, before }: LaneCount, accountId: number): number[] {
  return [...new Set([lanes, before ?? lanes].map((count) => usageLane(accountId, count)))];
}

/** The lane; while lanes are added, all that share a former one: any of them may have usage of their payers. */
export function lanesOfSamePayers({ lanes, before }: LaneCount, lane: number): number[] {
  if (before === null || lane >= lanes) return [lane];
  return lanesUpTo(lanes).filter((other) => other % before === lane % before);
}

/** All lanes that the payers of a lane may have been in, whenever lanes were added. */
export function lanesSinceBeginning({ lanes }: Pick<LaneCount, 'lanes'>, lane: number): number[] {
  const counts = lanesUpTo(lanes + 1).filter((count) => lanes % count === 0);
  return [...new Set([lane, ...counts.map((count) => lane % count)])];
}

export function lanesUpTo(count: number): number[] {
  return Array.from({ length: count }, (_, lane) => lane);
}

/**
 * Waits for the transactions that hold the number, which others wait for meanwhile. Does nothing, and waits for none,
 * while it is growing, or if it isn't smaller.
 */
export async function beginGrowth(query: Query, lanes: number): Promise<void> {
  await query(
    `WITH smaller AS MATERIALIZED (SELECT 1 FROM usage_lanes WHERE lanes < :lanes AND lanes_before IS NULL),
       held AS MATERIALIZED (SELECT pg_advisory_xact_lock(:lock) FROM smaller)
     UPDATE usage_lanes SET lanes = :lanes, lanes_before = lanes FROM held
     WHERE lanes < :lanes AND lanes_before IS NULL`,
    { lock: GROWTH_LOCK, lanes },
  );
}

/** Postgres may have been restored from a backup of before a growth that gateways have been told of. */
export async function adoptGrowth(query: Query, redis: Pick<RedisConnection, 'get'>): Promise<void> {
  const told = Number(await redis.get(usageLanesKey(0)));
  if (told > 1 && told <= USAGE_SHARD_COUNT) await beginGrowth(query, told);
}
