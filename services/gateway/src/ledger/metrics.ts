import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import { createOutcomes, observeValue } from '@tollgate/server/tallies';

export function createLedgerMetrics(registry: Registry) {
  return {
    onPrime: createOutcomes(registry, {
      name: 'tollgate_primes_total',
      help: 'Rebuilds of live counters from account by outcome: primed, stale (asked again), fenced (Redis lost data: waits until lost shares have ended), failed',
      outcomes: ['primed', 'stale', 'fenced', 'failed'],
    }),
    onBatch: createOutcomes(registry, {
      name: 'tollgate_settlement_batches_total',
      help: 'Attempts to settle a batch by outcome: recorded, repeated (it had arrived before), unprimed, moved (there are more lanes), failed',
      outcomes: ['recorded', 'repeated', 'unprimed', 'moved', 'failed'],
    }),
    onMetered: meteredUsage(registry),
    observeQueue: (events: () => number) => {
      observeValue(registry, {
        name: 'tollgate_settlement_queue_events',
        help: 'Finished calls whose usage Redis has not acknowledged',
        read: events,
      });
    },
    observeLeases: (held: () => number) => {
      observeValue(registry, {
        name: 'tollgate_leases_held',
        help: 'Slots among calls in flight and open subscriptions that this process holds',
        read: held,
      });
    },
  };
}

function meteredUsage(registry: Registry): (events: readonly UsageEvent[]) => void {
  const counter = (name: string, help: string) => new Counter({ name, help, registers: [registry] });
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
  return (events) => {
    for (const event of events) {
      points.inc(event.points);
      calls.inc(event.requests);
      bytes.inc(event.traffic_bytes);
      time.inc(event.time_ms / 1_000);
    }
  };
}
