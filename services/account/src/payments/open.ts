import type { RequestHandler } from 'express';
import type { LockInstant } from '../billing/credits/changes.ts';
import { createWorker } from '../platform/background/worker.ts';
import type { Worker } from '../platform/background/worker.ts';
import { createQuery, createTransact } from '../platform/database/query.ts';
import type { Platform } from '../platform/open.ts';
import { createEventMetrics } from './events/metrics.ts';
import { receiveEvents } from './events/receive.ts';
import { startEventWorker } from './events/worker.ts';
import type { Payments } from './purchases/payments.ts';
import { applyCheckout } from './purchases/apply.ts';
import { beginPurchase } from './purchases/begin.ts';
import { startReversals } from './reversals/worker.ts';
import { createStripeProvider } from './stripe/stripe-provider.ts';

/** Packs, purchases and what Stripe tells us (docs/design/payments.md). */
export function openPayments(
  { config, pools, query, transact, redisNowMs, logger, registry }: Platform,
  { lockInstant }: { lockInstant: LockInstant },
): {
  needs: { payments: Payments | null };
  /** `POST /payments/stripe/events`; null with PAYMENTS=none. */
  events: RequestHandler | null;
  workers: Worker[];
} {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecrets } = config;
  if (config.PAYMENTS === 'none' || secretKey === undefined || webhookSecrets === undefined) {
    return { needs: { payments: null }, events: null, workers: [] };
  }
  const provider = createStripeProvider({ secretKey, webhookSecrets, apiUrl: config.STRIPE_API_URL });
  const metrics = createEventMetrics(registry);
  const onWorkers = () => {
    const database = pools.mailsAndHousekeeping;
    return {
      query: createQuery(database),
      transact: createTransact(database),
      provider,
      lockInstant,
      logger,
    };
  };
  const eventWorker = createWorker(({ dueWatch }) => startEventWorker({ ...onWorkers(), dueWatch, metrics }));
  const reversalWorker = createWorker(({ dueWatch }) => startReversals({ ...onWorkers(), dueWatch }));
  const buyer = { query, transact, provider, publicUrl: config.PUBLIC_URL };
  return {
    needs: {
      payments: {
        begin: (wanted, by) => beginPurchase(buyer, wanted, by),
        refresh: async ({ session_id }) => {
          if (session_id === null) return;
          const needs = { query, provider, lockInstant, logger };
          const apply = await applyCheckout(needs, session_id).catch(() => undefined);
          if (apply !== undefined) await transact(apply);
        },
      },
    },
    events: receiveEvents({ query, provider, nowMs: redisNowMs, metrics, onStored: eventWorker.wake }),
    workers: [eventWorker, reversalWorker],
  };
}
