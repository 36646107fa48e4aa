import { invalidFields } from '@tollgate/http/invalid-fields';
import { Problem } from '@tollgate/http/problem';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { findAccountByEmail, lockAccount } from '../accounts/account-store.ts';
import { addressSchema } from '../accounts/input.ts';
import { ofAccount, operatedAccountSchema } from '../accounts/operations.ts';
import { findOperatedAccount } from '../accounts/operator-store.ts';
import type { OperatedAccount } from '../accounts/operator-store.ts';
import { endEmailTokens } from '../mails/email-tokens.ts';
import type { IdentityMail } from '../mails/identity-mails.ts';
import { endSessions } from '../sessions/end-sessions.ts';
import type { AfterCommit, SessionTokens } from '../sessions/end-sessions.ts';
import { refuseIfSsoRequired } from '../sessions/required-sso.ts';

type Needs = SessionTokens & { transact: Transact; wakeMails: () => void };

/** Docs: docs/adr/0170-address-by-support.md. */
export const operatorEmailAddresses = {
  title: 'Email addresses',
  description: 'For owners who can’t read mails to their address any more.',
  operations: [
    operation('POST /private/accounts/{account_id}/email', {
      operationId: 'changeAccountEmail',
      summary: 'Have another email address confirmed for an account',
      description:
        'Mails a link to the new address. The account has it once the link is used, within 24 hours. Ends all sessions ' +
        'and earlier links at once, and tells the owner at the present address, with the reason.',
      caller: operator,
      roles: ['support'],
      needsReason: true,
      params: ofAccount,
      body: addressSchema,
      example: { email: 'ada@example.com' },
      answers: {
        200: { description: 'The account, with its present address.', schema: operatedAccountSchema },
      },
      problems: ['email_taken', 'account_deletion_pending', 'sso_required'],
      handle: async (needs: Needs, { by: { actor }, params: { account_id }, body: { email } }) => {
        const { account, ended } = await needs.transact((inside) =>
          requestChange(needs, inside, { account_id, email, actor }),
        );
        needs.wakeMails();
        await Promise.all(ended.map((tell) => tell()));
        return account;
      },
    }),
  ],
} satisfies Chapter;

async function requestChange(
  needs: Needs,
  inside: Query,
  { account_id, email, actor }: { account_id: number; email: string; actor: Actor },
): Promise<{ account: OperatedAccount; ended: AfterCommit[] }> {
  const locked = await lockAccount(inside, account_id);
  const account = await findOperatedAccount(inside, account_id);
  if (locked === undefined || account === undefined || account.erased_at !== null)
    throw new Problem('not_found');
  if (account.deletion_due_at !== null) throw new Problem('account_deletion_pending');
  await refuseIfSsoRequired(inside, account_id);
  const owner = await findAccountByEmail(inside, email);
  if (owner?.account_id === account_id) {
    throw invalidFields([{ field: 'email', message: 'is the address of the account' }]);
  }
  if (owner !== undefined) throw new Problem('email_taken');
  // Someone else may read mails to the present address: what was sent there opens nothing any more.
  await endEmailTokens(inside, account_id);
  const ended = await endSessions(needs, inside, { account_id, actor });
  await recordAudit(inside, {
    ...actor,
    application_id: null,
    account_id,
    action: 'email_change_requested',
    details: { email_before: account.email, email },
    // The account keeps its address until the new one is confirmed.
    change: changeOf(['requested_email'], null, { requested_email: email }),
  });
  const link: IdentityMail = { kind: 'email_change', recipient: email, account_id };
  const notice: IdentityMail = { kind: 'email_change_by_support', recipient: account.email, account_id };
  await enqueueMail(inside, link);
  await enqueueMail(inside, notice);
  return { account, ended };
}
