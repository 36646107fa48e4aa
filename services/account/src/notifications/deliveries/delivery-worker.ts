import type { Agent } from 'undici';
import type { Logger } from '@tollgate/log';
import type { Query, Transact } from '../../platform/database/query.ts';
import type { OutboxMetrics } from '../../platform/outbox/metrics.ts';
import { startOutboxWorker } from '../../platform/outbox/outbox-worker.ts';
import type { Attempt } from '../../platform/outbox/outbox-worker.ts';
import type { DueWatch } from '../../platform/background/due-watch.ts';
import type { SealingKey } from '../../platform/sealing/sealing.ts';
import type { RetryRules } from './delivery-rules.ts';
import {
  DELIVERIES_PENDING,
  claimWebhooks,
  nextDelivery,
  observeDeliveries,
  releaseWebhook,
} from './stores/lease-store.ts';
import type { DueDelivery, LeasedWebhook } from './stores/lease-store.ts';
import { recordOutcome } from './stores/outcome-store.ts';
import { signedHeaders } from '../secrets/secret.ts';
import { send } from './send.ts';
import type { Outcome } from './send.ts';
import { liveSecrets } from '../secrets/secret-store.ts';

/** On a pool of its own, so that neither requests nor usage counting wait for webhooks. */
export type DeliveryOptions = RetryRules & {
  query: Query;
  transact: Transact;
  agent: Agent;
  /** From the DNS look-up to the last byte. */
  attemptTimeoutMs: number;
  /** Webhooks per process. */
  maxInFlight: number;
  sealingKeys: readonly SealingKey[];
  wakeMails: () => void;
  dueWatch: DueWatch;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  metrics: OutboxMetrics;
};

/** Aborted when the process ends: attempts under way are left to other replicas. */
type Delivering = DeliveryOptions & { stopping: AbortSignal };

export type DeliveryWorker = { wake: () => void; close: () => Promise<void> };

/** A lease outlasts its attempt and the statements around it. */
const LEASE_MARGIN_MS = 5_000;

/** `maxInFlight` divided by this is for webhooks that aren't quick. */
const SLOW_PART = 2;

/** A lane's slots divided by this are the most that one account gets. */
const ACCOUNT_PART = 2;

/**
 * One message at a time per webhook, and accounts take turns. Webhooks that are new, slow or failing have slots of
 * their own, so that hanging servers only hold up each other (docs/design/deliveries.md). After a crash the leases
 * expire, and unrecorded messages are sent again with the same id.
 */
export function startDeliveryWorker(options: DeliveryOptions): DeliveryWorker {
  const { maxInFlight } = options;
  const stopping = new AbortController();
  const delivering = { ...options, stopping: stopping.signal };
  const quickLane = startLane(delivering, { quick: true, maxInFlight }, () => undefined);
  // A webhook may be quick from then on, and the quick lane observes the backlog of both.
  const slowLane = startLane(
    delivering,
    { quick: false, maxInFlight: Math.ceil(maxInFlight / SLOW_PART) },
    quickLane.wake,
  );
  const lanes = [quickLane, slowLane];
  return {
    wake: () => {
      for (const lane of lanes) lane.wake();
    },
    close: async () => {
      stopping.abort();
      await Promise.all(lanes.map((lane) => lane.close()));
      await options.agent.destroy();
    },
  };
}

function startLane(
  options: Delivering,
  lane: { quick: boolean; maxInFlight: number },
  onAttempted: () => void,
) {
  const { query, attemptTimeoutMs, metrics, logger } = options;
  const { quick, maxInFlight } = lane;
  const perAccount = Math.ceil(maxInFlight / ACCOUNT_PART);
  return startOutboxWorker<LeasedWebhook>({
    name: quick ? 'webhook' : 'webhook (slow)',
    idOf: ({ webhook_id }) => webhook_id,
    claim: (limit, except) =>
      claimWebhooks(query, {
        quick,
        limit,
        perAccount,
        leaseMs: attemptTimeoutMs + LEASE_MARGIN_MS,
        except,
      }),
    ...(quick && { observe: () => observeDeliveries(query, metrics) }),
    attempt: (webhook) => attemptNext(options, webhook).finally(onAttempted),
    maxInFlight,
    due: { dueWatch: options.dueWatch, condition: DELIVERIES_PENDING },
    logger,
  });
}

/** Never throws. */
async function attemptNext(options: Delivering, webhook: LeasedWebhook): Promise<Attempt> {
  const { query, transact, metrics, logger, wakeMails, stopping } = options;
  const { webhook_id } = webhook;
  try {
    const delivery = await nextDelivery(query, webhook_id);
    if (delivery === undefined) {
      await releaseWebhook(query, webhook_id);
      return { delivered: true };
    }
    const beganMs = performance.now();
    const outcome = await attempt(options, webhook, delivery);
    const heldMs = performance.now() - beganMs;
    if (stopping.aborted && outcome.error !== null) {
      await releaseWebhook(query, webhook_id);
      return { delivered: true };
    }
    const recorded = await transact((inside) => recordOutcome(inside, delivery, outcome, heldMs, options));
    metrics.deliveries.inc({ outcome: recorded.status === 'pending' ? 'retried' : recorded.status });
    if (recorded.disabled !== null) {
      logger.warn({ webhook_id, reason: recorded.disabled }, 'a webhook was disabled');
      wakeMails();
    }
  } catch (error) {
    // The lease expires, and the next one sends the message again.
    logger.warn({ err: error, webhook_id }, 'what came of a delivery could not be written down');
    return { delivered: true };
  }
  return { delivered: false, retryInMs: 0 };
}

async function attempt(
  { query, sealingKeys, agent, attemptTimeoutMs, stopping, logger }: Delivering,
  { webhook_id, url }: LeasedWebhook,
  delivery: DueDelivery,
): Promise<Outcome> {
  let secrets: string[];
  try {
    secrets = await liveSecrets(query, webhook_id, sealingKeys);
  } catch (error) {
    logger.error({ err: error, webhook_id }, 'the secret of a webhook could not be decrypted');
    return {
      response_status: null,
      duration_ms: null,
      error: 'secret_unavailable',
      retry_after_sec: null,
    };
  }
  const headers = signedHeaders(delivery, secrets, new Date());
  return send({ agent, attemptTimeoutMs, stopping }, { url, headers, payload: delivery.payload });
}

export const WEBHOOK_METRICS = {
  name: 'tollgate_webhook_outbox',
  pending: 'Pending webhook deliveries',
  deliveries: 'Webhook deliveries attempted by this process, by outcome: delivered, retried or failed',
};
