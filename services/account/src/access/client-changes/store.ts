import type { ClientChange } from '@tollgate/contracts/revocation';
import { singleRow } from '../../platform/database/single-row.ts';
import type { Query } from '../../platform/database/query.ts';
import { msFromNow } from '../../platform/outbox/leased-rows.ts';
import type { OutboxTable } from '../../platform/outbox/leased-rows.ts';

/** A client's change that auth and every cache of introspections must learn of. */
export type PendingClientChange = {
  outbox_id: number;
  client_id: string;
  revocation_epoch: number;
  /** Null in rows of the version before. */
  change: ClientChange['change'] | null;
  /** Of the one token that ended. */
  token_hash: string | null;
  attempts: number;
};

/** The process that commits a row delivers it; others leave it alone for so long. */
const HEAD_START_MS = 500;

const COLUMNS = 'outbox_id, client_id, revocation_epoch, change, token_hash, attempts';

export const REVOCATION_OUTBOX: OutboxTable = {
  table: 'revocation_outbox',
  id: 'outbox_id',
  columns: COLUMNS,
};

/** Whether there is a row. */
export const REVOCATIONS_PENDING = 'EXISTS (SELECT FROM revocation_outbox)';

type ChangedClient = { client_id: string; application_id: number; revocation_epoch: number };

/**
 * What happened. `record`: the name, the secrets or the lifespan changed, or there is a new manual token; no token
 * ended. `revoked`: the epoch was raised. `token_revoked`: one manual token ended.
 */
type ClientEvent =
  { change: 'record' } | { change: 'revoked' } | { change: 'token_revoked'; token_hash: string };

export type NewClientChange = PendingClientChange & { endsTokens: boolean };

/** `query` is the changing transaction's. A message's epoch tells every receiver which tokens are dead. */
export async function enqueueClientChange(
  query: Query,
  { client_id, application_id, revocation_epoch }: ChangedClient,
  event: ClientEvent,
): Promise<NewClientChange> {
  const ended: ClientChange =
    event.change === 'token_revoked'
      ? { change: 'token', token_hash: event.token_hash }
      : { change: 'application' };
  const rows = await query<PendingClientChange>(
    `INSERT INTO revocation_outbox
       (client_id, application_id, revocation_epoch, change, token_hash, next_attempt_at, publish_after)
     VALUES (:client_id, :application_id, :revocation_epoch, :change, :token_hash,
       ${msFromNow('headStartMs')}, ${msFromNow('headStartMs')}) RETURNING ${COLUMNS}`,
    {
      client_id,
      application_id,
      revocation_epoch,
      change: ended.change,
      token_hash: ended.change === 'token' ? ended.token_hash : null,
      headStartMs: HEAD_START_MS,
    },
  );
  return { ...singleRow(rows), endsTokens: event.change !== 'record' };
}

/** The row's change as auth is told it; null where it isn't known. */
export function changeOf({ change, token_hash }: PendingClientChange): ClientChange | null {
  if (change === 'token') return token_hash === null ? null : { change, token_hash };
  return change === null ? null : { change };
}

/** Takes rows that are to be published, for the first time or again. Safe for concurrent replicas. */
export function claimUnpublished(
  query: Query,
  { limit, republishMs }: { limit: number; republishMs: number },
): Promise<PendingClientChange[]> {
  return query<PendingClientChange>(
    `UPDATE revocation_outbox SET publish_after = ${msFromNow('republishMs')}
     WHERE outbox_id IN (
       SELECT outbox_id FROM revocation_outbox
       WHERE publish_after IS NULL OR publish_after <= clock_timestamp()
       ORDER BY outbox_id LIMIT :limit FOR UPDATE SKIP LOCKED
     ) RETURNING ${COLUMNS}`,
    { limit, republishMs },
  );
}

/** Whether auth has yet to acknowledge the row. */
export async function isPending(query: Query, outboxId: number): Promise<boolean> {
  const rows = await query('SELECT 1 FROM revocation_outbox WHERE outbox_id = :outboxId', { outboxId });
  return rows.length > 0;
}
