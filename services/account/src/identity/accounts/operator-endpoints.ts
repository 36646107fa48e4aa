import type { RequestHandler } from 'express';
import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { operatorOf } from '../../access/applications/access.ts';
import { billingStatus, pickPeriod } from '../../billing/periods/period-rules.ts';
import { findPayerPeriods } from '../../billing/periods/payer-periods.ts';
import { idOf } from '../../platform/database/id-parameter.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { booleanQueryField } from '../../http/input/fields.ts';
import { bodyOf } from '../../http/input/json-body.ts';
import { nameSchema } from '../../http/input/name.ts';
import { cutPage, lookAhead, pageFields, queryOf } from '../../http/input/page.ts';
import { addressSchema } from '../people/input.ts';
import {
  createAccount,
  findLiveSubscriptionId,
  findOperatedAccount,
  findTeamPlace,
  listAccounts,
  setAccountBlocked,
} from './operator-store.ts';
import type { OperatedAccount } from './operator-store.ts';

/**
 * The operator API for accounts, on the private listener. An account is `account_id, email, name,
 * email_verified_at, blocked_at, created_at`. Errors as of plans, and 409 `email_taken`.
 */

const { email: emailSchema } = addressSchema.shape;

const newAccountSchema = z.strictObject({ email: emailSchema, name: nameSchema });

const listSchema = z.strictObject({
  ...pageFields,
  email: emailSchema.optional(),
  blocked: booleanQueryField.optional(),
});

/** `GET /private/accounts?email=&blocked=&limit=50&cursor=…`: 200 `{accounts, next_cursor}`, newest first. */
export function accountsEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const wanted = queryOf(req, listSchema);
    const found = await listAccounts(query, wanted, lookAhead(wanted));
    const { rows, next_cursor } = cutPage(found, wanted, ({ account_id }) => account_id);
    res.json({ accounts: rows, next_cursor });
  };
}

/** `POST /private/accounts` with `{email, name}`: 201. Its owner sets a password by "forgot password". */
export function newAccountEndpoint(transact: Transact): RequestHandler {
  return async (req, res) => {
    const wanted = bodyOf(req, newAccountSchema);
    const account = await transact((inside) => createAccount(inside, wanted, operatorOf(req, res)));
    res
      .status(201)
      .location(`/private/accounts/${String(account.account_id)}`)
      .json(account);
  };
}

/**
 * `GET /private/accounts/{account_id}`: 200, the account, and where it stands: `team` (`team_id, name, role`, or
 * null), `payer_id`, `subscription_id` (its own, or null), `status` as of GET /api/usage, or `none`, and
 * `billing_period` (`period_id, plan_name, started_at, ended_at`, the payer's, or null).
 */
export function accountEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const account = await findOperatedAccount(query, idOf(req, 'account_id'));
    if (account === undefined) throw new Problem('not_found');
    res.json({ ...account, ...(await payerPeriodsOf(query, account)) });
  };
}

/** `POST /private/accounts/{account_id}/block` and `…/unblock`, without a body: 200, the account. */
export function blockAccountEndpoint(transact: Transact, blocked: boolean): RequestHandler {
  return async (req, res) => {
    const id = idOf(req, 'account_id');
    res.json(await transact((inside) => setAccountBlocked(inside, id, blocked, operatorOf(req, res))));
  };
}

async function payerPeriodsOf(query: Query, { account_id }: OperatedAccount) {
  const now = new Date();
  const payerPeriods = await findPayerPeriods(query, account_id, now);
  if (payerPeriods === undefined) throw new Problem('not_found');
  const { payer_id, account_blocked, periods } = payerPeriods;
  const period = pickPeriod(periods, now);
  return {
    team: (await findTeamPlace(query, account_id)) ?? null,
    payer_id,
    subscription_id: await findLiveSubscriptionId(query, account_id),
    status: statusOf(period, account_blocked, now),
    billing_period:
      period === undefined
        ? null
        : {
            period_id: period.period_id,
            plan_name: period.plan_name,
            started_at: period.started_at,
            ended_at: period.ended_at,
          },
  };
}

function statusOf(period: Parameters<typeof billingStatus>[0] | undefined, blocked: boolean, now: Date) {
  if (period !== undefined) return billingStatus(period, blocked, now);
  return blocked ? 'blocked' : 'none';
}
