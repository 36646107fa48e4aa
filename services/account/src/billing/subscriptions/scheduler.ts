import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import { Problem } from '@tollgate/http/problem';
import { singleRow } from '../../platform/database/single-row.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import type { DueWatch } from '../../platform/background/due-watch.ts';
import { startWorkLoop } from '../../platform/background/work-loop.ts';
import { DUE_CONDITION, renew, takeDue } from './renew.ts';

export type RenewalMetrics = {
  renewed: Pick<Counter, 'inc'>;
  failed: Pick<Counter, 'inc'>;
  overdue: Pick<Gauge, 'set'>;
};

/** Failed renewals wait this long and do not delay others. */
const RETRY_SEC = 60;

type RenewalOptions = {
  query: Query;
  transact: Transact;
  dueWatch: DueWatch;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  metrics: RenewalMetrics;
};

/** Runs in every replica at once: each takes unlocked subscriptions and renews each in one transaction. */
export function startRenewals(options: RenewalOptions): { close: () => Promise<void> } {
  return startWorkLoop({
    work: async (signal) => {
      await observeOverdue(options);
      while (!signal.aborted && (await renewNext(options)));
    },
    messages: {
      failed: 'subscriptions cannot be renewed; retrying',
      recovered: 'subscriptions are being renewed again',
    },
    due: {
      dueWatch: options.dueWatch,
      condition: `EXISTS (SELECT FROM subscriptions WHERE ${DUE_CONDITION})`,
    },
    logger: options.logger,
  });
}

export function createRenewalMetrics(registry: Registry): RenewalMetrics {
  const registers = [registry];
  return {
    renewed: new Counter({
      name: 'tollgate_subscription_renewals_total',
      help: 'Subscriptions renewed, or ended as planned, by this process',
      registers,
    }),
    failed: new Counter({
      name: 'tollgate_subscription_renewal_failures_total',
      help: 'Failed renewals, which are retried after a minute',
      registers,
    }),
    overdue: new Gauge({
      name: 'tollgate_subscriptions_overdue',
      help: 'Subscriptions whose next period should have begun and does not exist',
      registers,
    }),
  };
}

async function renewNext({ query, transact, logger, metrics }: RenewalOptions): Promise<boolean> {
  let taken: number | undefined;
  try {
    await transact(async (inside) => {
      const due = await takeDue(inside);
      taken = due?.subscription_id;
      if (due !== undefined) await renew(inside, due);
    });
  } catch (error) {
    const isAway = error instanceof Problem && error.code === 'service_unavailable';
    if (isAway || taken === undefined) throw error;
    logger.error({ err: error, subscription_id: taken }, 'a subscription could not be renewed');
    metrics.failed.inc();
    await putOff(query, taken);
    return true;
  }
  if (taken !== undefined) metrics.renewed.inc();
  return taken !== undefined;
}

async function putOff(query: Query, subscriptionId: number): Promise<void> {
  await query(
    `UPDATE subscriptions SET next_attempt_at = clock_timestamp() + CAST(:sec AS integer) * interval '1 second'
     WHERE subscription_id = :subscriptionId`,
    { subscriptionId, sec: RETRY_SEC },
  );
}

async function observeOverdue({ query, metrics }: RenewalOptions): Promise<void> {
  const rows = await query<{ overdue: number }>(
    `SELECT count(*) AS overdue FROM subscriptions WHERE ${DUE_CONDITION} AND renews_at <= clock_timestamp()`,
  );
  metrics.overdue.set(singleRow(rows).overdue);
}
