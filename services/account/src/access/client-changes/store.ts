import { clientChangeSchema } from '@tollgate/contracts/client-change';
import type { ClientChange } from '@tollgate/contracts/client-change';
import { singleRow } from '../../platform/database/single-row.ts';
import type { Query } from '../../platform/database/query.ts';
import { msFromNow } from '../../platform/outbox/leased-rows.ts';
import type { OutboxTable } from '../../platform/outbox/leased-rows.ts';

/** A client's change that auth and every cache of introspections must learn of. */
export type PendingClientChange = {
  outbox_id: number;
  client_id: string;
  revocation_epoch: number;
  change: ClientChange['change'];
  /** Of the one token that ended; null unless `change` is token. */
  token_hash: string | null;
  attempts: number;
};

/** The process that commits a row delivers it; others leave it alone for so long. */
const HEAD_START_MS = 500;

const COLUMNS = 'outbox_id, client_id, revocation_epoch, change, token_hash, attempts';

export const CLIENT_CHANGE_OUTBOX: OutboxTable = {
  table: 'client_change_outbox',
  id: 'outbox_id',
  columns: COLUMNS,
};

/** Whether there is a row. */
export const CLIENT_CHANGES_PENDING = 'EXISTS (SELECT FROM client_change_outbox)';

type ChangedClient = { client_id: string; application_id: number; revocation_epoch: number };

export type NewClientChange = PendingClientChange & { endsTokens: boolean };

/** `query` is the changing transaction's. The epoch tells every receiver which tokens are dead. */
export async function enqueueClientChange(
  query: Query,
  { client_id, application_id, revocation_epoch }: ChangedClient,
  { endsTokens, tokenHash }: { endsTokens: boolean; tokenHash?: string },
): Promise<NewClientChange> {
  const change: ClientChange['change'] = tokenHash === undefined ? 'application' : 'token';
  const rows = await query<PendingClientChange>(
    `INSERT INTO client_change_outbox
       (client_id, application_id, revocation_epoch, change, token_hash, next_attempt_at, publish_after)
     VALUES (:client_id, :application_id, :revocation_epoch, :change, :tokenHash,
       ${msFromNow('headStartMs')}, ${msFromNow('headStartMs')}) RETURNING ${COLUMNS}`,
    {
      client_id,
      application_id,
      revocation_epoch,
      change,
      tokenHash: tokenHash ?? null,
      headStartMs: HEAD_START_MS,
    },
  );
  return { ...singleRow(rows), endsTokens };
}

/** The row as auth and the gateways are told it. */
export function changeOf({
  client_id,
  revocation_epoch,
  change,
  token_hash,
}: PendingClientChange): ClientChange {
  const common = { client_id, revocation_epoch, source: 'account' };
  return clientChangeSchema.parse(
    change === 'token' ? { change, token_hash, ...common } : { change, ...common },
  );
}

/** Takes rows that are to be published, for the first time or again. Safe for concurrent replicas. */
export function claimUnpublished(
  query: Query,
  { limit, republishMs }: { limit: number; republishMs: number },
): Promise<PendingClientChange[]> {
  return query<PendingClientChange>(
    `UPDATE client_change_outbox SET publish_after = ${msFromNow('republishMs')}
     WHERE outbox_id IN (
       SELECT outbox_id FROM client_change_outbox
       WHERE publish_after <= clock_timestamp()
       ORDER BY outbox_id LIMIT :limit FOR UPDATE SKIP LOCKED
     ) RETURNING ${COLUMNS}`,
    { limit, republishMs },
  );
}

/** Whether auth has yet to acknowledge the row. */
export async function isPending(query: Query, outboxId: number): Promise<boolean> {
  const rows = await query('SELECT 1 FROM client_change_outbox WHERE outbox_id = :outboxId', { outboxId });
  return rows.length > 0;
}
