import { recordAudit } from '../../platform/audit/audit-log.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import { countMailRequest } from '../attempts/mail-limits.ts';
import type { RequestedMails } from '../attempts/mail-limits.ts';
import type { IdentityMail } from '../mails/identity-mails.ts';
import type { Caller } from '../../http/caller-address.ts';
import type { SignedIn } from '../sessions/require-session.ts';
import { refuseIfSsoRequired } from '../sessions/required-sso.ts';
import { assertCurrentPassword } from './password-changes.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import type { PasswordCheck } from '../passwords/password-attempt.ts';

/**
 * Mails a link to a new address, which applies once the link is used (sign-up.ts). Only the mail tells whether the
 * address belongs to another account. @throws {Problem} sso_required; invalid_request for the current password;
 * too_many_requests
 */
export async function requestEmailChange(
  needs: PasswordCheck & RequestedMails & { query: Query; transact: Transact },
  signedIn: SignedIn,
  { email, current_password }: { email: string; current_password: string },
  caller: Caller,
): Promise<void> {
  const { account_id, actor } = signedIn;
  await refuseIfSsoRequired(needs.query, account_id);
  const current = { password: current_password, act: 'email_change' } as const;
  await assertCurrentPassword(needs, signedIn, current, caller);
  const request = {
    ...({ purpose: 'email_change', recipient: email } as const),
    address: caller.addressGroup,
    accountId: account_id,
  };
  await countMailRequest(needs.counts, needs.mailLimits, request);
  await needs.transact(async (inside) => {
    await recordAudit(inside, {
      ...actor,
      application_id: null,
      account_id,
      action: 'email_change_requested',
      details: { email },
    });
    const mail: IdentityMail = { kind: 'email_change', recipient: email, account_id };
    await enqueueMail(inside, mail);
  });
  needs.wakeMails();
}
