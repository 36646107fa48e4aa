import { createHash } from 'node:crypto';
import { Problem } from '@tollgate/http/problem';
import { digestOf, lockPlans, readPlans } from '../../plans-as-code/state.ts';
import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import type { ActRequest, Asked } from './acts.ts';

/** How long it waits for someone. */
const LIFETIME_SEC = 86_400;

export type PendingAct = {
  act_id: number;
  operation_id: string;
  /** Null for what is about plans. */
  account_id: number | null;
  request: ActRequest;
  requested_by: number;
  person: { name: string; issuer: string | null };
  reason: string | null;
  requested_at: Date;
  expires_at: Date;
};

const LISTED = `act_id, operation_id, account_id, request, requested_by, person, reason, requested_at, expires_at`;

const MAX_LISTED = 100;

/** Of what an act changes. */
function versionOf(query: Query, accountId: number | null): Promise<string> {
  return accountId === null ? plansVersion(query) : accountVersion(query, accountId);
}

/** Until the end of the transaction, it can't change. */
async function lockedVersion(inside: Query, accountId: number | null): Promise<string> {
  if (accountId !== null) return accountVersion(inside, accountId, 'FOR NO KEY UPDATE');
  await lockPlans(inside);
  return plansVersion(inside);
}

async function plansVersion(query: Query): Promise<string> {
  return digestOf(await readPlans(query));
}

/**
 * Changes with the account's row and its second factors, which is what these acts change. `lock`: until the end of the
 * transaction it can't change.
 */
async function accountVersion(
  query: Query,
  accountId: number,
  lock: '' | 'FOR NO KEY UPDATE' = '',
): Promise<string> {
  const rows = await query<{ version: string }>(
    `SELECT concat_ws(' ', xmin::text,
       (SELECT string_agg(passkey_id::text, ',' ORDER BY passkey_id) FROM passkeys WHERE account_id = :accountId),
       (SELECT totp_id FROM totp_secrets WHERE account_id = :accountId AND confirmed_at IS NOT NULL)) AS version
     FROM accounts WHERE account_id = :accountId ${lock}`,
    { accountId },
  );
  return rows[0]?.version ?? '';
}

export async function insertAct(
  query: Query,
  wanted: Asked & {
    operation_id: string;
    requested_by: number;
    person: PendingAct['person'];
    reason: string | undefined;
  },
): Promise<PendingAct> {
  const { operation_id, account_id, request, requested_by, person, reason } = wanted;
  const text = JSON.stringify(request);
  const version = await versionOf(query, account_id);
  if (version === '') throw new Problem('not_found');
  return singleRow(
    await query<PendingAct>(
      `INSERT INTO pending_acts (operation_id, account_id, request, request_hash, version, requested_by, person, reason,
         expires_at)
       VALUES (:operation_id, :account_id, :request, :hash, :version, :requested_by, :person, :reason,
         now() + ${String(LIFETIME_SEC)} * interval '1 second')
       ON CONFLICT (requested_by, request_hash) DO UPDATE SET version = excluded.version, reason = excluded.reason,
         requested_at = now(), expires_at = excluded.expires_at
       RETURNING ${LISTED}`,
      {
        operation_id,
        account_id,
        request: text,
        hash: createHash('sha256').update(`${operation_id} ${text}`).digest(),
        version,
        requested_by,
        person: JSON.stringify(person),
        reason: reason ?? null,
      },
    ),
  );
}

export function listActs(query: Query): Promise<PendingAct[]> {
  return query<PendingAct>(
    `SELECT ${LISTED} FROM pending_acts WHERE expires_at > now() ORDER BY act_id DESC LIMIT ${String(MAX_LISTED)}`,
  );
}

/** Undefined: it was confirmed, declined or has expired. */
export async function findAct(query: Query, actId: number): Promise<PendingAct | undefined> {
  const rows = await query<PendingAct>(
    `SELECT ${LISTED} FROM pending_acts WHERE act_id = :actId AND expires_at > now()`,
    { actId },
  );
  return rows[0];
}

/** Of two who take it at once, one gets it. `inside` is the transaction's of what it is taken for. */
export async function takeAct(inside: Query, actId: number): Promise<{ isUnchanged: boolean } | undefined> {
  const [taken] = await inside<{ account_id: number | null; version: string }>(
    `DELETE FROM pending_acts WHERE act_id = :actId AND expires_at > now() RETURNING account_id, version`,
    { actId },
  );
  if (taken === undefined) return undefined;
  const now = await lockedVersion(inside, taken.account_id);
  return { isUnchanged: now === taken.version };
}

/** Whether two people could: admins and support who have a passkey. */
export async function areTwo(query: Query): Promise<boolean> {
  const rows = await query(
    `SELECT 1 FROM operators WHERE local_role IN ('admin', 'support') AND EXISTS (
       SELECT FROM operator_passkeys WHERE operator_passkeys.operator_id = operators.operator_id) LIMIT 2`,
  );
  return rows.length > 1;
}

/**
 * Whether two operators are, or may be, one person: someone can have a passkey and an identity of the provider, whose
 * address isn't known if the provider doesn't verify it.
 */
export async function areSamePerson(query: Query, one: number, other: number): Promise<boolean> {
  if (one === other) return true;
  const rows = await query(
    `SELECT 1 FROM operators AS one CROSS JOIN operators AS other
     WHERE one.operator_id = :one AND other.operator_id = :other
       AND (lower(one.email) = lower(other.email)
         OR ((one.local_role IS NULL) <> (other.local_role IS NULL)
           AND (one.email IS NULL OR other.email IS NULL)))`,
    { one, other },
  );
  return rows.length > 0;
}
