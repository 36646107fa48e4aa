import type { RequestHandler } from 'express';
import { Problem } from '@tollgate/http/problem';
import { idOf } from '../../http/input/id-parameter.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { operatorOf } from '../../platform/audit/operator-actor.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { lockAccount } from '../../identity/accounts/account-store.ts';
import { findOperatedAccount } from '../../identity/accounts/operator-store.ts';
import type { OperatedAccount } from '../../identity/accounts/operator-store.ts';
import { restoreAccount } from './deletion.ts';
import { eraseDue } from './erase.ts';
import { findConsequences, findPendingDeletion, makeDue } from './store.ts';

/** An account's deletion, for operators, who can't request one. All: 404 for an unknown account. */

/** `GET /private/accounts/{account_id}/deletion`: 200 `{account_id, requested_at, due_at, erased_at, consequences}`. */
export function operatedDeletionEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const account = await foundAccount(query, idOf(req, 'account_id'));
    const { account_id, deletion_due_at, erased_at } = account;
    const pending = await findPendingDeletion(query, account_id);
    const consequences = await findConsequences(query, account_id);
    const requested_at = pending?.deletion_requested_at ?? null;
    res.json({ account_id, requested_at, due_at: deletion_due_at, erased_at, consequences });
  };
}

/** `POST …/deletion/cancel`, without a body: 200, the account. 404 if none is pending, or once it is due. */
export function cancelOperatedDeletionEndpoint(transact: Transact): RequestHandler {
  return async (req, res) => {
    const account_id = idOf(req, 'account_id');
    const cancelled = await transact(async (inside) => {
      await restoreAccount(inside, { account_id, actor: operatorOf(req, res) });
      return foundAccount(inside, account_id);
    });
    res.json(cancelled);
  };
}

/**
 * `POST …/deletion/carry-out`, without a body: 200, the erased account. Ends the grace of a pending deletion: operators
 * can't erase an account whose owner hasn't asked for it. 404 if none is pending. If the erasure takes too long, 503;
 * it is repeated at the next interval, as it is due. `checks` has a longer timeout.
 */
export function carryOutDeletionEndpoint({
  transact,
  checks,
}: {
  transact: Transact;
  checks: { transact: Transact };
}): RequestHandler {
  return async (req, res) => {
    const account_id = idOf(req, 'account_id');
    await transact(async (inside) => {
      const account = await lockAccount(inside, account_id);
      if (account === undefined || account.deletion_due_at === null) {
        throw new Problem('not_found', { detail: 'The account is not being deleted.' });
      }
      await makeDue(inside, account_id);
      const entry = { ...operatorOf(req, res), application_id: null, account_id, details: {} };
      await recordAudit(inside, { ...entry, action: 'account_deletion_carried_out' });
    });
    const erased = await checks.transact(async (inside) => {
      await eraseDue(inside, account_id);
      return foundAccount(inside, account_id);
    });
    res.json(erased);
  };
}

async function foundAccount(query: Query, accountId: number): Promise<OperatedAccount> {
  const account = await findOperatedAccount(query, accountId);
  if (account === undefined) throw new Problem('not_found');
  return account;
}
