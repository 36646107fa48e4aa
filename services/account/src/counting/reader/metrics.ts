import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { USAGE_SHARD_COUNT, usageStreamKey } from '@tollgate/contracts/usage-stream';
import { createHistogram } from '@tollgate/server/tallies';
import type { Observe } from '@tollgate/server/tallies';

export type UsageReaderMetrics = {
  entries: Pick<Counter, 'inc'>;
  events: Pick<Counter, 'inc'>;
  repeated: Pick<Counter, 'inc'>;
  unassigned: Pick<Counter<'reason'>, 'inc'>;
  gaps: Pick<Counter<'cause'>, 'inc'>;
  missingBatches: Pick<Counter, 'inc'>;
  missingCalls: Pick<Counter, 'inc'>;
  missingPoints: Pick<Counter, 'inc'>;
  assigned: Pick<Gauge, 'set'>;
  behind: Pick<Gauge, 'set'>;
  /** Time from an entry's arrival until it was counted. */
  counted: Observe;
  waitingSinceMs: Map<string, number>;
};

export function createUsageReaderMetrics(registry: Registry, nowMs: () => number): UsageReaderMetrics {
  const registers = [registry];
  const waitingSinceMs = new Map<string, number>();
  new Gauge({
    name: 'tollgate_usage_reader_lag_seconds',
    help: 'Age of the oldest entry of the last reads, which may be uncounted; 0 if they returned none',
    registers,
    collect() {
      const atMs = nowMs();
      const oldestMs = Math.min(atMs, ...waitingSinceMs.values());
      this.set((atMs - oldestMs) / 1_000);
    },
  });
  const gaps = new Counter({
    name: 'tollgate_usage_gaps_total',
    help: 'Gaps in the usage streams, by cause: batches_missing, redis_set_back or postgres_set_back; see tollgate usage gaps',
    labelNames: ['cause'],
    registers,
  });
  for (const cause of ['batches_missing', 'redis_set_back', 'postgres_set_back']) gaps.inc({ cause }, 0);
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  return {
    counted: createHistogram(registry, {
      name: 'tollgate_usage_count_delay_seconds',
      help: 'Time from the arrival of a usage batch in Redis until Postgres has counted it',
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600],
    })(),
    gaps,
    missingBatches: counter('tollgate_usage_gap_batches_total', 'Usage batches that never arrived'),
    missingCalls: counter('tollgate_usage_gap_calls_total', 'Calls in usage batches that never arrived'),
    missingPoints: counter('tollgate_usage_gap_points_total', 'Points in usage batches that never arrived'),
    entries: new Counter({
      name: 'tollgate_usage_reader_entries_total',
      help: 'Stream entries counted by this process',
      registers,
    }),
    events: new Counter({
      name: 'tollgate_usage_reader_events_total',
      help: 'Usage events counted by this process; calls of one application that finish together are one event',
      registers,
    }),
    repeated: new Counter({
      name: 'tollgate_usage_reader_repeated_total',
      help: 'Repeated batches with another entry id, which were skipped',
      registers,
    }),
    unassigned: new Counter({
      name: 'tollgate_usage_reader_unassigned_total',
      help: 'Unassigned usage kept in usage_unassigned, by reason',
      labelNames: ['reason'],
      registers,
    }),
    assigned: new Gauge({
      name: 'tollgate_usage_reader_streams',
      help: 'Usage streams assigned to this process',
      registers,
    }),
    behind: new Gauge({
      name: 'tollgate_usage_reader_streams_behind',
      help: 'Assigned usage streams whose ids are behind the counted position; new entries there are not counted',
      registers,
    }),
    waitingSinceMs,
  };
}

/** The streams' lengths at each scrape, the same from every replica. */
export function observeStreams(registry: Registry, redis: { xlen: (key: string) => Promise<number> }): void {
  const keys = Array.from({ length: USAGE_SHARD_COUNT }, (_, lane) => usageStreamKey(lane));
  new Gauge({
    name: 'tollgate_usage_stream_entries',
    help: 'Usage batches in Redis: not counted yet, or counted a moment ago',
    registers: [registry],
    async collect() {
      const lengths = await Promise.all(keys.map((key) => redis.xlen(key))).catch(() => undefined);
      if (lengths === undefined) this.remove();
      else this.set(lengths.reduce((sum, length) => sum + length, 0));
    },
  });
}
