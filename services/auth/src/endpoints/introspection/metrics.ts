import type { Registry } from 'prom-client';
import { createOutcomes } from '@tollgate/server/tallies';
import { createLatencies } from '../latencies.ts';
import type { IntrospectionOutcome } from './operation.ts';

export function createIntrospectionMetrics(registry: Registry) {
  const count = createOutcomes(registry, {
    name: 'tollgate_introspections_total',
    help: 'Introspections by outcome: active, inactive, malformed (not one of our tokens) or failed (Redis or account unavailable)',
    outcomes: ['active', 'inactive', 'malformed', 'failed'],
  });
  const observe = createLatencies(registry, {
    name: 'tollgate_introspection_duration_seconds',
    help: 'Time of an introspection after its form is read, by the outcomes of tollgate_introspections_total',
  });
  return {
    onIntrospected: (outcome: IntrospectionOutcome, durationMs: number) => {
      count(outcome);
      observe(outcome, durationMs);
    },
  };
}
