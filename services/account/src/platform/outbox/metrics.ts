import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import { createBacklogGauges } from './backlog.ts';
import type { BacklogGauges } from './backlog.ts';

export type OutboxMetrics = BacklogGauges & { deliveries: Pick<Counter<'outcome'>, 'inc'> };

/** `<name>_pending`, `<name>_oldest_age_seconds` and `<name>_deliveries_total`. */
export function createOutboxMetrics(
  registry: Registry,
  { name, pending, deliveries }: { name: string; pending: string; deliveries: string },
): OutboxMetrics {
  return {
    ...createBacklogGauges(registry, name, pending),
    deliveries: new Counter({
      name: `${name}_deliveries_total`,
      help: deliveries,
      labelNames: ['outcome'],
      registers: [registry],
    }),
  };
}
