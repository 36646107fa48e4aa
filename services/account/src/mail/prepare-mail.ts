import type { Query } from '../platform/database/query.ts';
import { findAlertMail } from '../notifications/alerts/alert-mail.ts';
import { findAccountByEmail } from '../identity/accounts/account-store.ts';
import { issueInvitationToken } from '../teams/invitations/invitation-store.ts';
import { findNamedWebhook } from '../notifications/webhooks/webhook-mail.ts';
import { issueEmailToken, newestSignUp } from '../identity/people/email-tokens.ts';
import type { QueuedMail } from './mail-outbox.ts';
import {
  alreadySignedUpMail,
  emailChangedMail,
  emailInUseMail,
  passwordChangedMail,
  resetPasswordMail,
  teamHandedOverMail,
  teamInvitationMail,
  usageAlertMail,
  verifyNewEmailMail,
  verifySignUpMail,
  webhookDisabledMail,
} from './mail-text.ts';
import type { Mail } from './mail-text.ts';

/**
 * What a queued mail is to say, or undefined where nothing is to be sent. Whether an address has an account is
 * looked up here and not in the request, whose answer and time can't tell it then. Links are made here, so that
 * no token is ever stored but as a hash; one more attempt sends one more link.
 */
export async function prepareMail(
  query: Query,
  mail: QueuedMail,
  publicUrl: string,
): Promise<Mail | undefined> {
  const { recipient } = mail;
  const verifyLink = (token: string) => `${publicUrl}/user/verify-email?token=${token}`;
  const forgotten = `${publicUrl}/user/forgot-password`;
  switch (mail.kind) {
    case 'sign_up':
    case 'sign_up_again': {
      if ((await findAccountByEmail(query, recipient)) !== undefined) {
        return alreadySignedUpMail(recipient, forgotten);
      }
      const signUp =
        mail.kind === 'sign_up'
          ? {
              purpose: mail.kind,
              email: recipient,
              name: mail.name,
              password_hash: mail.password_hash,
            }
          : await newestSignUp(query, recipient);
      if (signUp === undefined) return undefined;
      return verifySignUpMail(recipient, verifyLink(await issueEmailToken(query, signUp)));
    }
    case 'password_reset': {
      const account = await findAccountByEmail(query, recipient);
      if (account === undefined) return undefined;
      const { account_id, email } = account;
      const token = await issueEmailToken(query, { purpose: 'reset_password', email, account_id });
      return resetPasswordMail(email, `${publicUrl}/user/reset-password?token=${token}`);
    }
    case 'email_change': {
      if ((await findAccountByEmail(query, recipient)) !== undefined) return emailInUseMail(recipient);
      const { account_id } = mail;
      const token = await issueEmailToken(query, { purpose: 'change_email', email: recipient, account_id });
      return verifyNewEmailMail(recipient, verifyLink(token));
    }
    case 'password_changed':
      return passwordChangedMail(recipient, forgotten);
    case 'team_invitation': {
      const token = await issueInvitationToken(query, mail.invitation_id);
      if (token === undefined) return undefined;
      return teamInvitationMail(recipient, `${publicUrl}/user/invitation?token=${token}`);
    }
    case 'team_handed_over':
      return teamHandedOverMail(recipient, `${publicUrl}/user/team`);
    case 'usage_alert': {
      const alert = await findAlertMail(query, mail.alert_id);
      return alert === undefined ? undefined : usageAlertMail(alert, `${publicUrl}/user/usage`);
    }
    case 'webhook_disabled': {
      const manual = `${publicUrl}/api/docs#/Webhooks`;
      if (mail.webhook_id === null) return webhookDisabledMail(recipient, manual);
      const webhook = await findNamedWebhook(query, mail.webhook_id);
      return webhook === undefined ? undefined : webhookDisabledMail(recipient, manual, webhook);
    }
    case 'email_changed':
      return emailChangedMail(recipient);
    default:
      throw unknownKind(mail);
  }
}

/** Queued by a later version that runs beside this one: it stays in the outbox until a replica of that one takes it. */
function unknownKind(mail: never): Error {
  return new Error(`a mail of the kind ${(mail as QueuedMail).kind} is for another version`);
}
