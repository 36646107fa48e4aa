import { Counter, Gauge, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import type { DataCallOutcome, PipelinePart } from './data-call/data-call.ts';

/** The gateway's own metrics; those of the process are the server package's. */
export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics(registry: Registry) {
  return {
    ...callMetrics(registry),
    ...partMetrics(registry),
    onIntrospection: outcomes(
      registry,
      'tollgate_introspections_total',
      'Token look-ups by outcome: malformed, hit, joined (one under way), miss',
    ),
    onEntitlement: outcomes(
      registry,
      'tollgate_entitlements_total',
      'Entitlement look-ups by outcome: hit, joined (one under way), miss',
    ),
    onAdmission: outcomes(
      registry,
      'tollgate_admissions_total',
      'Answers to a wish for admission: admitted, unavailable, or what refused it: points, traffic, time, rate, places',
    ),
    onPrime: outcomes(
      registry,
      'tollgate_primes_total',
      'Rebuilds of live counters from account by outcome: primed, stale (asked again), failed',
    ),
    onBatch: outcomes(
      registry,
      'tollgate_settlement_batches_total',
      'Attempts to settle a batch by outcome: recorded, repeated (it had arrived before), unprimed, failed',
    ),
    /** Observes the settlement queue's length at each scrape. */
    observeQueue: gauge(
      registry,
      'tollgate_settlement_queue_events',
      'Finished calls whose usage Redis has not acknowledged',
    ),
    /** Observes how many leases are held at each scrape. */
    observeLeases: gauge(
      registry,
      'tollgate_leases_held',
      'Places among calls in flight and open subscriptions that this process holds',
    ),
  };
}

function callMetrics(registry: Registry) {
  const onOutcome = outcomes(
    registry,
    'tollgate_data_calls_total',
    'Data calls by outcome: answered, aborted, broken, unrecorded, or the code of the refusal',
  );
  const duration = new Histogram({
    name: 'tollgate_data_call_duration_seconds',
    help: 'Time from the head of a data call to the end of its answer',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  let inFlight = 0;
  gauge(
    registry,
    'tollgate_data_calls_in_flight',
    'Data calls that have begun and not ended',
  )(() => inFlight);
  return {
    /** Observes a data call: begins now, and ends when the returned function is told the outcome. */
    onDataCall: () => {
      const beganMs = performance.now();
      inFlight += 1;
      return (outcome: DataCallOutcome) => {
        inFlight -= 1;
        onOutcome(outcome);
        duration.observe((performance.now() - beganMs) / 1000);
      };
    },
  };
}

function partMetrics(registry: Registry) {
  const parts = new Histogram({
    name: 'tollgate_data_call_part_duration_seconds',
    help: 'Time of a data call in one part: authenticate, entitle, admit, forward (settling included), settle',
    labelNames: ['part'],
    buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10],
    registers: [registry],
  });
  // Looked up once: labels() builds a key for each call.
  const partOf = {
    authenticate: parts.labels('authenticate'),
    entitle: parts.labels('entitle'),
    admit: parts.labels('admit'),
    forward: parts.labels('forward'),
  };
  const settle = parts.labels('settle');
  return {
    /** Observes the parts of a data call: each begins where the one before has ended. */
    onParts: () => {
      let beganMs = performance.now();
      return (part: PipelinePart) => {
        const nowMs = performance.now();
        partOf[part].observe((nowMs - beganMs) / 1000);
        beganMs = nowMs;
      };
    },
    /** Observes a settlement, from performance.now() on. */
    onSettled: (beganMs: number) => {
      settle.observe((performance.now() - beganMs) / 1000);
    },
  };
}

/** A counter by outcome. Each label's child is looked up once, because labels() builds a key for each call. */
function outcomes(registry: Registry, name: string, help: string): (outcome: string) => void {
  const counter = new Counter({ name, help, labelNames: ['outcome'], registers: [registry] });
  const children = new Map<string, Counter.Internal>();
  return (outcome) => {
    let child = children.get(outcome);
    if (child === undefined) {
      child = counter.labels(outcome);
      children.set(outcome, child);
    }
    child.inc();
  };
}

/** A gauge whose value is asked for at each scrape. */
function gauge(registry: Registry, name: string, help: string): (value: () => number) => void {
  return (value) => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(value());
      },
    });
  };
}
