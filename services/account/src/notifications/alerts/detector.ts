import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import { Problem } from '@tollgate/http/problem';
import type { Query, Transact } from '../../platform/database/query.ts';
import { createBacklogGauges, observeBacklog } from '../../platform/outbox/backlog.ts';
import type { BacklogGauges } from '../../platform/outbox/backlog.ts';
import type { DueWatch } from '../../platform/background/due-watch.ts';
import { startWorkLoop } from '../../platform/background/work-loop.ts';
import { detectAlerts } from './detect.ts';

export type AlertMetrics = BacklogGauges & { alerts: Pick<Counter<'limit'>, 'inc'> };

/** Delay after a failed check, which holds up no other period. */
const RETRY_SEC = 60;

type DetectorOptions = {
  query: Query;
  transact: Transact;
  onAlerts: () => void;
  dueWatch: DueWatch;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  metrics: AlertMetrics;
};

/**
 * Postgres' triggers request checks. A check is deleted in the transaction that writes its result, so a crash
 * loses none.
 */
export function startAlertDetector(options: DetectorOptions): { close: () => Promise<void> } {
  return startWorkLoop({
    work: async (signal) => {
      await observeBacklog(options.query, 'usage_alert_checks', options.metrics);
      while (!signal.aborted && (await checkNext(options)));
    },
    messages: { failed: 'alerts wait for Postgres; trying again', recovered: 'alerts are looked for again' },
    due: {
      dueWatch: options.dueWatch,
      condition: 'EXISTS (SELECT FROM usage_alert_checks WHERE due_at <= clock_timestamp())',
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

/** False if nothing was due. */
async function checkNext({ query, transact, onAlerts, logger, metrics }: DetectorOptions): Promise<boolean> {
  let taken: number | undefined;
  try {
    const alerts = await transact(async (inside) => {
      taken = await takeDue(inside);
      return taken === undefined ? [] : detectAlerts(inside, taken);
    });
    for (const { limit_name } of alerts) metrics.alerts.inc({ limit: limit_name });
    if (alerts.length > 0) onAlerts();
  } catch (error) {
    const isAway = error instanceof Problem && error.code === 'service_unavailable';
    if (isAway || taken === undefined) throw error;
    logger.error({ err: error, period_id: taken }, 'a billing period could not be looked at for alerts');
    await putOff(query, taken);
    return true;
  }
  return taken !== undefined;
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
