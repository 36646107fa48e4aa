import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import { pause } from '@tollgate/server/background-loop';
import type { BackgroundLoop } from '@tollgate/server/background-loop';
import { createHistogram } from '@tollgate/server/tallies';
import type { Observe } from '@tollgate/server/tallies';
import { observeBacklog } from '../../platform/outbox/backlog.ts';
import { deliveryAttempt } from './delivery.ts';
import type { DeliveryOptions } from './delivery.ts';
import type { OutboxMetrics } from '../../platform/outbox/metrics.ts';
import { claimDue } from '../../platform/outbox/leased-rows.ts';
import { publishRow, startRepublishing } from './publisher.ts';
import type { PublishOptions } from './publisher.ts';
import { CLIENT_CHANGES_PENDING, CLIENT_CHANGE_OUTBOX, isPending } from './store.ts';
import type { NewClientChange, PendingClientChange } from './store.ts';
import type { Worker } from '../../platform/background/worker.ts';
import { createOutboxWorker } from '../../platform/outbox/outbox-worker.ts';

/** `query` is on a pool of the outbox's own: requests that wait for Postgres must not hold back a revocation. */
export type ClientChangeOutboxOptions = DeliveryOptions &
  PublishOptions & {
    /** How long one delivery may take; auth's client keeps to it. */
    deliveryTimeoutMs: number;
    logger: Pick<Logger, 'info' | 'warn'>;
    metrics: OutboxMetrics;
  };

export type ClientChangeOutbox = Worker & {
  /**
   * Publishes and delivers a committed row, also in a process that runs no workers. Resolves within DELIVERY_WAIT_MS with
   * whether the change is in force: auth has acknowledged it or, where it ends tokens, Redis has taken the message.
   */
  deliver: (row: NewClientChange) => Promise<boolean>;
};

/** What an operator's request waits for auth, at most. */
const DELIVERY_WAIT_MS = 1_000;

const POLL_MS = 50;

const MAX_IN_FLIGHT = 16;

/** A lease outlasts the delivery that it is for. */
const LEASE_MARGIN_MS = 500;

/** Tells auth of every row, at least once, until auth acknowledges it (docs/architecture.md, walk 3). */
export function createClientChangeOutbox(options: ClientChangeOutboxOptions): ClientChangeOutbox {
  const { query, deliveryTimeoutMs, metrics, logger } = options;
  const worker = createOutboxWorker<PendingClientChange>({
    name: 'client change',
    idOf: ({ outbox_id }) => outbox_id,
    claim: (limit, except) =>
      claimDue(query, CLIENT_CHANGE_OUTBOX, {
        limit,
        leaseMs: deliveryTimeoutMs + LEASE_MARGIN_MS,
        except,
      }),
    observe: () => observeBacklog(query, 'client_change_outbox', metrics),
    attempt: deliveryAttempt(options),
    maxInFlight: MAX_IN_FLIGHT,
    logger,
  });
  const { signal } = worker;
  let republishing: Pick<BackgroundLoop, 'close'> | undefined;

  /** A later attempt, or another replica, may be the one that delivers it. */
  async function acknowledged(row: PendingClientChange): Promise<boolean> {
    const deadlineMs = performance.now() + DELIVERY_WAIT_MS;
    let delivered = await worker.deliver(row);
    while (!delivered && performance.now() < deadlineMs && !signal.aborted) {
      await pause(POLL_MS, signal);
      delivered = !(await isPending(options.query, row.outbox_id));
    }
    return delivered;
  }

  function acknowledgedInTime(row: PendingClientChange): Promise<boolean> {
    const late = pause(DELIVERY_WAIT_MS, signal).then(() => false);
    return Promise.race([acknowledged(row).catch(() => false), late]);
  }

  return {
    deliver: async (row) => {
      const published = publishRow(options, row).then(
        () => true,
        () => false,
      );
      const acknowledged = await acknowledgedInTime(row);
      if (acknowledged || !row.endsTokens) return acknowledged;
      return Promise.race([published, pause(0, signal).then(() => false)]);
    },
    start: ({ dueWatch }) => {
      const due = { dueWatch, condition: CLIENT_CHANGES_PENDING };
      worker.start(due);
      republishing = startRepublishing(options, due);
    },
    wake: worker.wake,
    close: async () => {
      await Promise.all([worker.close(), republishing?.close()]);
    },
  };
}

export const CLIENT_CHANGE_METRICS = {
  name: 'tollgate_client_change_outbox',
  pending: 'Application changes that auth has not acknowledged yet',
  deliveries: 'Attempts of this process to deliver changes to auth, by outcome: delivered or failed',
};

/** Returns what observes one change. */
export function createClientChangeLag(registry: Registry): Observe {
  return createHistogram(registry, {
    name: 'tollgate_revocation_lag_seconds',
    help: "Time from the commit of an application's change until auth has acknowledged it",
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300],
  })();
}
