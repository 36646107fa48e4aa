import { Problem } from '@tollgate/http/problem';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import type { Query } from '../../platform/database/query.ts';
import { insertPack, lockPack, withdraw } from './store.ts';
import type { NewPack, Pack } from './store.ts';

const CREATED = [
  'pack_id',
  'key',
  'name',
  'points',
  'currency',
  'unit_amount',
  'tax_behavior',
  'expires_after_days',
] as const;

const NOBODYS = { application_id: null, account_id: null };

export async function createPack(query: Query, wanted: NewPack, by: Actor): Promise<Pack> {
  const made = await insertPack(query, wanted);
  const { pack_id, name, points, currency, unit_amount } = made;
  const details = { pack_id, name, points, currency, unit_amount };
  const change = changeOf(CREATED, null, made);
  await recordAudit(query, { ...by, ...NOBODYS, action: 'pack_created', details, change });
  return made;
}

/** @throws {Problem} not_found */
export async function withdrawPack(query: Query, packId: number, by: Actor): Promise<Pack> {
  const pack = await lockPack(query, packId, 'UPDATE');
  if (pack === undefined) throw new Problem('not_found');
  if (pack.withdrawn_at !== null) return pack;
  const withdrawn = await withdraw(query, packId);
  const entry = { ...by, ...NOBODYS, details: { pack_id: packId } };
  const change = changeOf(['withdrawn_at'], pack, withdrawn);
  await recordAudit(query, { ...entry, action: 'pack_withdrawn', change });
  return withdrawn;
}
