import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import { singleRow } from '../../platform/database/single-row.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import type { DueWatch } from '../../platform/background/due-watch.ts';
import { takeNext } from '../../platform/background/take-next.ts';
import { startWorkLoop } from '../../platform/background/work-loop.ts';
import { FOLLOWING_CONDITION, startFollowing, takeFollowing } from './following.ts';
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
  /** PAYMENT_GRACE_SEC; null without payments. */
  paymentGraceSec: number | null;
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
      while (!signal.aborted && (await followNext(options)));
    },
    messages: {
      failed: 'subscriptions cannot be renewed; retrying',
      recovered: 'subscriptions are being renewed again',
    },
    due: {
      dueWatch: options.dueWatch,
      condition: `EXISTS (SELECT FROM subscriptions WHERE ${DUE_CONDITION})
        OR EXISTS (SELECT FROM subscriptions WHERE ${FOLLOWING_CONDITION})`,
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

function renewNext({ query, transact, paymentGraceSec, logger, metrics }: RenewalOptions): Promise<boolean> {
  return takeNext(transact, {
    take: takeDue,
    work: (inside, due) => renew(inside, due, paymentGraceSec),
    onDone: () => {
      metrics.renewed.inc();
    },
    onFailed: async ({ subscription_id }, error) => {
      logger.error({ err: error, subscription_id }, 'a subscription could not be renewed');
      metrics.failed.inc();
      await putOff(query, subscription_id);
    },
  });
}

function followNext({ query, transact, logger, metrics }: RenewalOptions): Promise<boolean> {
  return takeNext(transact, {
    take: takeFollowing,
    work: startFollowing,
    onFailed: async ({ subscription_id, plan_id }, error) => {
      logger.error({ err: error, subscription_id, plan_id }, 'a free plan could not be started');
      metrics.failed.inc();
      await putOff(query, subscription_id);
    },
  });
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
