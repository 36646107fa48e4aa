import { createWorker } from '../platform/background/worker.ts';
import type { Worker } from '../platform/background/worker.ts';
import { createQuery, createTransact } from '../platform/database/query.ts';
import type { Platform } from '../platform/open.ts';
import { createWebhookAgent } from '../platform/outgoing/connector.ts';
import { createOutboxMetrics } from '../platform/outbox/metrics.ts';
import { createAlertMetrics, startAlertDetector } from './alerts/detector.ts';
import { WEBHOOK_METRICS, startDeliveryWorker } from './deliveries/delivery-worker.ts';
import type { WebhookSettings } from './webhooks/changes.ts';

/** Alerts about usage, and the webhooks that receive them (docs/design/deliveries.md). */
export function openNotifications(
  { config, pools, logger, registry }: Platform,
  { wakeMails }: { wakeMails: () => void },
): { needs: { webhookSettings: WebhookSettings; wakeWebhooks: () => void }; workers: Worker[] } {
  const allowPrivateAddresses = config.WEBHOOK_ALLOW_PRIVATE_ADDRESSES;
  const sealingKeys = config.TOKEN_SEALING_KEYS;
  const deliveries = createWorker(({ dueWatch }) =>
    startDeliveryWorker({
      query: createQuery(pools.webhookDeliveries),
      transact: createTransact(pools.webhookDeliveries),
      agent: createWebhookAgent({
        connectTimeoutMs: config.WEBHOOK_CONNECT_TIMEOUT_MS,
        allowPrivateAddresses,
        dnsServers: config.WEBHOOK_DNS_SERVERS,
      }),
      attemptTimeoutMs: config.WEBHOOK_ATTEMPT_TIMEOUT_MS,
      maxInFlight: config.WEBHOOK_MAX_IN_FLIGHT,
      retryDelaysSec: config.WEBHOOK_RETRY_DELAYS_SEC,
      disableAfterSec: config.WEBHOOK_DISABLE_AFTER_SEC,
      sealingKeys,
      wakeMails,
      dueWatch,
      logger,
      metrics: createOutboxMetrics(registry, WEBHOOK_METRICS),
    }),
  );
  const alerts = createWorker(({ dueWatch }) =>
    startAlertDetector({
      query: createQuery(pools.alertDetector),
      transact: createTransact(pools.alertDetector),
      creditsExpiringDays: config.CREDITS_EXPIRING_DAYS,
      dueWatch,
      onAlerts: () => {
        deliveries.wake();
        wakeMails();
      },
      logger,
      metrics: createAlertMetrics(registry),
    }),
  );
  return {
    needs: {
      webhookSettings: {
        urlRules: { allowHttp: config.WEBHOOK_ALLOW_HTTP, allowPrivateAddresses },
        sealingKeys,
        maxWebhooksPerAccount: config.MAX_WEBHOOKS_PER_ACCOUNT,
      },
      wakeWebhooks: deliveries.wake,
    },
    workers: [deliveries, alerts],
  };
}
