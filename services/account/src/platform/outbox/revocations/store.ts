import type { ClientChange } from '@tollgate/contracts/revocation';
import { singleRow } from '../../database/single-row.ts';
import type { Query } from '../../database/query.ts';
import { msFromNow } from '../leased-rows.ts';
import type { OutboxTable } from '../leased-rows.ts';

/** A change that auth and those who keep introspections are to be told of. */
export type PendingRevocation = {
  outbox_id: number;
  client_id: string;
  revocation_epoch: number;
  /** What it has ended; null in rows of the version before. */
  change: ClientChange['change'] | null;
  /** Of a change of one token. */
  token_hash: string | null;
  /** Failed ones. */
  attempts: number;
};

/** For so long a new row is left to the process that made it, which delivers it right after its commit. */
const HEAD_START_MS = 500;

const COLUMNS = 'outbox_id, client_id, revocation_epoch, change, token_hash, attempts';

export const REVOCATION_OUTBOX: OutboxTable = {
  table: 'revocation_outbox',
  id: 'outbox_id',
  columns: COLUMNS,
};

type ChangedClient = { client_id: string; application_id: number; revocation_epoch: number };

/** Writes that auth is to be told. `query` is that of the transaction which changes the application. */
export async function enqueueRevocation(
  query: Query,
  { client_id, application_id, revocation_epoch }: ChangedClient,
  ended: ClientChange = { change: 'application' },
): Promise<PendingRevocation> {
  const token_hash = ended.change === 'token' ? ended.token_hash : null;
  const rows = await query<PendingRevocation>(
    `INSERT INTO revocation_outbox
       (client_id, application_id, revocation_epoch, change, token_hash, next_attempt_at, publish_after)
     VALUES (:client_id, :application_id, :revocation_epoch, :change, :token_hash,
       ${msFromNow('headStartMs')}, ${msFromNow('headStartMs')}) RETURNING ${COLUMNS}`,
    {
      client_id,
      application_id,
      revocation_epoch,
      change: ended.change,
      token_hash,
      headStartMs: HEAD_START_MS,
    },
  );
  return singleRow(rows);
}

/** What a row says has ended; null where that isn't known. */
export function changeOf({ change, token_hash }: PendingRevocation): ClientChange | null {
  if (change === 'token') return token_hash === null ? null : { change, token_hash };
  return change === null ? null : { change };
}

/** Takes rows that are to be published, for the first time or again; any number of replicas may ask at once. */
export function claimUnpublished(
  query: Query,
  { limit, republishMs }: { limit: number; republishMs: number },
): Promise<PendingRevocation[]> {
  return query<PendingRevocation>(
    `UPDATE revocation_outbox SET publish_after = ${msFromNow('republishMs')}
     WHERE outbox_id IN (
       SELECT outbox_id FROM revocation_outbox
       WHERE publish_after IS NULL OR publish_after <= clock_timestamp()
       ORDER BY outbox_id LIMIT :limit FOR UPDATE SKIP LOCKED
     ) RETURNING ${COLUMNS}`,
    { limit, republishMs },
  );
}

/** Whether a row is still there, which means that nobody has delivered it. */
export async function isPending(query: Query, outboxId: number): Promise<boolean> {
  const rows = await query('SELECT 1 FROM revocation_outbox WHERE outbox_id = :outboxId', { outboxId });
  return rows.length > 0;
}
