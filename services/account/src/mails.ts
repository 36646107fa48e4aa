import { connectionMails } from './access/connections/connection-mail.ts';
import { identityMails } from './identity/mails/identity-mails.ts';
import { twoFactorMails } from './identity/two-factor/two-factor-mails.ts';
import { deletionMails } from './lifecycle/deletion/deletion-mails.ts';
import type { AnyMailRenderers } from './mail/mail-renderer.ts';
import { alertMails } from './notifications/alerts/alert-mail.ts';
import { budgetMails } from './notifications/budgets/budget-mail.ts';
import { creditMails } from './notifications/credits/credit-mail.ts';
import { webhookMails } from './notifications/deliveries/webhook-mail.ts';
import { operatorMails } from './operators/operator-mails.ts';
import { paymentMails } from './payments/invoices/payment-mail.ts';
import { overageMails } from './payments/overage/overage-mail.ts';
import { topUpMails } from './payments/top-ups/top-up-mail.ts';
import { provisioningMails } from './scim/settings/provisioning-mails.ts';
import { domainMails } from './teams/domains/domain-mails.ts';
import { handOverMails } from './teams/hand-over-mail.ts';
import { invitationMails } from './teams/invitations/invitation-mail.ts';
import { ssoMails } from './teams/sso/sso-mails.ts';

/** All mails that account sends. */
export const MAIL_RENDERERS: AnyMailRenderers = new Map(
  Object.entries({
    ...identityMails,
    ...twoFactorMails,
    ...connectionMails,
    ...invitationMails,
    ...handOverMails,
    ...domainMails,
    ...ssoMails,
    ...provisioningMails,
    ...alertMails,
    ...budgetMails,
    ...creditMails,
    ...paymentMails,
    ...overageMails,
    ...topUpMails,
    ...webhookMails,
    ...deletionMails,
    ...operatorMails,
  }),
);
