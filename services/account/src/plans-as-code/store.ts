import type { Query } from '../platform/database/query.ts';

/** Keys, and which rows files manage. */

const ID = { products: 'product_id', plans: 'plan_id', packs: 'pack_id' } as const;

type Table = keyof typeof ID;

export async function setKey(query: Query, table: Table, id: number, key: string): Promise<void> {
  await query(`UPDATE ${table} SET key = :key, managed = true WHERE ${ID[table]} = :id`, { id, key });
}

export async function setManaged(query: Query, table: Table, ids: readonly number[]): Promise<void> {
  await query(`UPDATE ${table} SET managed = true WHERE ${ID[table]} = ANY(:ids) AND NOT managed`, { ids });
}

/** Names are unique at each moment, and two rows may be about to swap theirs. */
export async function freeNames(
  query: Query,
  table: 'products' | 'plans',
  ids: readonly number[],
): Promise<void> {
  await query(`UPDATE ${table} SET name = gen_random_uuid()::text WHERE ${ID[table]} = ANY(:ids)`, { ids });
}

export async function productIds(query: Query): Promise<Map<string, number>> {
  const rows = await query<{ key: string; product_id: number }>('SELECT key, product_id FROM products');
  return new Map(rows.map(({ key, product_id }) => [key, product_id]));
}
