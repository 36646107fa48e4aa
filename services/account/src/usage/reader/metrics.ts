import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';

export type UsageReaderMetrics = {
  entries: Pick<Counter, 'inc'>;
  events: Pick<Counter, 'inc'>;
  repeated: Pick<Counter, 'inc'>;
  unassigned: Pick<Counter<'reason'>, 'inc'>;
  gaps: Pick<Counter<'cause'>, 'inc'>;
  missingBatches: Pick<Counter, 'inc'>;
  missingCalls: Pick<Counter, 'inc'>;
  missingPoints: Pick<Counter, 'inc'>;
  share: Pick<Gauge, 'set'>;
  behind: Pick<Gauge, 'set'>;
  /** When the oldest entry of each stream's last read was written, in milliseconds; none where nothing came. */
  waitingSinceMs: Map<string, number>;
};

/** Metrics of the usage reader. */
export function createUsageReaderMetrics(registry: Registry, nowMs: () => number): UsageReaderMetrics {
  const registers = [registry];
  const waitingSinceMs = new Map<string, number>();
  new Gauge({
    name: 'tollgate_usage_reader_lag_seconds',
    help: 'Age of the oldest entry that was read last and may still wait; 0 where the last reads gave none',
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
    gaps,
    missingBatches: counter('tollgate_usage_gap_batches_total', 'Batches of gateways that never came'),
    missingCalls: counter('tollgate_usage_gap_calls_total', 'Calls in batches that never came'),
    missingPoints: counter('tollgate_usage_gap_points_total', 'Points of batches that never came'),
    entries: new Counter({
      name: 'tollgate_usage_reader_entries_total',
      help: 'Stream entries that this process has counted',
      registers,
    }),
    events: new Counter({
      name: 'tollgate_usage_reader_events_total',
      help: 'Usage events that this process has counted: calls, those of one application that finished together as one',
      registers,
    }),
    repeated: new Counter({
      name: 'tollgate_usage_reader_repeated_total',
      help: 'Batches that came again under another entry id and were passed over',
      registers,
    }),
    unassigned: new Counter({
      name: 'tollgate_usage_reader_unassigned_total',
      help: 'What could not be counted and was kept in usage_unassigned, by reason',
      labelNames: ['reason'],
      registers,
    }),
    share: new Gauge({
      name: 'tollgate_usage_reader_streams',
      help: 'Usage streams that this process reads',
      registers,
    }),
    behind: new Gauge({
      name: 'tollgate_usage_reader_streams_behind',
      help: 'Usage streams of this process whose ids are behind what is counted; what is written there is not',
      registers,
    }),
    waitingSinceMs,
  };
}
