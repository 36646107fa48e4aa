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

export const REVOCATION_METRICS = {
  name: 'tollgate_revocation_outbox',
  pending: 'Application changes that auth has not acknowledged yet',
  deliveries: 'Attempts of this process to deliver changes to auth, by outcome: delivered or failed',
};

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
