import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';

export type UsageReaderMetrics = {
  entries: Pick<Counter, 'inc'>;
  events: Pick<Counter, 'inc'>;
  unassigned: Pick<Counter<'reason'>, 'inc'>;
  lag: Pick<Gauge, 'set'>;
};

/** Metrics of the usage reader. */
export function createUsageReaderMetrics(registry: Registry): UsageReaderMetrics {
  const registers = [registry];
  return {
    entries: new Counter({
      name: 'tollgate_usage_reader_entries_total',
      help: 'Stream entries that this process has counted',
      registers,
    }),
    events: new Counter({
      name: 'tollgate_usage_reader_events_total',
      help: 'Finished calls that this process has counted',
      registers,
    }),
    unassigned: new Counter({
      name: 'tollgate_usage_reader_unassigned_total',
      help: 'What could not be counted and was kept in usage_unassigned, by reason',
      labelNames: ['reason'],
      registers,
    }),
    lag: new Gauge({
      name: 'tollgate_usage_reader_lag_seconds',
      help: 'Age of the oldest entry that was read last, when it was counted; 0 when there was none',
      registers,
    }),
  };
}
