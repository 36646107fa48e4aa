import { onlyRow } from '../database/only-row.ts';
import type { Query } from '../database/query.ts';

/** A change that auth is to be told of. */
export type PendingRevocation = {
  outbox_id: number;
  client_id: string;
  revocation_epoch: number;
  /** Failed ones. */
  attempts: number;
};

/** For so long a new row is left to the process that made it, which delivers it right after its commit. */
const HEAD_START_MS = 500;

const COLUMNS = 'outbox_id, client_id, revocation_epoch, attempts';

/** Postgres' clock, which all replicas share. */
const IN_MS = (name: string) => `clock_timestamp() + :${name} * interval '1 millisecond'`;

/** Writes that auth is to be told. `query` is that of the transaction which changes the application. */
export async function enqueueRevocation(
  query: Query,
  change: { client_id: string; application_id: number; revocation_epoch: number },
): Promise<PendingRevocation> {
  const rows = await query<PendingRevocation>(
    `INSERT INTO revocation_outbox (client_id, application_id, revocation_epoch, next_attempt_at)
     VALUES (:client_id, :application_id, :revocation_epoch, ${IN_MS('headStartMs')}) RETURNING ${COLUMNS}`,
    { ...change, headStartMs: HEAD_START_MS },
  );
  return onlyRow(rows);
}

/** Takes rows that are due, oldest first, for as long as a lease; any number of replicas may ask at once. */
export function claimDue(
  query: Query,
  { limit, leaseMs, except }: { limit: number; leaseMs: number; except: readonly number[] },
): Promise<PendingRevocation[]> {
  return query<PendingRevocation>(
    `UPDATE revocation_outbox SET next_attempt_at = ${IN_MS('leaseMs')}
     WHERE outbox_id IN (
       SELECT outbox_id FROM revocation_outbox
       WHERE next_attempt_at <= clock_timestamp() AND outbox_id <> ALL (CAST(:except AS bigint[]))
       ORDER BY next_attempt_at LIMIT :limit FOR UPDATE SKIP LOCKED
     ) RETURNING ${COLUMNS}`,
    { limit, leaseMs, except: [...except] },
  );
}

export async function removeDelivered(query: Query, outboxId: number): Promise<void> {
  await query('DELETE FROM revocation_outbox WHERE outbox_id = :outboxId', { outboxId });
}

export async function postpone(query: Query, outboxId: number, backoffMs: number): Promise<void> {
  await query(
    `UPDATE revocation_outbox SET attempts = attempts + 1, next_attempt_at = ${IN_MS('backoffMs')}
     WHERE outbox_id = :outboxId`,
    { outboxId, backoffMs },
  );
}

/** Whether a row is still there, which means that nobody has delivered it. */
export async function isPending(query: Query, outboxId: number): Promise<boolean> {
  const rows = await query('SELECT 1 FROM revocation_outbox WHERE outbox_id = :outboxId', { outboxId });
  return rows.length > 0;
}

/** How much waits, and for how long the oldest has. */
export async function backlog(query: Query): Promise<{ pending: number; oldest_age_sec: number }> {
  const rows = await query<{ pending: number; oldest_age_sec: number }>(
    `SELECT count(*) AS pending,
            CAST(coalesce(greatest(0, extract(epoch FROM clock_timestamp() - min(created_at))), 0) AS float8)
              AS oldest_age_sec
     FROM revocation_outbox`,
  );
  return onlyRow(rows);
}
