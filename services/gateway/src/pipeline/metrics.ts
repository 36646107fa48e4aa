import { Counter, Gauge } from 'prom-client';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import type { Registry } from 'prom-client';
import type { DataCallOutcome, PipelineStep } from './data-call.ts';
import { createHistogram, createOutcomes } from '@tollgate/server/tallies';

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics(registry: Registry) {
  return {
    ...callMetrics(registry),
    ...stepMetrics(registry),
    ...meteredMetrics(registry),
    onIntrospection: createOutcomes(registry, {
      name: 'tollgate_introspections_total',
      help: 'Token look-ups by outcome: malformed, hit, joined (one under way), miss',
      outcomes: ['malformed', 'hit', 'joined', 'miss'],
    }),
    onEntitlement: createOutcomes(registry, {
      name: 'tollgate_entitlements_total',
      help: 'Entitlement look-ups by outcome: hit, joined (one under way), miss, stale (served while account is unavailable)',
      outcomes: ['hit', 'joined', 'miss', 'stale'],
    }),
    onEntitlementLoaded: createOutcomes(registry, {
      name: 'tollgate_entitlement_loads_total',
      help: 'Entitlements that the cache lacked by outcome: redis (kept there by account), account (asked)',
      outcomes: ['redis', 'account'],
    }),
    onAdmission: createOutcomes(registry, {
      name: 'tollgate_admissions_total',
      help: 'Admissions by outcome: admitted, unavailable, or the limit that refused it: points, traffic, time, rate, slots',
      outcomes: ['admitted', 'unavailable', 'points', 'traffic', 'time', 'rate', 'slots'],
    }),
    onDecided: createOutcomes(registry, {
      name: 'tollgate_admission_decisions_total',
      help: 'Admissions by who decided: share (this gateway, without Redis), redis, recall (Redis, after other gateways returned shares; also counted as redis)',
      outcomes: ['share', 'redis', 'recall'],
    }),
    onShare: createOutcomes(registry, {
      name: 'tollgate_shares_total',
      help: "Requests about shares of payers' limits by outcome: granted, renewed, refused (a limit is near, or a recall), lost, failed, returned",
      outcomes: ['granted', 'renewed', 'refused', 'lost', 'failed', 'returned'],
    }),
    onPrime: createOutcomes(registry, {
      name: 'tollgate_primes_total',
      help: 'Rebuilds of live counters from account by outcome: primed, stale (asked again), fenced (Redis lost data: waits until lost shares have ended), failed',
      outcomes: ['primed', 'stale', 'fenced', 'failed'],
    }),
    onBatch: createOutcomes(registry, {
      name: 'tollgate_settlement_batches_total',
      help: 'Attempts to settle a batch by outcome: recorded, repeated (it had arrived before), unprimed, failed',
      outcomes: ['recorded', 'repeated', 'unprimed', 'failed'],
    }),
    onRefusal: createOutcomes(registry, {
      name: 'tollgate_refused_calls_total',
      help: 'Records of refused and failed calls by outcome: recorded, sampled_out, dropped (Redis is unavailable), uncounted (its number is lost)',
      outcomes: ['recorded', 'sampled_out', 'dropped', 'uncounted'],
    }),
    observeQueue: gauge(
      registry,
      'tollgate_settlement_queue_events',
      'Finished calls whose usage Redis has not acknowledged',
    ),
    observeAbandoned: gauge(
      registry,
      'tollgate_data_calls_abandoned',
      'Data calls whose callers have gone and whose price has not arrived',
    ),
    observeStreams: streamGauges(registry),
    observeLeases: gauge(
      registry,
      'tollgate_leases_held',
      'Slots among calls in flight and open subscriptions that this process holds',
    ),
  };
}

function streamGauges(registry: Registry) {
  const observeOpen = gauge(
    registry,
    'tollgate_upstream_streams_open',
    'Streams of HTTP responses that hold a connection to the upstream',
  );
  const observeMax = gauge(
    registry,
    'tollgate_upstream_streams_per_payer_max',
    'Streams that this gateway holds for one payer at most (UPSTREAM_STREAMS_PER_PAYER)',
  );
  return ({ open, perPayerMax }: { open: () => number; perPayerMax: number }) => {
    observeOpen(open);
    observeMax(() => perPayerMax);
  };
}

/** Each starts at 0, so that a rate sees the first one. */
const CALL_OUTCOMES: readonly DataCallOutcome[] = [
  ...(['answered', 'aborted', 'broken', 'unrecorded'] as const),
  ...(['internal_error', 'service_unavailable', 'upstream_unreachable', 'upstream_timeout'] as const),
];

function meteredMetrics(registry: Registry) {
  const registers = [registry];
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const points = counter(
    'tollgate_metered_points_total',
    'Points of calls whose usage Redis has acknowledged',
  );
  const calls = counter(
    'tollgate_metered_calls_total',
    'Calls and operations whose usage Redis has acknowledged',
  );
  const bytes = counter('tollgate_metered_traffic_bytes_total', 'Bytes of response bodies of those calls');
  const time = counter(
    'tollgate_metered_subscription_seconds_total',
    'Time of subscriptions that was metered',
  );
  return {
    onMetered: (events: readonly UsageEvent[]) => {
      for (const event of events) {
        points.inc(event.points);
        calls.inc(event.requests);
        bytes.inc(event.traffic_bytes);
        time.inc(event.time_ms / 1_000);
      }
    },
    ...trustMetrics(registers),
  };
}

function trustMetrics(registers: Registry[]) {
  const trusted = new Map<string, () => boolean>();
  new Gauge({
    name: 'tollgate_cache_trusted',
    help: '1 while no change can have been missed, or nothing uses it (design: operations), by cache: introspection, entitlement',
    labelNames: ['cache'],
    registers,
    collect() {
      for (const [cache, isTrusted] of trusted) this.set({ cache }, isTrusted() ? 1 : 0);
    },
  });
  return {
    observeTrust: (cache: 'introspection' | 'entitlement', isTrusted: () => boolean) => {
      trusted.set(cache, isTrusted);
    },
  };
}

function callMetrics(registry: Registry) {
  const onOutcome = createOutcomes(registry, {
    name: 'tollgate_data_calls_total',
    help: 'Data calls by outcome: answered, aborted, broken, unrecorded, or the code of the refusal',
    outcomes: CALL_OUTCOMES,
  });
  const observe = createHistogram(registry, {
    name: 'tollgate_data_call_duration_seconds',
    help: 'Time from the head of a data call to the end of its response',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  })();
  let inFlight = 0;
  gauge(
    registry,
    'tollgate_data_calls_in_flight',
    'Data calls that have begun and not ended',
  )(() => inFlight);
  return {
    /** Observes a data call from now until the returned function, which returns the duration in milliseconds. */
    onDataCall: () => {
      const beganMs = performance.now();
      inFlight += 1;
      return (outcome: DataCallOutcome) => {
        inFlight -= 1;
        onOutcome(outcome);
        const durationMs = performance.now() - beganMs;
        observe(durationMs / 1000);
        return durationMs;
      };
    },
  };
}

function stepMetrics(registry: Registry) {
  const steps = createHistogram(registry, {
    name: 'tollgate_data_call_step_duration_seconds',
    help: 'Time of a data call in one step: authenticate, entitle, read, admit, forward, settle',
    labelNames: ['step'],
    buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10],
  });
  const stepOf = {
    authenticate: steps({ step: 'authenticate' }),
    entitle: steps({ step: 'entitle' }),
    read: steps({ step: 'read' }),
    admit: steps({ step: 'admit' }),
    forward: steps({ step: 'forward' }),
  };
  const settle = steps({ step: 'settle' });
  const prepare = createHistogram(registry, {
    name: 'tollgate_data_call_preparation_duration_seconds',
    help: 'Time from the head of an admitted data call until it is forwarded: authenticate, entitle and admit',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 2.5, 10],
  })();
  return {
    /** Observes a data call's steps, each from the end of the previous one. */
    onSteps: () => {
      let headMs = performance.now();
      let beganMs = headMs;
      return (step: PipelineStep) => {
        const nowMs = performance.now();
        stepOf[step]((nowMs - beganMs) / 1000);
        // How fast a body arrives is up to its caller.
        if (step === 'read') headMs += nowMs - beganMs;
        if (step === 'admit') prepare((nowMs - headMs) / 1000);
        beganMs = nowMs;
      };
    },
    /** `beganMs` is by performance.now(). */
    onSettled: (beganMs: number) => {
      settle((performance.now() - beganMs) / 1000);
    },
  };
}

/** A gauge that reads its value at each scrape. */
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
