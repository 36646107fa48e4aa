import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import { startLoop } from '@tollgate/server/background-loop';
import type { BackgroundLoop } from '@tollgate/server/background-loop';
import type { PaymentProvider } from '../provider.ts';
import { closeWithdrawnPages } from './withdrawn-pages.ts';
import { reconcile } from './reconcile.ts';
import type { ReconcileNeeds } from './reconcile.ts';
import { findLastStart, findWaiting, insertRun } from './store.ts';

const LOOK_MS = 60_000;
const HOUR_MS = 3_600_000;

/** After a run that failed. */
const RETRY_MS = 600_000;

/** How far back the first run looks: as long as Stripe retries an event. */
const FIRST_RUN_MS = 72 * HOUR_MS;

export type ReconcileMetrics = {
  differences: Pick<Counter, 'inc'>;
  age: Pick<Gauge, 'set'>;
  oldestEvent: Pick<Gauge, 'set'>;
  issues: Pick<Gauge, 'set'>;
};

export function createReconcileMetrics(registry: Registry): ReconcileMetrics {
  const registers = [registry];
  return {
    differences: new Counter({
      name: 'tollgate_payment_differences_total',
      help: 'Differences from the payment provider that reconciling found and corrected; their events had not arrived',
      registers,
    }),
    age: new Gauge({
      name: 'tollgate_payment_reconciliation_age_seconds',
      help: 'Since the start of the last reconciliation that succeeded; before the first one, since this process began',
      registers,
    }),
    oldestEvent: new Gauge({
      name: 'tollgate_payment_events_oldest_age_seconds',
      help: 'Age of the oldest payment event that is not handled; 0 without any',
      registers,
    }),
    issues: new Gauge({
      name: 'tollgate_payment_issues',
      help: 'Open payment issues, which an operator must look at',
      registers,
    }),
  };
}

/** Reconciles every hour. Each replica may run it: a run that two make changes nothing twice. */
export function startHourlyReconciliation(
  needs: ReconcileNeeds & {
    provider: Pick<PaymentProvider, 'expireCheckout'>;
    logger: Pick<Logger, 'info' | 'warn' | 'error'>;
    metrics: ReconcileMetrics;
  },
): Pick<BackgroundLoop, 'close'> {
  const { query, logger, metrics } = needs;
  const begunMs = Date.now();
  let nextMs = 0;
  return startLoop(async (signal) => {
    try {
      const { oldest_event_sec, open_issues } = await findWaiting(query);
      metrics.oldestEvent.set(oldest_event_sec);
      metrics.issues.set(open_issues);
      await closeWithdrawnPages(needs);
      await runIfDue(signal);
    } catch (error) {
      logger.warn({ err: error }, 'payments could not be reconciled; will retry');
    }
    return LOOK_MS;
  });

  async function runIfDue(signal: AbortSignal): Promise<void> {
    const last = await findLastStart(query);
    const now = Date.now();
    metrics.age.set((now - (last?.getTime() ?? begunMs)) / 1_000);
    if (last !== undefined && now - last.getTime() < HOUR_MS) return;
    if (now < nextMs) return;
    nextMs = now + RETRY_MS;
    const since = new Date(last === undefined ? now - FIRST_RUN_MS : last.getTime() - HOUR_MS);
    const run = await reconcile(needs, { since, isDryRun: false, signal });
    const { checked, differences, failed, isComplete } = run;
    metrics.differences.inc(differences.length);
    for (const difference of differences) logger.warn(difference, 'payment reconciled');
    if (signal.aborted || failed > 0 || !isComplete) return;
    await insertRun(query, run);
    logger.info({ since, checked, differences: differences.length }, 'payments reconciled');
  }
}
