import type { RequestHandler } from 'express';
import { z } from 'zod';
import type { Query } from '../database/query.ts';
import { idQueryField } from '../input/fields.ts';
import { cutPage, lookAhead, pageFields, queryOf } from '../input/page.ts';
import type { AuditEntry } from './audit-log.ts';

const listSchema = z.strictObject({
  ...pageFields,
  account_id: idQueryField.optional(),
  application_id: idQueryField.optional(),
  actor: z.string('must be text').min(1, 'must not be empty').max(300, 'is too long').optional(),
});

type Logged = AuditEntry & { audit_id: number; at: Date };

/**
 * `GET /private/audit-log?account_id=&application_id=&actor=&limit=50&cursor=…` for operators: 200 `{entries,
 * next_cursor}`, newest first. An entry is `audit_id, at, actor, action, application_id, account_id, address,
 * request_id, details`. What is asked for holds together: an account and an actor are what that actor did to it.
 */
export function auditLogEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const wanted = queryOf(req, listSchema);
    const { limit, before } = lookAhead(wanted);
    const { account_id = null, application_id = null, actor = null } = wanted;
    const asked = Object.entries({ account_id, application_id, actor }).filter(([, value]) => value !== null);
    const conditions = ['audit_id < :before', ...asked.map(([column]) => `${column} = :${column}`)];
    const found = await query<Logged>(
      `SELECT audit_id, at, actor, action, application_id, account_id, address, request_id, details
       FROM audit_log WHERE ${conditions.join(' AND ')} ORDER BY audit_id DESC LIMIT :limit`,
      { account_id, application_id, actor, before, limit },
    );
    const { rows, next_cursor } = cutPage(found, wanted, ({ audit_id }) => audit_id);
    res.json({ entries: rows, next_cursor });
  };
}
