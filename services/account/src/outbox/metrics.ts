import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';

export type OutboxMetrics = {
  pending: Pick<Gauge, 'set'>;
  oldestAge: Pick<Gauge, 'set'>;
  deliveries: Pick<Counter<'outcome'>, 'inc'>;
};

/** Metrics of the revocation outbox. The gauges tell of the whole table, whichever replica is asked. */
export function createOutboxMetrics(registry: Registry): OutboxMetrics {
  const registers = [registry];
  return {
    pending: new Gauge({
      name: 'tollgate_revocation_outbox_pending',
      help: 'Changes of applications that auth has not acknowledged yet',
      registers,
    }),
    oldestAge: new Gauge({
      name: 'tollgate_revocation_outbox_oldest_age_seconds',
      help: 'Age of the oldest of them; 0 when there is none',
      registers,
    }),
    deliveries: new Counter({
      name: 'tollgate_revocation_outbox_deliveries_total',
      help: 'Attempts of this process to tell auth, by outcome: delivered or failed',
      labelNames: ['outcome'],
      registers,
    }),
  };
}
