import { Problem } from '@tollgate/http/problem';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { lockAccount } from '../accounts/account-store.ts';
import { ofAccount, operatedAccountSchema } from '../accounts/operations.ts';
import { findOperatedAccount } from '../accounts/operator-store.ts';
import type { OperatedAccount } from '../accounts/operator-store.ts';
import type { TwoFactorMail } from './two-factor-mails.ts';
import { endSessions } from '../sessions/end-sessions.ts';
import type { AfterCommit, SessionTokens } from '../sessions/end-sessions.ts';
import { factorsOf } from '../sessions/factors.ts';
import { deletePasskeys } from './passkeys/passkey-store.ts';
import { endPendingSignIns } from '../sessions/pending-sign-ins.ts';
import { deleteRecoveryCodes } from './recovery-codes.ts';
import { deleteTotpSecret } from './totp/totp-store.ts';

export const operatorTwoFactor = {
  title: 'Two-factor authentication',
  description: 'For owners who have lost their second factors.',
  operations: [
    operation('POST /private/accounts/{account_id}/reset-two-factor', {
      operationId: 'resetTwoFactor',
      summary: 'Remove all second factors of an account',
      description:
        'The password is enough afterwards. Ends the sessions, and tells the owner by mail. Safe to repeat.',
      caller: operator,
      roles: ['support'],
      needsReason: true,
      params: ofAccount,
      answers: { 200: { description: 'The account.', schema: operatedAccountSchema } },
      handle: async (needs: ResetNeeds, { by: { actor }, params: { account_id } }) => {
        const { account, ended } = await needs.transact((inside) =>
          resetTwoFactor(needs, inside, { account_id, actor }),
        );
        await Promise.all(ended.map((tell) => tell()));
        return account;
      },
    }),
  ],
} satisfies Chapter;

type ResetNeeds = SessionTokens & { transact: Transact };

async function resetTwoFactor(
  needs: ResetNeeds,
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
  const ended = await endSessions(needs, inside, { account_id, actor });
  const change = changeOf(['second_factors'], { second_factors: removed }, { second_factors: [] });
  const entry = { ...actor, application_id: null, account_id, details: { removed }, change };
  await recordAudit(inside, { ...entry, action: 'two_factor_reset' });
  const mail: TwoFactorMail = { kind: 'two_factor_reset', recipient: account.email, account_id };
  await enqueueMail(inside, mail);
  return { account, ended };
}
