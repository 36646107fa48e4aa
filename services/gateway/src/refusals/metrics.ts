import type { Registry } from 'prom-client';
import { createOutcomes } from '@tollgate/server/tallies';

export function createRefusalMetrics(registry: Registry) {
  return {
    onRefusal: createOutcomes(registry, {
      name: 'tollgate_refused_calls_total',
      help: 'Records of refused and failed calls by outcome: recorded, sampled_out, dropped (Redis is unavailable), uncounted (its number is lost)',
      outcomes: ['recorded', 'sampled_out', 'dropped', 'uncounted'],
    }),
  };
}
