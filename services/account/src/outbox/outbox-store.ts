import { onlyRow } from '../database/only-row.ts';
import type { Query } from '../database/query.ts';
import { IN_MS } from './leased-rows.ts';
import type { OutboxTable } from './leased-rows.ts';

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

export const REVOCATION_OUTBOX: OutboxTable = {
  table: 'revocation_outbox',
  id: 'outbox_id',
  columns: COLUMNS,
};

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

/** Whether a row is still there, which means that nobody has delivered it. */
export async function isPending(query: Query, outboxId: number): Promise<boolean> {
  const rows = await query('SELECT 1 FROM revocation_outbox WHERE outbox_id = :outboxId', { outboxId });
  return rows.length > 0;
}
