import {
  LIVE_COUNTERS,
  USAGE_BATCH_FIELD,
  addCounters,
  usageEventSchema,
  usageLiveKey,
  usageShard,
  usageStreamKey,
  usageVersionKey,
} from '@tollgate/contracts/usage-stream';
import type { UsageCounters, UsageEvent } from '@tollgate/contracts/usage-stream';
import { LUA_DATA_SET, defineScript } from '@tollgate/redis/script';
import type { Script, ScriptableRedis } from '@tollgate/redis/script';
import { fitsIn, totalColumns } from '../../billing/periods/usage-sums.ts';
import type { Query } from '../../platform/database/query.ts';
import { lanesSinceBeginning } from '../../platform/usage-lanes.ts';
import type { LaneCount } from '../../platform/usage-lanes.ts';
import { enqueueRefreshes } from '../refresh/refresh-outbox.ts';
import { NO_APPLICATION, sumHourly, sumTotals } from '../counters/aggregate.ts';
import { addToHourly, addToTotals } from '../counters/counters.ts';
import type { FoundPeriod } from '../counters/counters.ts';
import type { Positions } from '../stream/positions.ts';

/**
 * For each period, of one moment: the version of the live counters (-1 without counters of this data set) and the
 * counters; the version that account has announced; the sums of the streams' entries after their positions. Keys are the
 * streams, then two for each period.
 */
const LUA = `${LUA_DATA_SET}
local field, streams = ARGV[1], tonumber(ARGV[2])
local names = { 'points', 'requests', 'time_ms', 'traffic_bytes' }
local sums = {}
local function add_entries(stream, position)
  for _, entry in ipairs(redis.call('XRANGE', stream, '(' .. position, '+')) do
    local readable, batch = pcall(cjson.decode, entry[2][1] == field and entry[2][2] or '')
    local events = readable and type(batch) == 'table' and batch.events
    for _, event in ipairs(type(events) == 'table' and events or {}) do
      if type(event) == 'table' and type(event.period_id) == 'number' then
        local period = string.format('%.0f', event.period_id)
        local sum = sums[period] or { 0, 0, 0, 0 }
        for index, name in ipairs(names) do sum[index] = sum[index] + (tonumber(event[name]) or 0) end
        sums[period] = sum
      end
    end
  end
end
for stream = 1, streams do add_entries(KEYS[stream], ARGV[2 + stream]) end
local answer = {}
for key = streams + 1, #KEYS, 2 do
  local live = redis.call('HMGET', KEYS[key], 'data_set', 'usage_version', 'counters')
  local is_live = live[1] == data_set and live[3]
  answer[#answer + 1] = is_live and live[2] or '-1'
  local counters = is_live and { struct.unpack('${LIVE_COUNTERS}', live[3]) } or { 0, 0, 0, 0 }
  for index = 1, 4 do answer[#answer + 1] = string.format('%.0f', counters[index]) end
  answer[#answer + 1] = redis.call('GET', KEYS[key + 1]) or '-1'
  local sum = sums[ARGV[2 + streams + (key - streams + 1) / 2]] or { 0, 0, 0, 0 }
  for index = 1, 4 do answer[#answer + 1] = string.format('%.0f', sum[index]) end
end
return answer
`;

const ANSWERS_PER_PERIOD = 10;
const PERIODS_PER_SCRIPT = 500;

type StoredPeriod = FoundPeriod & { usage_version: number };

type RedisCounters = { version: number; live: UsageCounters; announced: number; uncounted: UsageCounters };

/** A lane, with the positions of all streams that have usage of its payers (lockLanePositions). */
export type LockedLane = { lane: number; count: LaneCount; positions: Positions };

/** `rolled_back`: only periods of which Redis has seen a newer version than Postgres has. */
export type RecoverPeriods = (
  query: Query,
  locked: LockedLane,
  which: 'all' | 'rolled_back',
) => Promise<{ usage: UsageCounters; periods: number }>;

/**
 * After a rollback of Postgres, live counters of current periods still contain what it had counted. In the
 * transaction that holds the positions:
 *
 *   missing = live counters − uncounted entries − unassigned usage − totals
 *
 * The difference goes to the payer's account, no application, and the present hour. Live counters with an older
 * version than the totals lack reports and are ignored. A period of which Redis has seen a newer version gets a
 * higher one and new live counters, or no snapshot would be accepted. Entries after the positions are uncounted. While
 * lanes are added, this is done for the payers of all lanes that share a former one: what was counted of a payer in that
 * one shows in no other.
 */
export function createRecoverPeriods(redis: ScriptableRedis): RecoverPeriods {
  const script = defineScript(redis, LUA);
  return async (query, { lane, count, positions }, which) => {
    const usage = zero();
    let recovered = 0;
    const streams = lanesSinceBeginning(count, lane).map(usageStreamKey);
    const unassigned = await sumUnassigned(query, [...new Set([...streams, ...positions.keys()])]);
    for (let after = 0; ;) {
      const periods = await lockPeriods(query, { lane, count }, after);
      const last = periods.at(-1);
      if (last === undefined) return { usage, periods: recovered };
      after = last.period_id;
      const found = await readRedisCounters(script, positions, periods);
      const changed = periods.flatMap((period, index) => {
        const newest = Math.max(found[index]?.announced ?? -1, found[index]?.version ?? -1);
        const isRolledBack = newest > period.usage_version;
        if (which === 'rolled_back' && !isRolledBack) return [];
        const event = missingUsage(period, found[index], unassigned.get(period.period_id) ?? zero());
        // A total from before the bound existed accepts no change; a rebuild corrects it.
        const takesMore = fitsIn(period, ONE);
        return takesMore && (event !== null || isRolledBack) ? [{ period, event, newest }] : [];
      });
      if (changed.length === 0) continue;
      const missing = changed.flatMap(({ event }) => event ?? []);
      for (const event of missing) addCounters(usage, event);
      recovered += changed.length;
      await addToTotals(
        query,
        sumTotals([...missing, ...changed.map(({ period }) => eventOf(period, zero()))]),
      );
      if (missing.length > 0) await addToHourly(query, sumHourly(missing));
      await raiseVersions(query, changed);
    }
  };
}

/** Periods that can still have live counters: until a day after their grace window. */
async function lockPeriods(
  query: Query,
  { lane, count: { lanes, before } }: Pick<LockedLane, 'lane' | 'count'>,
  after: number,
): Promise<StoredPeriod[]> {
  // No payer's: it isn't in use.
  if (lane >= lanes) return [];
  const divisor = before ?? lanes;
  const ids = await query<{ period_id: number }>(
    `SELECT period_id FROM billing_periods
     WHERE account_id % :divisor = :rest AND period_id > :after AND started_at <= now()
       AND ended_at + grace_sec * interval '1 second' > now() - interval '2 days'
     ORDER BY period_id LIMIT :limit`,
    { divisor, rest: lane % divisor, after, limit: PERIODS_PER_SCRIPT },
  );
  const period_ids = ids.map(({ period_id }) => period_id);
  await query(
    `SELECT FROM usage_totals WHERE period_id = ANY (CAST(:period_ids AS bigint[])) ORDER BY period_id FOR UPDATE`,
    { period_ids },
  );
  return query<StoredPeriod>(
    `SELECT period.period_id, period.account_id AS payer_id, ${totalColumns('total')},
            coalesce(total.usage_version, 0) AS usage_version
     FROM billing_periods AS period LEFT JOIN usage_totals AS total USING (period_id)
     WHERE period.period_id = ANY (CAST(:period_ids AS bigint[])) ORDER BY period.period_id`,
    { period_ids },
  );
}

async function readRedisCounters(
  script: Script,
  positions: Positions,
  periods: readonly StoredPeriod[],
): Promise<RedisCounters[]> {
  const keys = periods.flatMap(({ period_id, payer_id }) => [
    usageLiveKey(usageShard(payer_id), period_id),
    usageVersionKey(usageShard(payer_id), period_id),
  ]);
  const ids = periods.map(({ period_id }) => period_id);
  const answer = (await script(
    [...positions.keys(), ...keys],
    [USAGE_BATCH_FIELD, positions.size, ...positions.values(), ...ids],
  )) as string[];
  return periods.map((_, index) => {
    const numbers = answer.slice(index * ANSWERS_PER_PERIOD, (index + 1) * ANSWERS_PER_PERIOD).map(Number);
    const at = (place: number) => numbers[place] ?? 0;
    const countersAt = (place: number): UsageCounters => ({
      points: at(place),
      requests: at(place + 1),
      time_ms: at(place + 2),
      traffic_bytes: at(place + 3),
    });
    return { version: at(0), live: countersAt(1), announced: at(5), uncounted: countersAt(6) };
  });
}

function missingUsage(
  period: StoredPeriod,
  found: RedisCounters | undefined,
  unassigned: UsageCounters,
): UsageEvent | null {
  if (found === undefined || found.version < period.usage_version) return null;
  const missing = (field: keyof UsageCounters) =>
    Math.max(found.live[field] - found.uncounted[field] - unassigned[field] - period[field], 0);
  const event = eventOf(period, {
    points: missing('points'),
    requests: missing('requests'),
    time_ms: missing('time_ms'),
    traffic_bytes: missing('traffic_bytes'),
  });
  const isEmpty = event.points + event.requests + event.time_ms + event.traffic_bytes === 0;
  return isEmpty || !fitsIn(period, event) ? null : event;
}

function eventOf({ payer_id, period_id }: StoredPeriod, counters: UsageCounters): UsageEvent {
  const whose = { payer_id, period_id, account_id: payer_id, application_id: NO_APPLICATION };
  return { ...whose, api_version: 'v2', ...counters, at_ms: Date.now() };
}

async function raiseVersions(
  query: Query,
  changed: readonly { period: StoredPeriod; newest: number }[],
): Promise<void> {
  await query(
    `UPDATE usage_totals AS total SET usage_version = greatest(total.usage_version, known.version)
     FROM unnest(CAST(:period_ids AS bigint[]), CAST(:versions AS bigint[])) AS known (period_id, version)
     WHERE total.period_id = known.period_id`,
    {
      period_ids: changed.map(({ period }) => period.period_id),
      versions: changed.map(({ newest }) => newest),
    },
  );
  await enqueueRefreshes(
    query,
    changed.map(({ period: { period_id, payer_id } }) => ({ period_id, payer_id, added: null })),
  );
}

/** Unassigned usage by period: live counters contain it, totals do not. */
async function sumUnassigned(query: Query, streams: string[]): Promise<Map<number, UsageCounters>> {
  const rows = await query<{ raw: string }>(
    `SELECT raw FROM usage_unassigned
     WHERE stream = ANY (CAST(:streams AS text[])) AND counted_at IS NULL AND event_index IS NOT NULL`,
    { streams },
  );
  const sums = new Map<number, UsageCounters>();
  for (const { raw } of rows) {
    const event = readEvent(raw);
    if (event === undefined) continue;
    const sum = sums.get(event.period_id) ?? zero();
    addCounters(sum, event);
    sums.set(event.period_id, sum);
  }
  return sums;
}

export function readEvent(raw: string): UsageEvent | undefined {
  try {
    return usageEventSchema.safeParse(JSON.parse(raw)).data;
  } catch {
    return undefined;
  }
}

const ONE: UsageCounters = { points: 1, requests: 1, time_ms: 1, traffic_bytes: 1 };

const zero = (): UsageCounters => ({ points: 0, requests: 0, time_ms: 0, traffic_bytes: 0 });
