import type { Query } from '../../platform/database/query.ts';
import type { AttemptError } from './delivery-errors.ts';

/** Each attempt of a delivery, in Postgres. */

type Times = {
  /** When it came to an end. */
  attempted_at: Date;
  /** When the next one was to come, as planned after this one; null where none was. */
  next_attempt_at: Date | null;
};

export type DeliveryAttempt = Times & {
  /** From 1 on. */
  attempt: number;
  response_status: number | null;
  duration_ms: number | null;
  error: AttemptError | null;
};

/** An attempt as Postgres writes it into JSON: times are text. */
export type JsonAttempt = Omit<DeliveryAttempt, keyof Times> & {
  attempted_at: string;
  next_attempt_at: string | null;
};

/** The newest ones of a delivery; more than a schedule may have, so that what goes was asked for by hand. */
export const KEPT_ATTEMPTS = 30;

/** A column of a row of `webhook_deliveries`: its attempts, newest first, of the same moment as the row. */
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

/**
 * Keeps the last attempt of a delivery, whose row has it already, and lets go of the oldest. `query` is that of the
 * transaction which holds the webhook, so that attempts come one after the other.
 */
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
