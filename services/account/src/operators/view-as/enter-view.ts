import type { Request, Response } from 'express';
import { Problem } from '@tollgate/http/problem';
import { isSecretToken } from '../../identity/secret-token.ts';
import { noteViewed } from '../../identity/sessions/require-session.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import type { SignedInOperator } from '../require-operator-session.ts';
import { findView } from './store.ts';
import type { View } from './store.ts';

/** The secret of a view: in a header, since no other page can send it and no browser sends it by itself. */
const VIEW_TOKEN_HEADER = 'X-View-Token';

/** What a view has for the id of a session: that of none. */
const NO_SESSION = Number.MAX_SAFE_INTEGER;

/** @throws {Problem} view_ended; insufficient_role */
export async function viewOf(query: Query, { session }: SignedInOperator, req: Request): Promise<View> {
  const token = req.get(VIEW_TOKEN_HEADER);
  const view =
    token === undefined || !isSecretToken(token)
      ? undefined
      : await findView(query, { token, session_id: session.session_id });
  if (view === undefined) throw new Problem('view_ended');
  if (view.is_for_admins) refuseOthersThanAdmins(session);
  return view;
}

/** Accounts that are being deleted, and those of operators. @throws {Problem} insufficient_role */
export function refuseOthersThanAdmins({ role }: Pick<SignedInOperator, 'role'>): void {
  if (role === 'admin') return;
  throw new Problem('insufficient_role', {
    detail: 'Accounts that are being deleted, and accounts of operators, are for admins.',
    extensions: { roles: ['admin'] },
  });
}

/**
 * Lets an operation of customers answer an operator, as it would answer the customer. Each is recorded before it reads.
 * @throws {Problem} view_ended; insufficient_role
 */
export async function enterView(
  query: Query,
  { req, res, by, operationId }: { req: Request; res: Response; by: SignedInOperator; operationId: string },
): Promise<void> {
  const { account, member_of, began_at, expires_at } = await viewOf(query, by, req);
  const { account_id } = account;
  await recordAudit(query, {
    ...by.actor,
    application_id: null,
    account_id,
    action: 'customer_viewed',
    details: { operation: operationId, viewed_as: account_id },
  });
  const session = { session_id: NO_SESSION, created_at: began_at, expires_at, account, member_of };
  noteViewed(res, {
    account_id,
    session: { ...session, is_confirmed: false, sso_identity_id: null, lacks_sso: false },
    // The page that shows the answers is the operator's: the CSRF token that it gets is that of their own session.
    token: by.token,
    actor: by.actor,
    isView: true,
  });
}
