import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import type { Query, Transact } from '../../platform/database/query.ts';
import { createBacklogGauges, observeBacklog } from '../../platform/outbox/backlog.ts';
import type { BacklogGauges } from '../../platform/outbox/backlog.ts';
import type { DueWatch } from '../../platform/background/due-watch.ts';
import { takeNext } from '../../platform/background/take-next.ts';
import { startWorkLoop } from '../../platform/background/work-loop.ts';
import { dueNotice, putOffNotice, takeNotice, tellNotice } from '../credits/notices.ts';
import { detect } from './detect.ts';
import { findAlertAddress } from './settings-store.ts';

export type AlertMetrics = BacklogGauges & { alerts: Pick<Counter<'limit'>, 'inc'> };

/** Delay after a failed check, which holds up no other period. */
const RETRY_SEC = 60;

type DetectorOptions = {
  query: Query;
  transact: Transact;
  /** CREDITS_EXPIRING_DAYS */
  creditsExpiringDays: number;
  onAlerts: () => void;
  dueWatch: DueWatch;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  metrics: AlertMetrics;
};

/**
 * Looks for alerts, and sends notifications about credits. Postgres' triggers request checks and write notices. Each is
 * deleted in the transaction that writes its result, so a crash loses none.
 */
export function startAlertDetector(options: DetectorOptions): { close: () => Promise<void> } {
  return startWorkLoop({
    work: async (signal) => {
      await observeBacklog(options.query, 'usage_alert_checks', options.metrics);
      while (!signal.aborted && (await checkNext(options)));
      while (!signal.aborted && (await tellNext(options)));
    },
    messages: { failed: 'alerts wait for Postgres; trying again', recovered: 'alerts are looked for again' },
    due: {
      dueWatch: options.dueWatch,
      condition: `EXISTS (SELECT FROM usage_alert_checks WHERE due_at <= clock_timestamp())
        OR EXISTS (SELECT FROM credit_notices WHERE ${dueNotice(options.creditsExpiringDays)})`,
    },
    logger: options.logger,
  });
}

export function createAlertMetrics(registry: Registry): AlertMetrics {
  return {
    ...createBacklogGauges(
      registry,
      'tollgate_usage_alert_checks',
      'Times that a billing period is to be looked at for alerts, those of periods opened ahead included',
    ),
    alerts: new Counter({
      name: 'tollgate_usage_alerts_total',
      help: 'Alerts that this process has noticed, by limit',
      labelNames: ['limit'],
      registers: [registry],
    }),
  };
}

function checkNext({ query, transact, onAlerts, logger, metrics }: DetectorOptions): Promise<boolean> {
  return takeNext(transact, {
    take: takeDue,
    work: detect,
    onDone: ({ alerts, budgetAlerts, areCreditsLow }) => {
      for (const { limit_name } of alerts) metrics.alerts.inc({ limit: limit_name });
      if (budgetAlerts > 0) metrics.alerts.inc({ limit: 'budget' }, budgetAlerts);
      if (alerts.length > 0 || budgetAlerts > 0 || areCreditsLow) onAlerts();
    },
    onFailed: async (periodId, error) => {
      logger.error({ err: error, period_id: periodId }, 'a billing period could not be looked at for alerts');
      await putOff(query, periodId);
    },
  });
}

function tellNext(options: DetectorOptions): Promise<boolean> {
  const { query, transact, creditsExpiringDays, onAlerts, logger } = options;
  return takeNext(transact, {
    take: (inside) => takeNotice(inside, creditsExpiringDays),
    work: (inside, notice) => tellNotice(inside, notice, findAlertAddress),
    onDone: onAlerts,
    onFailed: async (notice, error) => {
      logger.error({ err: error, ...notice }, 'a credit notification failed; retrying in a minute');
      await putOffNotice(query, notice.notice_id, RETRY_SEC);
    },
  });
}

/** Takes the due checks of one period; skips what other replicas are taking. */
async function takeDue(query: Query): Promise<number | undefined> {
  const rows = await query<{ period_id: number }>(
    `DELETE FROM usage_alert_checks WHERE check_id IN (
       SELECT check_id FROM usage_alert_checks
       WHERE due_at <= clock_timestamp() AND period_id = (
         SELECT period_id FROM usage_alert_checks WHERE due_at <= clock_timestamp() ORDER BY due_at LIMIT 1
         FOR UPDATE SKIP LOCKED)
       FOR UPDATE SKIP LOCKED
     ) RETURNING period_id`,
  );
  return rows[0]?.period_id;
}

async function putOff(query: Query, periodId: number): Promise<void> {
  await query(
    `UPDATE usage_alert_checks SET due_at = clock_timestamp() + CAST(:sec AS integer) * interval '1 second'
     WHERE period_id = :periodId AND due_at <= clock_timestamp()`,
    { periodId, sec: RETRY_SEC },
  );
}
