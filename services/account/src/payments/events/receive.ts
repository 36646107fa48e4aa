import type { RequestHandler } from 'express';
import { MAX_PAYMENT_EVENT_BYTES } from '@tollgate/contracts/payment-events';
import { Problem } from '@tollgate/http/problem';
import { boundedBytes } from '../../http/bounded-bytes.ts';
import type { Query } from '../../platform/database/query.ts';
import type { PaymentProvider } from '../provider.ts';
import type { EventMetrics } from './metrics.ts';
import { storeEvent } from './store.ts';

/**
 * `POST /payments/stripe/events`: 200 once the event is stored, so that Stripe sends again whatever we haven't.
 * @throws {Problem} invalid_request for an invalid signature or timestamp; payload_too_large; service_unavailable
 */
export function receiveEvents(options: {
  query: Query;
  provider: Pick<PaymentProvider, 'readEvent'>;
  /** By the reference clock. */
  nowMs: () => number;
  metrics: EventMetrics;
  onStored: () => void;
}): RequestHandler {
  const { query, provider, nowMs, metrics, onStored } = options;
  return async (req, res) => {
    const signature = req.get('stripe-signature');
    const receivedAtMs = nowMs();
    // As sent: a body that was parsed and written again has another signature.
    const body = await boundedBytes(req, MAX_PAYMENT_EVENT_BYTES, () => new Problem('payload_too_large'));
    const event = signature === undefined ? undefined : provider.readEvent(body, signature, receivedAtMs);
    if (event === undefined) {
      metrics.events.inc({ type: 'unknown', outcome: 'refused' });
      throw new Problem('invalid_request', {
        detail: 'The signature is invalid or its timestamp is outside the tolerance.',
      });
    }
    const isNew = await storeEvent(query, event, body);
    const outcome = isNew ? (event.isForeign ? 'foreign' : 'received') : 'repeated';
    metrics.events.inc({ type: event.type, outcome });
    if (isNew && !event.isForeign) onStored();
    res.json({ received: true });
  };
}
