import { renderMail } from '../../mail/render-mail.ts';
import type { Mail } from '../../mail/render-mail.ts';

export function verifySignUpMail(to: string, link: string): Mail {
  return renderMail(to, {
    subject: 'Confirm your email address',
    lines: [
      'Confirm your email address to finish signing up for Tollgate.',
      "You need the password that you chose at sign-up. If it doesn't work, someone else signed up with your address: use the link from your own sign-up, or sign up again.",
    ],
    link,
    closing:
      "This link expires in 24 hours. If you didn't sign up, ignore this email and no account is created.",
  });
}

export function alreadySignedUpMail(to: string, link: string): Mail {
  return renderMail(to, {
    subject: 'You already have an account',
    lines: [
      'Someone tried to sign up for Tollgate with your email address, which already has an account.',
      'If it was you, sign in with your existing password, or choose a new one:',
    ],
    link,
    closing: "If it wasn't you, ignore this email. Your account hasn't changed.",
  });
}

export function verifyNewEmailMail(to: string, link: string): Mail {
  return renderMail(to, {
    subject: 'Confirm your new email address',
    lines: ['Confirm that you want to use this email address for your Tollgate account.'],
    link,
    closing:
      "This link expires in 24 hours. If you didn't ask for this change, ignore this email and nothing changes.",
  });
}

export function emailInUseMail(to: string): Mail {
  return renderMail(to, {
    subject: 'Your email address is already in use',
    lines: [
      'Someone tried to change the email address of a Tollgate account to yours.',
      'Your address already belongs to another account, so nothing has changed.',
    ],
  });
}

export function resetPasswordMail(to: string, link: string): Mail {
  return renderMail(to, {
    subject: 'Reset your password',
    lines: ['We received a request to reset the password of your Tollgate account. Choose a new password:'],
    link,
    closing:
      "This link works once and expires in one hour. If you didn't ask for it, ignore this email and your password stays the same.",
  });
}

export function passwordChangedMail(to: string, link: string): Mail {
  return renderMail(to, {
    subject: 'Your password was changed',
    lines: [
      'The password of your Tollgate account was changed, and all other sessions were signed out.',
      "If you didn't do this, reset your password now:",
    ],
    link,
  });
}

export function emailChangedMail(to: string): Mail {
  return renderMail(to, {
    subject: 'Your email address was changed',
    lines: [
      'The email address of your Tollgate account was changed. We no longer send emails about the account to this address.',
      "If you didn't do this, contact support immediately.",
    ],
  });
}
