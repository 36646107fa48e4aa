import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';

export type EventMetrics = { events: Pick<Counter<'type' | 'outcome'>, 'inc'> };

export function createEventMetrics(registry: Registry): EventMetrics {
  return {
    events: new Counter({
      name: 'tollgate_payment_events_total',
      help: 'Events from the payment provider, by type and outcome: received, repeated, foreign, refused, applied, ignored or postponed',
      labelNames: ['type', 'outcome'],
      registers: [registry],
    }),
  };
}
