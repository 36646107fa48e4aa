import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import type { CreditSource } from '../../../src/billing/credits/allocation.ts';
import { singleRow } from '../../../src/platform/database/single-row.ts';
import { secondsFromNow } from './records.ts';

export type GrantChanges = {
  points?: number;
  source?: CreditSource;
  priority?: number;
  effective_at?: Date;
  /** The exact instant within that second. */
  usable_from?: Date;
  expires_at?: Date | null;
  note?: string | null;
  idempotency_key?: string;
};

/** By default 100 points, usable since this second, that don't expire. */
export async function insertGrant(
  database: Knex,
  accountId: number,
  changes: GrantChanges = {},
): Promise<number> {
  const effective_at = changes.effective_at ?? secondsFromNow(0);
  return database.transaction(async (transaction) => {
    const grants = await transaction('credit_grants')
      .insert({
        account_id: accountId,
        points: 100,
        source: 'promotion',
        usable_from: effective_at,
        reporter: 'operator:suite',
        idempotency_key: randomUUID(),
        content_hash: 'h'.repeat(43),
        ...changes,
        effective_at,
      })
      .returning<{ credit_id: number; points: number }[]>(['credit_id', 'points']);
    const { credit_id, points } = singleRow(grants);
    const issued = { from_ledger: 'issued', to_ledger: 'grant', points, reason: 'granted' };
    await insertMovement(transaction, { credit_id, account_id: accountId }, issued);
    return credit_id;
  });
}

export type MovementChanges = {
  from_ledger: string;
  to_ledger: string;
  points: number;
  reason?: string;
  period_id?: number | null;
  corrects_movement_id?: number | null;
  at?: Date;
};

export async function insertMovement(
  database: Knex,
  grant: { credit_id: number; account_id: number },
  movement: MovementChanges,
): Promise<number> {
  const rows = await database('credit_movements')
    .insert({ ...grant, reason: 'suite', at: new Date(), actor: 'operator:suite', ...movement })
    .returning<{ movement_id: number }[]>('movement_id');
  return singleRow(rows).movement_id;
}
