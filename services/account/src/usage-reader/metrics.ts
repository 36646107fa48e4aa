import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';

export type UsageReaderMetrics = {
  entries: Pick<Counter, 'inc'>;
  events: Pick<Counter, 'inc'>;
  repeated: Pick<Counter, 'inc'>;
  unassigned: Pick<Counter<'reason'>, 'inc'>;
  share: Pick<Gauge, 'set'>;
  behind: Pick<Gauge, 'set'>;
  /** When the oldest entry of each stream's last read was written, in milliseconds; none where nothing came. */
  waitingSinceMs: Map<string, number>;
};

/** Metrics of the usage reader. */
export function createUsageReaderMetrics(registry: Registry): UsageReaderMetrics {
  const registers = [registry];
  const waitingSinceMs = new Map<string, number>();
  new Gauge({
    name: 'tollgate_usage_reader_lag_seconds',
    help: 'Age of the oldest entry that was read last and may still wait; 0 where the last reads gave none',
    registers,
    collect() {
      const oldestMs = Math.min(Date.now(), ...waitingSinceMs.values());
      this.set((Date.now() - oldestMs) / 1_000);
    },
  });
  return {
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
