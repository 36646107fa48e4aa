import { z } from 'zod';
import { AUDIT_ACTIONS } from '@tollgate/contracts/audit-actions';
import { id, instant, ipAddress } from '../http/answer-fields.ts';
import { fromField, toField } from '../http/input/time-range.ts';
import type { AuditEntry } from '../platform/audit/audit-log.ts';
import type { Change } from '../platform/audit/change.ts';
import type { Query } from '../platform/database/query.ts';
import { singleRow } from '../platform/database/single-row.ts';

/** The audit log, as operators read it: who, what, when, from where, and of operators' changes why. */

export type Logged = Pick<
  AuditEntry,
  'actor' | 'action' | 'application_id' | 'account_id' | 'request_id' | 'details'
> &
  Change & {
    audit_id: number;
    at: Date;
    /** Null for those who may not see addresses. */
    address: string | null;
  };

export const loggedSchema = z
  .object({
    audit_id: id,
    at: instant,
    actor: z.string(),
    action: z.enum(AUDIT_ACTIONS),
    application_id: id.nullable(),
    account_id: id.nullable().meta({ description: 'Null for plans and products.' }),
    address: ipAddress,
    request_id: z.string(),
    details: z
      .record(z.string(), z.unknown())
      .meta({ description: 'What it is about; `operator_reason` is what an operator gave as the reason.' }),
    before: z.record(z.string(), z.unknown()).nullable().meta({
      description:
        'Of a change: the fields that changed, as they were. Null for what was created. Never has a secret.',
    }),
    after: z.record(z.string(), z.unknown()).nullable().meta({
      description: 'Of a change: the same fields, as they are since. Null for what was deleted.',
    }),
  })
  .meta({ id: 'AuditEntry' });

/** Filters that are the same in a query and in a body. */
export const filterFields = {
  actor: z.string('must be text').min(1, 'must not be empty').max(300, 'is too long').optional(),
  action: z.enum(AUDIT_ACTIONS, `must be one of ${AUDIT_ACTIONS.toSorted().join(', ')}`).optional(),
  from: fromField('Start of the range, inclusive.'),
  to: toField('End of the range, exclusive; a date includes its whole day.'),
};

const CONDITIONS = {
  account_id: 'account_id = :account_id',
  application_id: 'application_id = :application_id',
  actor: 'actor = :actor',
  action: 'action = :action',
  from: 'at >= :from',
  to: 'at < :to',
} as const;

/** All of them must hold. */
export type AuditFilters = { [Name in keyof typeof CONDITIONS]?: string | number | Date | undefined };

function conditionsOf(filters: AuditFilters): string[] {
  const asked = (Object.keys(CONDITIONS) as (keyof AuditFilters)[]).filter(
    (name) => filters[name] !== undefined,
  );
  return asked.map((name) => CONDITIONS[name]);
}

export const COLUMNS =
  'audit_id, at, actor, action, application_id, account_id, address, request_id, details, before, after';

/** Newest first. */
export function findEntries(
  query: Query,
  filters: AuditFilters,
  page: { before: number; limit: number },
): Promise<Logged[]> {
  const conditions = ['audit_id < :before', ...conditionsOf(filters)];
  return query<Logged>(
    `SELECT ${COLUMNS} FROM audit_log WHERE ${conditions.join(' AND ')}
     ORDER BY audit_id DESC LIMIT :limit`,
    { ...filters, ...page },
  );
}

/** Oldest first. */
export function findEntriesAfter(
  query: Query,
  filters: AuditFilters,
  page: { after: number; limit: number },
): Promise<Logged[]> {
  const conditions = ['audit_id > :after', ...conditionsOf(filters)];
  return query<Logged>(
    `SELECT ${COLUMNS} FROM audit_log WHERE ${conditions.join(' AND ')}
     ORDER BY audit_id LIMIT :limit`,
    { ...filters, ...page },
  );
}

/** How many entries there are, and the ids of the oldest and the newest; null without any. */
export type Extent = { entries: number; first_audit_id: number | null; last_audit_id: number | null };

export async function findExtent(query: Query, filters: AuditFilters): Promise<Extent> {
  const conditions = ['true', ...conditionsOf(filters)];
  return singleRow(
    await query<Extent>(
      `SELECT count(*) AS entries, min(audit_id) AS first_audit_id, max(audit_id) AS last_audit_id
       FROM audit_log WHERE ${conditions.join(' AND ')}`,
      filters,
    ),
  );
}
