import type { RequestHandler } from 'express';
import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { operatorOf } from '../../platform/audit/operator-actor.ts';
import { idOf } from '../../http/input/id-parameter.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { booleanQueryField } from '../../http/input/fields.ts';
import { bodyOf } from '../../http/input/json-body.ts';
import { nameSchema } from '../../http/input/name.ts';
import { cutPage, lookAhead, pageFields, queryOf } from '../../http/input/page.ts';
import { emailField } from './input.ts';
import { createAccount, findOperatedAccount, listAccounts, setAccountBlocked } from './operator-store.ts';

/** `account_id, email, name, email_verified_at, blocked_at, deletion_due_at, erased_at, created_at`. Errors as for plans, and 409 `email_taken`. */

const newAccountSchema = z.strictObject({ email: emailField, name: nameSchema });

const listSchema = z.strictObject({
  ...pageFields,
  email: emailField.optional(),
  blocked: booleanQueryField.optional(),
  deleting: booleanQueryField.optional(),
});

/** `GET /private/accounts?email=&blocked=&deleting=&limit=50&cursor=…`: 200 `{accounts, next_cursor}`, newest first. */
export function accountsEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const wanted = queryOf(req, listSchema);
    const found = await listAccounts(query, wanted, lookAhead(wanted));
    const { rows, next_cursor } = cutPage(found, wanted, ({ account_id }) => account_id);
    res.json({ accounts: rows, next_cursor });
  };
}

/** `POST /private/accounts` with `{email, name}`: 201. The owner sets a password by a password reset. */
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

/** `GET /private/accounts/{account_id}`: 200, with the team, payer, subscription, status and billing period. */
export function accountEndpoint(
  query: Query,
  summarize: (query: Query, accountId: number) => Promise<object | undefined>,
): RequestHandler {
  return async (req, res) => {
    const accountId = idOf(req, 'account_id');
    const account = await findOperatedAccount(query, accountId);
    const summary = account === undefined ? undefined : await summarize(query, accountId);
    if (summary === undefined) throw new Problem('not_found');
    res.json({ ...account, ...summary });
  };
}

/** `POST /private/accounts/{account_id}/block` and `…/unblock`, without a body: 200, the account. */
export function blockAccountEndpoint(transact: Transact, blocked: boolean): RequestHandler {
  return async (req, res) => {
    const id = idOf(req, 'account_id');
    res.json(await transact((inside) => setAccountBlocked(inside, id, blocked, operatorOf(req, res))));
  };
}
