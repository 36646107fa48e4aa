import { Problem } from '@tollgate/http/problem';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import { insertPack, lockPack, withdraw } from './store.ts';
import type { NewPack, Pack } from './store.ts';

const NOBODYS = { application_id: null, account_id: null };

export async function createPack(query: Query, wanted: NewPack, by: Actor): Promise<Pack> {
  const made = await insertPack(query, wanted);
  const { pack_id, name, points, currency, unit_amount } = made;
  const details = { pack_id, name, points, currency, unit_amount };
  await recordAudit(query, { ...by, ...NOBODYS, action: 'pack_created', details });
  return made;
}

/** @throws {Problem} not_found */
export async function withdrawPack(query: Query, packId: number, by: Actor): Promise<Pack> {
  const pack = await lockPack(query, packId, 'UPDATE');
  if (pack === undefined) throw new Problem('not_found');
  if (pack.withdrawn_at !== null) return pack;
  await recordAudit(query, { ...by, ...NOBODYS, action: 'pack_withdrawn', details: { pack_id: packId } });
  return withdraw(query, packId);
}
