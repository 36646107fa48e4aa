import type { DueWatch } from '../../platform/background/due-watch.ts';
import type { Transact } from '../../platform/database/query.ts';
import { isAttemptToLog, startOutboxWorker } from '../../platform/outbox/outbox-worker.ts';
import type { Attempt } from '../../platform/outbox/outbox-worker.ts';
import { HANDLERS } from './handlers.ts';
import type { HandlerNeeds } from './handlers.ts';
import type { EventMetrics } from './metrics.ts';
import { claimEvents, markHandled, postponeEvent } from './store.ts';
import type { Outcome, StoredEvent } from './store.ts';

const MAX_IN_FLIGHT = 4;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 600_000;

/** Longer than an event's requests with their second attempts and the transaction. */
const LEASE_MS = 30_000;

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
  const { transact, dueWatch, logger } = options;
  return startOutboxWorker<StoredEvent>({
    name: 'payment events',
    idOf: ({ payment_event_id }) => payment_event_id,
    claim: (limit) => (limit > 0 ? claimEvents(transact, { limit, leaseMs: LEASE_MS }) : Promise.resolve([])),
    attempt: (event) => attemptEvent(options, event),
    maxInFlight: MAX_IN_FLIGHT,
    due: { dueWatch, condition: 'EXISTS (SELECT FROM payment_events WHERE next_attempt_at IS NOT NULL)' },
    logger,
  });
}

async function attemptEvent(options: EventWorkerOptions, event: StoredEvent): Promise<Attempt> {
  const { query, logger, metrics } = options;
  const { payment_event_id, type, attempts } = event;
  try {
    const outcome = await handle(options, event);
    metrics.events.inc({ type, outcome });
    return { delivered: true };
  } catch (error) {
    metrics.events.inc({ type, outcome: 'postponed' });
    const failure = { err: error, payment_event_id, type, attempts: attempts + 1 };
    if (isAttemptToLog(attempts + 1)) logger.warn(failure, 'payment event not handled; will retry');
    const retryInMs = Math.min(FIRST_RETRY_MS * 2 ** attempts, MAX_RETRY_MS);
    await postponeEvent(query, payment_event_id, retryInMs);
    return { delivered: false, retryInMs };
  }
}

async function handle(options: EventWorkerOptions, event: StoredEvent): Promise<Outcome> {
  const { payment_event_id, type, object_id } = event;
  const handler = HANDLERS[type];
  if (handler === undefined) {
    await markHandled(options.query, payment_event_id, 'ignored');
    return 'ignored';
  }
  const apply = await handler(options, object_id);
  if (apply === undefined) throw new Error(`the object ${object_id} is not known yet`);
  return options.transact(async (inside) => {
    const { outcome } = await apply(inside);
    await markHandled(inside, payment_event_id, outcome);
    return outcome;
  });
}
