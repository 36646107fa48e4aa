import { Counter, Gauge, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import type { DataCallOutcome } from './data-call/data-call.ts';

export type Metrics = {
  /** Observes a data call: begins now, and ends when the returned function is told the outcome. */
  onDataCall: () => (outcome: DataCallOutcome) => void;
  introspections: Counter<'outcome'>;
  entitlements: Counter<'outcome'>;
  batches: Counter<'result'>;
  /** Observes the settlement queue's length at each scrape. */
  observeQueue: (length: () => number) => void;
};

/** The gateway's own metrics; those of the process are the server package's. */
export function createMetrics(registry: Registry): Metrics {
  const registers = [registry];
  const calls = new Counter({
    name: 'tollgate_data_calls_total',
    help: 'Data calls by outcome: answered, aborted, broken, or the code of the refusal',
    labelNames: ['outcome'],
    registers,
  });
  const duration = new Histogram({
    name: 'tollgate_data_call_duration_seconds',
    help: 'Time from the head of a data call to the end of its answer',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  let inFlight = 0;
  new Gauge({
    name: 'tollgate_data_calls_in_flight',
    help: 'Data calls that have begun and not ended',
    registers,
    collect() {
      this.set(inFlight);
    },
  });
  return {
    onDataCall: () => {
      const beganMs = performance.now();
      inFlight += 1;
      return (outcome) => {
        inFlight -= 1;
        calls.inc({ outcome });
        duration.observe((performance.now() - beganMs) / 1000);
      };
    },
    introspections: new Counter({
      name: 'tollgate_introspections_total',
      help: 'Token look-ups by outcome: malformed, hit, joined (one under way), miss',
      labelNames: ['outcome'],
      registers,
    }),
    entitlements: new Counter({
      name: 'tollgate_entitlements_total',
      help: 'Entitlement look-ups by outcome: hit, joined (one under way), miss',
      labelNames: ['outcome'],
      registers,
    }),
    batches: new Counter({
      name: 'tollgate_settlement_batches_total',
      help: 'Attempts to settle a batch by result: recorded, repeated (it had arrived before), failed',
      labelNames: ['result'],
      registers,
    }),
    observeQueue: (length) => {
      new Gauge({
        name: 'tollgate_settlement_queue_events',
        help: 'Finished calls whose usage Redis has not acknowledged',
        registers,
        collect() {
          this.set(length());
        },
      });
    },
  };
}
