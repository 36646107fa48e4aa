import type { RequestHandler } from 'express';
import { z } from 'zod';
import type { Query } from '../platform/database/query.ts';
import { idQueryField } from '../http/input/fields.ts';
import { cutPage, lookAhead, pageFields, queryOf } from '../http/input/page.ts';
import { fromField, toField } from '../http/input/time-range.ts';
import { AUDIT_ACTIONS } from '../platform/audit/audit-log.ts';
import type { AuditEntry } from '../platform/audit/audit-log.ts';

const textField = z.string('must be text').min(1, 'must not be empty').max(300, 'is too long');

const listSchema = z.strictObject({
  ...pageFields,
  account_id: idQueryField.optional(),
  application_id: idQueryField.optional(),
  actor: textField.optional(),
  action: z.enum(AUDIT_ACTIONS, `must be one of ${AUDIT_ACTIONS.toSorted().join(', ')}`).optional(),
  from: fromField('Start of the range, inclusive.'),
  to: toField('End of the range, exclusive; a date includes its whole day.'),
});

type Logged = AuditEntry & { audit_id: number; at: Date };

const CONDITIONS = {
  account_id: 'account_id = :account_id',
  application_id: 'application_id = :application_id',
  actor: 'actor = :actor',
  action: 'action = :action',
  from: 'at >= :from',
  to: 'at < :to',
} as const;

/**
 * `GET /private/audit-log?account_id=&application_id=&actor=&action=&from=&to=&limit=50&cursor=…` for operators: 200
 * `{entries, next_cursor}`, newest first. An entry is `audit_id, at, actor, action, application_id, account_id,
 * address, request_id, details`. `from` and `to` are RFC 3339 times or dates; `to` is exclusive as a time, inclusive as
 * a date. 400 for an unknown action lists the known ones.
 */
export function auditLogEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const wanted = queryOf(req, listSchema);
    const { limit: _limit, cursor: _cursor, ...filters } = wanted;
    const asked = Object.keys(CONDITIONS).filter((name) => name in filters) as (keyof typeof CONDITIONS)[];
    const conditions = ['audit_id < :before', ...asked.map((name) => CONDITIONS[name])];
    const found = await query<Logged>(
      `SELECT audit_id, at, actor, action, application_id, account_id, address, request_id, details
       FROM audit_log WHERE ${conditions.join(' AND ')} ORDER BY audit_id DESC LIMIT :limit`,
      { ...filters, ...lookAhead(wanted) },
    );
    const { rows, next_cursor } = cutPage(found, wanted, ({ audit_id }) => audit_id);
    res.json({ entries: rows, next_cursor });
  };
}
