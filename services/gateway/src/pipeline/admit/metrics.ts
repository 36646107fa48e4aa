import type { Registry } from 'prom-client';
import { createOutcomes } from '@tollgate/server/tallies';

export function createAdmitMetrics(registry: Registry) {
  return {
    onAdmission: createOutcomes(registry, {
      name: 'tollgate_admissions_total',
      help: 'Admissions by outcome: admitted, unavailable, or the limit that refused it: points, budget, reserved (points, by calls in flight), traffic, time, rate, slots',
      outcomes: [
        'admitted',
        'unavailable',
        'points',
        'budget',
        'reserved',
        'traffic',
        'time',
        'rate',
        'slots',
      ],
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
  };
}
