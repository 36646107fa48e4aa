import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import { createHistogram } from '@tollgate/server/tallies';
import type { Observe } from '@tollgate/server/tallies';
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

export const REVOCATION_METRICS = {
  name: 'tollgate_client_change_outbox',
  pending: 'Application changes that auth has not acknowledged yet',
  deliveries: 'Attempts of this process to deliver changes to auth, by outcome: delivered or failed',
};

/** Returns what observes one change. */
export function createRevocationLag(registry: Registry): Observe {
  return createHistogram(registry, {
    name: 'tollgate_revocation_lag_seconds',
    help: "Time from the commit of an application's change until auth has acknowledged it",
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300],
  })();
}

export const WEBHOOK_METRICS = {
  name: 'tollgate_webhook_outbox',
  pending: 'Pending webhook deliveries',
  deliveries: 'Webhook deliveries attempted by this process, by outcome: delivered, retried or failed',
};

export const MAIL_METRICS = {
  name: 'tollgate_mail_outbox',
  pending: 'Mails not sent yet',
  deliveries: 'Mails attempted by this process, by outcome: delivered, failed or given_up',
};
