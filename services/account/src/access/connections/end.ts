import { findAccount } from '../../identity/accounts/account-store.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import { enqueueClientChange } from '../client-changes/store.ts';
import type { NewClientChange } from '../client-changes/store.ts';
import type { ConnectionMail } from './connection-mail.ts';
import { setEnded } from './store.ts';
import type { Connection } from './store.ts';

/** Why a connection ended, for its owner's activity log. */
export type EndReason =
  'owner' | 'manager' | 'application' | 'refresh_token_reused' | 'code_reused' | 'too_many';

/** Two parties have had the same credential, of which one may have stolen it. */
const THEFTS: ReadonlySet<EndReason> = new Set(['refresh_token_reused', 'code_reused']);

/** The connection is locked. Its access tokens, refresh tokens and open sockets end; repeating it tells auth again. */
export async function endConnection(
  query: Query,
  connection: Connection,
  reason: EndReason,
  by: Actor,
): Promise<NewClientChange> {
  const { application_id, account_id, client_id, name, acting_client_id } = connection;
  const revocation_epoch = await setEnded(query, application_id);
  if (connection.status === 'active') {
    const details = { name, client_id: acting_client_id, reason };
    await recordAudit(query, { ...by, application_id, account_id, action: 'connection_ended', details });
    if (THEFTS.has(reason)) await tellOwner(query, account_id);
  }
  return enqueueClientChange(query, { client_id, application_id, revocation_epoch }, { endsTokens: true });
}

async function tellOwner(query: Query, account_id: number): Promise<void> {
  const owner = await findAccount(query, account_id);
  if (owner === undefined) return;
  const mail: ConnectionMail = { kind: 'connection_ended', recipient: owner.email, account_id };
  await enqueueMail(query, mail);
}

/**
 * All that people have granted the application, whose row is locked: a code that is exchanged at this moment waits, and
 * finds it ended. One statement for any number of them; the outbox tells every cache at once.
 */
export async function endConnectionsOf(
  query: Query,
  { type, application_id }: { type: string; application_id: number },
): Promise<void> {
  if (type !== 'authorization') return;
  await query(
    `WITH ended AS (
       UPDATE applications SET status = 'revoked', revocation_epoch = revocation_epoch + 1
       WHERE status = 'active' AND application_id IN (
         SELECT application_id FROM connections WHERE client_application_id = :application_id)
       RETURNING client_id, application_id, revocation_epoch
     )
     INSERT INTO client_change_outbox
       (client_id, application_id, revocation_epoch, change, next_attempt_at, publish_after)
     SELECT client_id, application_id, revocation_epoch, 'application', clock_timestamp(), clock_timestamp()
     FROM ended`,
    { application_id },
  );
}

/** All connections of members whose team forbids them. One statement for any number; the outbox tells every cache at once. */
export async function endConnectionsOfMembers(
  query: Query,
  accountIds: readonly number[],
  { actor, address, request_id }: Actor,
): Promise<void> {
  await query(
    `WITH ended AS (
       UPDATE applications AS hidden SET status = 'revoked', revocation_epoch = hidden.revocation_epoch + 1
       FROM connections JOIN applications AS acting ON acting.application_id = connections.client_application_id
       WHERE hidden.status = 'active' AND connections.application_id = hidden.application_id
         AND connections.account_id = ANY (CAST(:accountIds AS bigint[]))
       RETURNING hidden.client_id, hidden.application_id, hidden.account_id, hidden.name, hidden.revocation_epoch,
         acting.client_id AS acting_client_id
     ), forgotten AS (
       DELETE FROM refresh_tokens USING ended WHERE refresh_tokens.application_id = ended.application_id
     ), told AS (
       INSERT INTO audit_log (actor, action, application_id, account_id, address, request_id, details)
       SELECT :actor, 'connection_ended', application_id, account_id, :address, :request_id,
         jsonb_build_object('name', name, 'client_id', acting_client_id, 'reason', 'team')
       FROM ended
     )
     INSERT INTO client_change_outbox
       (client_id, application_id, revocation_epoch, change, next_attempt_at, publish_after)
     SELECT client_id, application_id, revocation_epoch, 'application', clock_timestamp(), clock_timestamp()
     FROM ended`,
    { accountIds, actor, address, request_id },
  );
}
