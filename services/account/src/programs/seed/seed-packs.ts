import { insertPack } from '../../payments/packs/store.ts';
import type { NewPack } from '../../payments/packs/store.ts';
import type { Query } from '../../platform/database/query.ts';

const PACKS: readonly NewPack[] = [
  { name: '10,000 points', points: 10_000, unit_amount: 500 },
  { name: '100,000 points', points: 100_000, unit_amount: 3_900 },
  { name: '1,000,000 points', points: 1_000_000, unit_amount: 29_900 },
].map((pack) => ({ ...pack, currency: 'eur', tax_behavior: 'exclusive', expires_after_days: 365 }));

/** What the sample installation sells, unless packs were created or withdrawn already. */
export async function seedPacks(query: Query): Promise<void> {
  const [found] = await query('SELECT FROM packs LIMIT 1');
  if (found !== undefined) return;
  for (const pack of PACKS) await insertPack(query, pack);
}
