import type { Query } from '../../platform/database/query.ts';
import type { Page } from '../../http/input/page.ts';
import type { UnassignedRow } from './explain.ts';

const COLUMNS = `unassigned_id, recorded_at, reason, stream, entry_id, event_index, raw, counted_at,
  counted_period_id`;

export type UnassignedFilter = { reason: string | undefined; counted: boolean | undefined };

export function listUnassigned(
  query: Query,
  { reason, counted }: UnassignedFilter,
  { limit, before }: Page,
): Promise<UnassignedRow[]> {
  const wanted = [
    'unassigned_id < :before',
    ...(reason === undefined ? [] : ['reason = :reason']),
    ...(counted === undefined ? [] : [`counted_at IS ${counted ? 'NOT ' : ''}NULL`]),
  ];
  return query<UnassignedRow>(
    `SELECT ${COLUMNS} FROM usage_unassigned WHERE ${wanted.join(' AND ')}
     ORDER BY unassigned_id DESC LIMIT :limit`,
    { reason: reason ?? null, before, limit },
  );
}

export async function findUnassigned(
  query: Query,
  unassignedId: number,
  lock: 'FOR UPDATE' | '' = '',
): Promise<UnassignedRow | undefined> {
  const rows = await query<UnassignedRow>(
    `SELECT ${COLUMNS} FROM usage_unassigned WHERE unassigned_id = :unassignedId ${lock}`,
    { unassignedId },
  );
  return rows[0];
}
