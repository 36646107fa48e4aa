import type { Page } from '../../http/input/page.ts';
import { HIDDEN_TYPES } from '../../platform/database/hidden-types.ts';
import type { Query } from '../../platform/database/query.ts';
import type { OwnEntry } from './entry.ts';
import { actionsOfKind } from './kinds.ts';
import type { ActivityKind } from './kinds.ts';

/**
 * What was done to the account, and what its owner did to a member of their team; newest first. One part per index
 * (account_id, actor), each cut to the page, so that a long log costs no more than a short one.
 */
export function listOwnEntries(
  query: Query,
  accountId: number,
  { limit, before, kind }: Page & { kind?: ActivityKind | undefined },
): Promise<OwnEntry[]> {
  const part = (condition: string) => `
    (SELECT * FROM audit_log WHERE ${condition} AND audit_id < :before
       AND action = ANY (CAST(:actions AS text[])) ORDER BY audit_id DESC LIMIT :limit)`;
  return query<OwnEntry>(
    `SELECT audit_id, at, actor, action, entry.application_id, entry.address, entry.request_id, entry.details,
            application.name AS application_name, account.name AS actor_name
     FROM (${part('account_id = :accountId')} UNION ALL
       ${part("actor = :actor AND account_id <> :accountId AND action IN ('team_member_removed', 'team_member_role_changed')")}) AS entry
     LEFT JOIN applications AS application
       ON application.application_id = entry.application_id AND application.account_id = :accountId
         AND application.type NOT IN ${HIDDEN_TYPES}
     LEFT JOIN accounts AS account
       ON account.account_id = CAST(substring(entry.actor FROM '^account:(\\d{1,18})$') AS bigint)
     ORDER BY audit_id DESC LIMIT :limit`,
    { accountId, actor: `account:${String(accountId)}`, actions: actionsOfKind(kind), before, limit },
  );
}
