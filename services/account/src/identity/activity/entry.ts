import type { AuditEntry } from '../../platform/audit/audit-log.ts';
import { shownDetails } from './details.ts';
import { kindOf } from './kinds.ts';

export type OwnEntry = Pick<AuditEntry, 'actor' | 'action' | 'address' | 'request_id' | 'details'> & {
  audit_id: number;
  at: Date;
  application_id: number | null;
  application_name: string | null;
  actor_name: string | null;
};

export type ActivityActor = 'you' | 'member' | 'operator' | 'application' | 'system' | 'unknown';

/**
 * An entry as the account's owner sees it. Who the operators are, where they work from, and the installation's own
 * addresses stay hidden.
 */
export function ownEntry(entry: OwnEntry, accountId: number) {
  const by = actorOf(entry.actor, accountId);
  const isFromOutside = by !== 'operator' && by !== 'system';
  const { audit_id, at, action, application_id, application_name } = entry;
  return {
    activity_id: audit_id,
    at,
    action,
    kind: kindOf(action),
    by,
    member_name: by === 'member' ? entry.actor_name : null,
    address: isFromOutside ? entry.address : null,
    request_id: isFromOutside ? entry.request_id : null,
    application:
      application_id === null || application_name === null
        ? null
        : { application_id, name: application_name },
    details: shownDetails(entry.details),
  };
}

function actorOf(actor: string, accountId: number): ActivityActor {
  if (actor === `account:${String(accountId)}`) return 'you';
  const [kind] = actor.split(':');
  if (kind === 'account') return 'member';
  if (kind === 'operator') return 'operator';
  if (kind === 'client') return 'application';
  return kind === 'unknown' ? 'unknown' : 'system';
}
