import type { RequestHandler } from 'express';
import { Problem } from '@tollgate/http/problem';
import { idOf } from '../../http/input/id-parameter.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { operatorOf } from '../../platform/audit/operator-actor.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { lockAccount } from '../accounts/account-store.ts';
import { findOperatedAccount } from '../accounts/operator-store.ts';
import type { OperatedAccount } from '../accounts/operator-store.ts';
import type { TwoFactorMail } from './two-factor-mails.ts';
import { endSessions } from '../sessions/end-sessions.ts';
import type { AfterCommit, SessionEndParts } from '../sessions/end-sessions.ts';
import { factorsOf } from '../sessions/factors.ts';
import { deletePasskeys } from './passkeys/passkey-store.ts';
import { endPendingSignIns } from '../sessions/pending-sign-ins.ts';
import { deleteRecoveryCodes } from './recovery-codes.ts';
import { deleteTotpSecret } from './totp/totp-store.ts';

/**
 * `POST /private/accounts/{account_id}/reset-two-factor`, without a body: 200, the account. For an owner who has lost
 * all factors; the password is enough afterwards. Ends the sessions, and tells the owner by mail. Idempotent. 404.
 */
export function resetTwoFactorEndpoint(parts: ResetParts): RequestHandler {
  return async (req, res) => {
    const account_id = idOf(req, 'account_id');
    const { account, ended } = await parts.transact((inside) =>
      resetTwoFactor(parts, inside, { account_id, actor: operatorOf(req, res) }),
    );
    await Promise.all(ended.map((tell) => tell()));
    res.json(account);
  };
}

type ResetParts = SessionEndParts & { transact: Transact };

async function resetTwoFactor(
  parts: ResetParts,
  inside: Query,
  { account_id, actor }: { account_id: number; actor: Actor },
): Promise<{ account: OperatedAccount; ended: AfterCommit[] }> {
  const locked = await lockAccount(inside, account_id);
  const account = await findOperatedAccount(inside, account_id);
  if (locked === undefined || account === undefined) throw new Problem('not_found');
  const removed = await factorsOf(inside, account_id);
  await deleteTotpSecret(inside, account_id);
  await deletePasskeys(inside, account_id);
  await deleteRecoveryCodes(inside, account_id);
  await endPendingSignIns(inside, account_id);
  if (removed.length === 0) return { account, ended: [] };
  const ended = await endSessions(parts, inside, { account_id, actor });
  const entry = { ...actor, application_id: null, account_id, details: { removed } };
  await recordAudit(inside, { ...entry, action: 'two_factor_reset' });
  const mail: TwoFactorMail = { kind: 'two_factor_reset', recipient: account.email, account_id };
  await enqueueMail(inside, mail);
  return { account, ended };
}
