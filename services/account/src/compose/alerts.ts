import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import { createAlertMetrics, startAlertDetector } from '../notifications/alerts/detector.ts';
import type { Config } from '../config.ts';
import { openDatabase } from '../platform/database/database.ts';
import type { PostgresServer } from '../platform/database/postgres-server.ts';
import { createQuery, createTransact } from '../platform/database/query.ts';
import { createOutboxMetrics } from '../platform/outbox/metrics.ts';
import type { DueWatch } from '../platform/background/due-watch.ts';
import { createWebhookAgent } from '../notifications/addresses/connector.ts';
import { WEBHOOK_METRICS, startDeliveryWorker } from '../notifications/deliveries/delivery-worker.ts';
import type { WebhookParts } from '../notifications/webhooks/operations.ts';
import { DATABASE_POOLS } from '../platform/database/pools.ts';

export function openAlerts(options: {
  config: Config;
  server: PostgresServer;
  wakeMails: () => void;
  dueWatch: DueWatch;
  logger: Logger;
  registry: Registry;
}): { parts: Pick<WebhookParts, 'webhookSettings' | 'wakeWebhooks'>; close: () => Promise<void> } {
  const { config, server, wakeMails, dueWatch, logger, registry } = options;
  const detectorDatabase = openDatabase({ server, logger, ...DATABASE_POOLS.alertDetector });
  const deliveryDatabase = openDatabase({ server, logger, ...DATABASE_POOLS.webhookDeliveries });
  const allowPrivateAddresses = config.WEBHOOK_ALLOW_PRIVATE_ADDRESSES;
  const deliveries = startDeliveryWorker({
    query: createQuery(deliveryDatabase),
    transact: createTransact(deliveryDatabase),
    agent: createWebhookAgent({
      connectTimeoutMs: config.WEBHOOK_CONNECT_TIMEOUT_MS,
      allowPrivateAddresses,
      dnsServers: config.WEBHOOK_DNS_SERVERS,
    }),
    attemptTimeoutMs: config.WEBHOOK_ATTEMPT_TIMEOUT_MS,
    maxInFlight: config.WEBHOOK_MAX_IN_FLIGHT,
    retryDelaysSec: config.WEBHOOK_RETRY_DELAYS_SEC,
    disableAfterSec: config.WEBHOOK_DISABLE_AFTER_SEC,
    sealingKeys: config.TOKEN_SEALING_KEYS,
    wakeMails,
    dueWatch,
    logger,
    metrics: createOutboxMetrics(registry, WEBHOOK_METRICS),
  });
  const detector = startAlertDetector({
    database: detectorDatabase,
    dueWatch,
    onAlerts: () => {
      deliveries.wake();
      wakeMails();
    },
    logger,
    metrics: createAlertMetrics(registry),
  });
  return {
    parts: {
      webhookSettings: {
        urlRules: { allowHttp: config.WEBHOOK_ALLOW_HTTP, allowPrivateAddresses },
        sealingKeys: config.TOKEN_SEALING_KEYS,
        maxWebhooksPerAccount: config.MAX_WEBHOOKS_PER_ACCOUNT,
      },
      wakeWebhooks: deliveries.wake,
    },
    close: async () => {
      await Promise.all([detector.close(), deliveries.close()]);
      await Promise.all([detectorDatabase.destroy(), deliveryDatabase.destroy()]);
    },
  };
}
