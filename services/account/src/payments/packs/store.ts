import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import type { Page } from '../../http/input/page.ts';

export type Pack = {
  pack_id: number;
  key: string;
  name: string;
  points: number;
  currency: string;
  /** In Stripe's minor unit. */
  unit_amount: number;
  tax_behavior: 'exclusive' | 'inclusive';
  /** Null: its points never expire. */
  expires_after_days: number | null;
  stripe_price_id: string | null;
  withdrawn_at: Date | null;
  created_at: Date;
};

export type NewPack = Pick<
  Pack,
  'name' | 'points' | 'currency' | 'unit_amount' | 'tax_behavior' | 'expires_after_days'
>;

const COLUMNS = `pack_id, key, name, points, currency, unit_amount, tax_behavior, expires_after_days, stripe_price_id,
  withdrawn_at, created_at`;

export async function insertPack(query: Query, made: NewPack): Promise<Pack> {
  const rows = await query<Pack>(
    `INSERT INTO packs (name, points, currency, unit_amount, tax_behavior, expires_after_days)
     VALUES (:name, :points, :currency, :unit_amount, :tax_behavior, :expires_after_days) RETURNING ${COLUMNS}`,
    made,
  );
  return singleRow(rows);
}

/** On sale, the smallest first. */
export function listOfferedPacks(query: Query): Promise<Pack[]> {
  return query<Pack>(
    `SELECT ${COLUMNS} FROM packs WHERE withdrawn_at IS NULL ORDER BY points, pack_id LIMIT 100`,
  );
}

export function listPacks(query: Query, { limit, before }: Page): Promise<Pack[]> {
  return query<Pack>(
    `SELECT ${COLUMNS} FROM packs WHERE pack_id < :before ORDER BY pack_id DESC LIMIT :limit`,
    { limit, before },
  );
}

/** A purchase of it waits for a withdrawal, and the reverse. */
export async function lockPack(
  query: Query,
  packId: number,
  strength: 'SHARE' | 'UPDATE',
): Promise<Pack | undefined> {
  const rows = await query<Pack>(`SELECT ${COLUMNS} FROM packs WHERE pack_id = :packId FOR ${strength}`, {
    packId,
  });
  return rows[0];
}

export async function withdraw(query: Query, packId: number): Promise<Pack> {
  const rows = await query<Pack>(
    `UPDATE packs SET withdrawn_at = now() WHERE pack_id = :packId RETURNING ${COLUMNS}`,
    { packId },
  );
  return singleRow(rows);
}

export async function setPrice(query: Query, packId: number, priceId: string): Promise<void> {
  await query('UPDATE packs SET stripe_price_id = :priceId WHERE pack_id = :packId', { packId, priceId });
}
