import type { DueWatch } from '../../platform/background/due-watch.ts';
import type { Transact } from '../../platform/database/query.ts';
import { startOutboxWorker } from '../../platform/outbox/outbox-worker.ts';
import { repeated } from '../../platform/outbox/repeated.ts';
import { RETRY_WAITS } from '../retry-waits.ts';
import { HANDLERS } from './handlers.ts';
import type { HandlerNeeds } from './handlers.ts';
import type { EventMetrics } from './metrics.ts';
import { claimEvents, markHandled, postponeEvent } from './store.ts';
import type { Outcome, StoredEvent } from './store.ts';

const MAX_IN_FLIGHT = 4;

/** Longer than an event's requests with their second attempts and the transaction. */
const LEASE_MS = 30_000;

/**
 * What isn't known then, such as a purchase that a restored database has forgotten, no event brings any more; reconciling
 * since the backup does.
 */
const UNKNOWN_MAX_MS = 7 * 86_400_000;

export type EventWorkerOptions = HandlerNeeds & {
  transact: Transact;
  dueWatch: DueWatch;
  metrics: EventMetrics;
};

/** Handles stored events. Their objects are read again, so that order and repetitions don't matter. */
export function startEventWorker(options: EventWorkerOptions): {
  wake: () => void;
  close: () => Promise<void>;
} {
  const { query, transact, dueWatch, metrics, logger } = options;
  return startOutboxWorker<StoredEvent>({
    name: 'payment events',
    idOf: ({ payment_event_id }) => payment_event_id,
    claim: (limit) => claimEvents(transact, { limit, leaseMs: LEASE_MS }),
    attempt: repeated({
      work: async (event) => {
        const outcome = await handle(options, event);
        metrics.events.inc({ type: event.type, outcome });
      },
      waits: RETRY_WAITS,
      postpone: ({ payment_event_id }, ms) => postponeEvent(query, payment_event_id, ms),
      onFailed: ({ type }) => {
        metrics.events.inc({ type, outcome: 'postponed' });
      },
      message: 'payment event not handled; will retry',
      describe: ({ payment_event_id, type }, err) => ({ err, payment_event_id, type }),
      logger,
    }),
    maxInFlight: MAX_IN_FLIGHT,
    due: { dueWatch, condition: 'EXISTS (SELECT FROM payment_events WHERE next_attempt_at IS NOT NULL)' },
    logger,
  });
}

async function handle(options: EventWorkerOptions, event: StoredEvent): Promise<Outcome> {
  const { payment_event_id, type, object_id } = event;
  const handler = HANDLERS[type];
  if (handler === undefined) {
    await markHandled(options.query, payment_event_id, 'ignored');
    return 'ignored';
  }
  const apply = await handler(options, object_id);
  if (apply === undefined) {
    if (Date.now() - event.created_at.getTime() < UNKNOWN_MAX_MS) {
      throw new Error(`the object ${object_id} is not known yet`);
    }
    options.logger.error(
      { payment_event_id, type, object_id },
      'payment event of an unknown object is given up',
    );
    await markHandled(options.query, payment_event_id, 'ignored');
    return 'ignored';
  }
  return options.transact(async (inside) => {
    const { outcome } = await apply(inside);
    await markHandled(inside, payment_event_id, outcome);
    return outcome;
  });
}
