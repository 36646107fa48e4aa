import type { Query, Transact } from '../../platform/database/query.ts';
import { msFromNow } from '../../platform/outbox/leased-rows.ts';
import type { PaymentEvent } from '../provider.ts';

export type StoredEvent = {
  payment_event_id: number;
  type: string;
  object_id: string;
  attempts: number;
  created_at: Date;
};

export type Outcome = 'applied' | 'ignored' | 'foreign';

/** False if it was stored before. */
export async function storeEvent(query: Query, event: PaymentEvent, body: Buffer): Promise<boolean> {
  const { id, type, object_id, isForeign } = event;
  const rows = await query(
    `INSERT INTO payment_events (stripe_event_id, type, object_id, body, outcome, handled_at, next_attempt_at)
     VALUES (:id, :type, :object_id, decode(:body, 'base64'), CAST(:outcome AS text),
       CASE WHEN CAST(:outcome AS text) IS NOT NULL THEN now() END,
       CASE WHEN CAST(:outcome AS text) IS NULL THEN now() END)
     ON CONFLICT (stripe_event_id) DO NOTHING RETURNING payment_event_id`,
    { id, type, object_id, body: body.toString('base64'), outcome: isForeign ? 'foreign' : null },
  );
  return rows.length > 0;
}

/** Any constant: claims of all replicas take turns, so that no two get events of one object. */
const CLAIM_LOCK = 7_380_038;

/** Leases due events, oldest first, and of each object one at a time. */
export function claimEvents(
  transact: Transact,
  { limit, leaseMs }: { limit: number; leaseMs: number },
): Promise<StoredEvent[]> {
  return transact(async (query) => {
    await query('SELECT pg_advisory_xact_lock(:lock)', { lock: CLAIM_LOCK });
    return query<StoredEvent>(
      `UPDATE payment_events SET leased_until = ${msFromNow('leaseMs')}, next_attempt_at = ${msFromNow('leaseMs')}
       WHERE payment_event_id IN (
         SELECT payment_event_id FROM (
           SELECT DISTINCT ON (object_id) payment_event_id FROM payment_events AS due
           WHERE next_attempt_at <= clock_timestamp() AND NOT EXISTS (
             SELECT FROM payment_events AS other
             WHERE other.next_attempt_at IS NOT NULL AND other.object_id = due.object_id
               AND other.leased_until > clock_timestamp())
           ORDER BY object_id, payment_event_id
         ) AS first_of_each ORDER BY payment_event_id LIMIT :limit
       ) RETURNING payment_event_id, type, object_id, attempts, created_at`,
      { limit, leaseMs },
    );
  });
}

/** `query` is the transaction's of its effect. */
export async function markHandled(query: Query, eventId: number, outcome: Outcome): Promise<void> {
  await query(
    `UPDATE payment_events SET outcome = :outcome, handled_at = now(), next_attempt_at = NULL, leased_until = NULL
     WHERE payment_event_id = :eventId`,
    { eventId, outcome },
  );
}

export async function postponeEvent(query: Query, eventId: number, backoffMs: number): Promise<void> {
  await query(
    `UPDATE payment_events
     SET attempts = attempts + 1, next_attempt_at = ${msFromNow('backoffMs')}, leased_until = NULL
     WHERE payment_event_id = :eventId`,
    { eventId, backoffMs },
  );
}
