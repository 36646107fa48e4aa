import type { MailContent, MailSite } from '../../mail/layout/mail-content.ts';

type Product = Pick<MailSite, 'productName'>;

export function verifySignUpMail(to: string, link: string, { productName }: Product): MailContent {
  return {
    to,
    subject: 'Confirm your email address',
    lines: [`Confirm your email address and choose a password to finish signing up for ${productName}.`],
    action: { label: 'Confirm email address', href: link },
    closing: [
      "This link expires in 24 hours. If you didn't sign up, ignore this email and no account is created.",
    ],
  };
}

export function alreadySignedUpMail(to: string, { productName, publicUrl }: MailSite): MailContent {
  return {
    to,
    subject: 'You already have an account',
    lines: [
      `Someone tried to sign up for ${productName} with your email address, which already has an account.`,
      'If it was you, sign in with your existing password.',
    ],
    action: { label: 'Sign in', href: `${publicUrl}/user/sign-in` },
    closing: [
      { label: 'Forgot your password? Choose a new one', href: forgotPasswordLink(publicUrl) },
      "If it wasn't you, ignore this email. Your account hasn't changed.",
    ],
  };
}

export function verifyNewEmailMail(to: string, link: string, { productName }: Product): MailContent {
  return {
    to,
    subject: 'Confirm your new email address',
    lines: [`Confirm that you want to use this email address for your ${productName} account.`],
    action: { label: 'Confirm email address', href: link },
    closing: [
      "This link expires in 24 hours. If you didn't ask for this change, ignore this email and nothing changes.",
    ],
  };
}

/** To the present address, before anything has changed. */
export function emailChangeBySupportMail(
  to: string,
  reason: string | undefined,
  { productName, publicUrl, supportUrl }: MailSite,
): MailContent {
  return {
    to,
    subject: 'Support was asked to change your email address',
    lines: [
      `Support was asked to give your ${productName} account another email address, and sent a link to it. The address changes when that link is used, within 24 hours. All sessions were signed out.`,
      "If you asked for this, there's nothing else to do here. If you didn't, reset your password now, which ends that link, and contact support immediately.",
    ],
    facts: [
      ...(reason === undefined ? [] : [['Reason given by support', reason] as const]),
      ...(supportUrl === null ? [] : [['Support', supportUrl] as const]),
    ],
    action: { label: 'Reset password', href: forgotPasswordLink(publicUrl) },
  };
}

export function emailInUseMail(to: string, { productName }: Product): MailContent {
  return {
    to,
    subject: 'Your email address is already in use',
    lines: [
      `Someone tried to change the email address of another ${productName} account to yours.`,
      'Your address already belongs to your own account, so nothing has changed. You can ignore this email.',
    ],
  };
}

export function resetPasswordMail(to: string, link: string, { productName }: Product): MailContent {
  return {
    to,
    subject: 'Reset your password',
    lines: [`We received a request to reset the password of your ${productName} account.`],
    action: { label: 'Choose a new password', href: link },
    closing: [
      "This link works once and expires in one hour. If you didn't ask for it, ignore this email and your password stays the same.",
    ],
  };
}

export function passwordChangedMail(to: string, { productName, publicUrl }: MailSite): MailContent {
  return {
    to,
    subject: 'Your password was changed',
    lines: [
      `The password of your ${productName} account was changed, and all other sessions were signed out.`,
      "If you did this, there's nothing else to do. If you didn't, reset your password now.",
    ],
    action: { label: 'Reset password', href: forgotPasswordLink(publicUrl) },
  };
}

export function emailChangedMail(to: string, { productName }: Product): MailContent {
  return {
    to,
    subject: 'Your email address was changed',
    lines: [
      `The email address of your ${productName} account was changed. We no longer send emails about the account to this address.`,
      "If you didn't do this, contact support immediately.",
    ],
  };
}

function forgotPasswordLink(publicUrl: string): string {
  return `${publicUrl}/user/forgot-password`;
}
