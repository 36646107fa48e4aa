import type { Query } from '../../../platform/database/query.ts';
import type { AttemptError } from '../delivery-errors.ts';

type Times = {
  attempted_at: Date;
  /** As planned after this attempt; null if none was. */
  next_attempt_at: Date | null;
};

export type DeliveryAttempt = Times & {
  /** Starts at 1. */
  attempt: number;
  response_status: number | null;
  duration_ms: number | null;
  error: AttemptError | null;
};

/** Postgres writes times into JSON as text. */
export type JsonAttempt = Omit<DeliveryAttempt, keyof Times> & {
  attempted_at: string;
  next_attempt_at: string | null;
};

/** More than a schedule has, so that only manual retries push attempts out. */
export const KEPT_ATTEMPTS = 30;

/** Newest first, read with the delivery's row. */
export const ATTEMPT_LOG = `(
  SELECT coalesce(json_agg(json_build_object('attempt', attempt, 'attempted_at', attempted_at,
           'response_status', response_status, 'duration_ms', duration_ms, 'error', error,
           'next_attempt_at', next_attempt_at) ORDER BY attempt DESC), '[]')
  FROM webhook_delivery_attempts AS tried WHERE tried.delivery_id = webhook_deliveries.delivery_id
) AS attempt_log`;

export function asAttempt({ attempted_at, next_attempt_at, ...rest }: JsonAttempt): DeliveryAttempt {
  return {
    ...rest,
    attempted_at: new Date(attempted_at),
    next_attempt_at: next_attempt_at === null ? null : new Date(next_attempt_at),
  };
}

/** Deletes the oldest attempt too. The transaction holds the webhook, which serializes attempts. */
export async function keepAttempt(query: Query, deliveryId: number): Promise<void> {
  await query(
    `INSERT INTO webhook_delivery_attempts
       (delivery_id, attempt, attempted_at, response_status, duration_ms, error, next_attempt_at)
     SELECT delivery_id, attempts, attempted_at, response_status, duration_ms, error, next_attempt_at
     FROM webhook_deliveries WHERE delivery_id = :deliveryId`,
    { deliveryId },
  );
  await query(
    `DELETE FROM webhook_delivery_attempts WHERE delivery_id = :deliveryId AND attempt <= (
       SELECT attempts - CAST(:kept AS integer) FROM webhook_deliveries WHERE delivery_id = :deliveryId)`,
    { deliveryId, kept: KEPT_ATTEMPTS },
  );
}
