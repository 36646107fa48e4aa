import type { RequestHandler } from 'express';
import { Problem } from '@tollgate/http/problem';
import type { LockInstant } from '../billing/credits/changes.ts';
import { findAccount } from '../identity/accounts/account-store.ts';
import { createWorker } from '../platform/background/worker.ts';
import type { Worker } from '../platform/background/worker.ts';
import { createQuery, createTransact } from '../platform/database/query.ts';
import type { Platform } from '../platform/open.ts';
import type { PaidPlans } from '../self-service/paid-plans.ts';
import { customerOf } from './customers.ts';
import { withinDeadline } from './deadline.ts';
import { createInstallationId } from './installation-id.ts';
import { applyPage } from './events/handlers.ts';
import { createEventMetrics } from './events/metrics.ts';
import { receiveEvents } from './events/receive.ts';
import { startEventWorker } from './events/worker.ts';
import type { Invoices } from './invoices/operations.ts';
import type { Overage } from './overage/operations.ts';
import { setOverage } from './overage/set.ts';
import { createOverageMetrics, startOverage } from './overage/worker.ts';
import { priceText } from './prices/price-text.ts';
import { planPrices, slotPrices } from './prices/store.ts';
import { syncStripe } from './prices/sync.ts';
import type { Payments } from './purchases/payments.ts';
import { beginPurchase } from './purchases/begin.ts';
import { createReconcileMetrics, startHourlyReconciliation } from './reconcile/hourly.ts';
import { reconcile } from './reconcile/reconcile.ts';
import { startReversals } from './reversals/worker.ts';
import { createStripeProvider } from './stripe/stripe-provider.ts';
import { beginSubscription } from './subscriptions/begin.ts';
import type { PaidSubscriptions } from './subscriptions/operations.ts';
import { previewUpgrade, upgradePlan } from './subscriptions/upgrade.ts';
import {
  findBySubscription,
  findChargedSlots,
  keepPlannedPrice,
  setPendingSlots,
} from './subscriptions/store.ts';
import { buySlots, previewSlots } from './team-slots/buy.ts';
import { startSubscriptionOutbox } from './subscriptions/outbox.ts';
import type { TopUps } from './top-ups/operations.ts';
import { closeWithdrawnPages } from './reconcile/withdrawn-pages.ts';
import { setTopUp, stopTopUp } from './top-ups/set.ts';
import { createTopUpMetrics, startTopUps } from './top-ups/worker.ts';

/** Packs, purchases and what Stripe tells us (docs/design/payments.md). */
export function openPayments(
  { config, pools, query, transact, redisNowMs, logger, registry }: Platform,
  {
    lockInstant,
    isRestored,
    announceEntitlements,
  }: {
    lockInstant: LockInstant;
    isRestored: (accountId: number) => Promise<boolean>;
    announceEntitlements: (accountIds: readonly number[]) => Promise<void>;
  },
): {
  /** Null with PAYMENTS=none. */
  needs: {
    payments: Payments | null;
    topUps: TopUps | null;
    overage: Overage | null;
    paidSubscriptions: PaidSubscriptions | null;
    invoices: Invoices | null;
    paidPlans: PaidPlans | null;
  };
  /** `POST /payments/stripe/events`; null with PAYMENTS=none. */
  events: RequestHandler | null;
  workers: Worker[];
} {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecrets } = config;
  if (config.PAYMENTS === 'none' || secretKey === undefined || webhookSecrets === undefined) {
    const needs = {
      payments: null,
      topUps: null,
      overage: null,
      paidSubscriptions: null,
      invoices: null,
      paidPlans: null,
    };
    return { needs, events: null, workers: [] };
  }
  const provider = createStripeProvider({
    secretKey,
    webhookSecrets,
    installationId: createInstallationId(query),
    apiUrl: config.STRIPE_API_URL,
    tax: config.STRIPE_TAX,
    packInvoices: config.STRIPE_PACK_INVOICES,
  });
  const metrics = createEventMetrics(registry);
  const onWorkers = () => {
    const database = pools.mailsAndHousekeeping;
    return {
      query: createQuery(database),
      transact: createTransact(database),
      provider,
      lockInstant,
      paymentGraceSec: config.PAYMENT_GRACE_SEC,
      logger,
    };
  };
  const eventWorker = createWorker(({ dueWatch }) => startEventWorker({ ...onWorkers(), dueWatch, metrics }));
  const reversalWorker = createWorker(({ dueWatch }) => startReversals({ ...onWorkers(), dueWatch }));
  const outbox = createWorker(({ dueWatch }) => startSubscriptionOutbox({ ...onWorkers(), dueWatch }));
  const hourly = createWorker(() =>
    startHourlyReconciliation({ ...onWorkers(), metrics: createReconcileMetrics(registry) }),
  );
  const topUpWorker = createWorker(({ dueWatch }) =>
    startTopUps({
      ...onWorkers(),
      tax: config.STRIPE_TAX,
      isRestored,
      dueWatch,
      metrics: createTopUpMetrics(registry),
    }),
  );
  const overageWorker = createWorker(({ dueWatch }) =>
    startOverage({ ...onWorkers(), isRestored, dueWatch, metrics: createOverageMetrics(registry) }),
  );
  const buyer = { query, transact, provider, publicUrl: config.PUBLIC_URL };
  const handling = { query, provider, lockInstant, paymentGraceSec: config.PAYMENT_GRACE_SEC, logger };
  /** Nothing if the provider can't be reached. */
  const refresh = async ({ session_id }: { session_id: string | null }) => {
    if (session_id === null) return;
    const apply = await applyPage(handling, session_id).catch(() => undefined);
    if (apply !== undefined) await transact(apply);
  };
  return {
    needs: {
      payments: {
        begin: (wanted, by) => beginPurchase(buyer, wanted, by),
        refresh,
        closeWithdrawnPages: () => withinDeadline(closeWithdrawnPages(buyer)).catch(() => undefined),
        reconcile: (wanted) => reconcile({ ...handling, transact }, wanted),
      },
      topUps: {
        set: async (accountId, choice, by) => {
          await setTopUp({ ...handling, transact, tax: config.STRIPE_TAX }, accountId, choice, by);
          topUpWorker.wake();
        },
        stop: (accountId, by) => stopTopUp({ ...handling, transact }, accountId, by),
      },
      overage: {
        set: async (accountId, choice, by) => {
          await setOverage({ query, transact, lockInstant, provider }, accountId, choice, by);
          await announceEntitlements([accountId]);
        },
      },
      paidSubscriptions: {
        begin: (wanted, by) => beginSubscription(buyer, wanted, by),
        previewUpgrade: (wanted) => previewUpgrade(buyer, wanted),
        upgrade: (wanted, by) => upgradePlan({ ...buyer, logger }, wanted, by),
        previewSlots: (wanted) => previewSlots(buyer, wanted),
        buySlots: (wanted, by) => buySlots({ ...buyer, logger }, wanted, by),
        refresh: (checkout) => refresh(checkout).catch(() => undefined),
        portal: async (accountId) => {
          const account = await findAccount(query, accountId);
          if (account === undefined) throw new Problem('not_found');
          const return_url = `${config.PUBLIC_URL}/user/plan`;
          const open = async () =>
            provider.openPortal({ customer_id: await customerOf(query, provider, account), return_url });
          return withinDeadline(open());
        },
      },
      invoices: {
        linkOf: async ({ stripe_invoice_id }) => {
          const url = (await provider.readInvoice(stripe_invoice_id))?.hosted_url;
          if (url === undefined || url === null) throw new Problem('not_found');
          return url;
        },
        sync: () => syncStripe(query, provider),
      },
      paidPlans: {
        prices: async (read) =>
          (await planPrices.list(read)).map((price) => ({ ...price, text: priceText(price) })),
        slotPrices: async (read) =>
          (await slotPrices.list(read)).map((price) => ({ ...price, text: priceText(price) })),
        currency: async (read, id) => (await findBySubscription(read, id))?.currency,
        chargedSlots: findChargedSlots,
        keepSlots: setPendingSlots,
        keepPrice: keepPlannedPrice,
      },
    },
    events: receiveEvents({ query, provider, nowMs: redisNowMs, metrics, onStored: eventWorker.wake }),
    workers: [eventWorker, reversalWorker, outbox, topUpWorker, overageWorker, hourly],
  };
}
