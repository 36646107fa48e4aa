import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@tollgate/log';
import { attemptDelivery } from './delivery.ts';
import type { DeliveryOptions } from './delivery.ts';
import type { OutboxMetrics } from './metrics.ts';
import { backlog, claimDue, isPending } from './outbox-store.ts';
import type { PendingRevocation } from './outbox-store.ts';

/** `query` is on a pool of the outbox's own: requests that wait for Postgres must not hold back a revocation. */
export type RevocationOutboxOptions = DeliveryOptions & {
  /** How long one delivery may take; auth's client keeps to it. */
  deliveryTimeoutMs: number;
  logger: Pick<Logger, 'info' | 'warn'>;
  metrics: OutboxMetrics;
};

export type RevocationOutbox = {
  /**
   * Delivers a row whose transaction has just committed. Resolves with whether auth has acknowledged it, after
   * DELIVERY_WAIT_MS at most; it goes on being delivered until that is so.
   */
  deliver: (row: PendingRevocation) => Promise<boolean>;
  /** Takes nothing more on, and resolves when the deliveries under way have ended. */
  close: () => Promise<void>;
};

/** What an operator's request waits for auth, at most. */
const DELIVERY_WAIT_MS = 1_000;

/** How often rows are looked for that another process has left behind. */
const POLL_MS = 500;

/** How often a request that waits looks whether its row is delivered. */
const LOOK_MS = 50;

const MAX_IN_FLIGHT = 16;

/** A lease outlasts the delivery that it is for. */
const LEASE_MARGIN_MS = 500;

/**
 * Tells auth of every row of the outbox until auth has acknowledged it (architecture.md, "Revocation"). A row
 * is taken by a lease instead of an open transaction, so that no delivery keeps a connection; one that is
 * delivered twice, because a lease ended too early, changes nothing the second time.
 */
export function startRevocationOutbox(options: RevocationOutboxOptions): RevocationOutbox {
  const stopping = new AbortController();
  const { signal } = stopping;
  const inFlight = new Map<number, Promise<boolean>>();
  let alarm = Promise.withResolvers<undefined>();

  function wake(): void {
    alarm.resolve(undefined);
  }

  function begin(row: PendingRevocation): Promise<boolean> {
    const delivering = attemptDelivery(options, row).then((attempt) => {
      inFlight.delete(row.outbox_id);
      if (!attempt.delivered) void pause(attempt.retryInMs, signal).then(wake);
      else if (inFlight.size === MAX_IN_FLIGHT - 1) wake();
      return attempt.delivered;
    });
    inFlight.set(row.outbox_id, delivering);
    return delivering;
  }

  async function run(): Promise<void> {
    let failed = false;
    while (!signal.aborted) {
      alarm = Promise.withResolvers<undefined>();
      try {
        for (const row of await takeDue(options, [...inFlight.keys()])) void begin(row);
        if (failed) options.logger.info('the revocation outbox is read again');
        failed = false;
      } catch (error) {
        if (!failed) options.logger.warn({ err: error }, 'the revocation outbox waits for Postgres');
        failed = true;
      }
      await Promise.race([alarm.promise, pause(POLL_MS, signal)]);
    }
  }

  /** A later attempt, or another replica, may be the one that delivers it. */
  async function acknowledged(row: PendingRevocation): Promise<boolean> {
    const deadlineMs = performance.now() + DELIVERY_WAIT_MS;
    let delivered = await (inFlight.get(row.outbox_id) ?? begin(row));
    while (!delivered && performance.now() < deadlineMs && !signal.aborted) {
      await pause(LOOK_MS, signal);
      delivered = !(await isPending(options.query, row.outbox_id));
    }
    return delivered;
  }

  const running = run();
  return {
    deliver: (row) =>
      Promise.race([acknowledged(row).catch(() => false), pause(DELIVERY_WAIT_MS, signal).then(() => false)]),
    close: async () => {
      stopping.abort();
      await running;
      await Promise.all(inFlight.values());
    },
  };
}

/** Claims what is due, as much as there is room for, and tells the metrics what waits. */
async function takeDue(
  { query, deliveryTimeoutMs, metrics }: RevocationOutboxOptions,
  inFlight: readonly number[],
): Promise<PendingRevocation[]> {
  const limit = MAX_IN_FLIGHT - inFlight.length;
  const leaseMs = deliveryTimeoutMs + LEASE_MARGIN_MS;
  const rows = limit > 0 ? await claimDue(query, { limit, leaseMs, except: inFlight }) : [];
  const { pending, oldest_age_sec } = await backlog(query);
  metrics.pending.set(pending);
  metrics.oldestAge.set(oldest_age_sec);
  return rows;
}

function pause(ms: number, signal: AbortSignal): Promise<undefined> {
  return delay(ms, undefined, { signal }).catch(() => undefined);
}
