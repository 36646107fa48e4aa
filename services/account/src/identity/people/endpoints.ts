import type { RequestHandler } from 'express';
import { Problem } from '@tollgate/http/problem';
import { bodyOf } from '../../http/input/json-body.ts';
import { sessionAnswer } from '../sessions/endpoints.ts';
import type { SessionParts } from '../sessions/endpoints.ts';
import { signedIn, strangerOf } from '../sessions/require-session.ts';
import { changePassword, requestEmailChange } from '../accounts/account-changes.ts';
import { findAccount, setName } from '../accounts/account-store.ts';
import {
  addressSchema,
  emailChangeSchema,
  newPasswordSchema,
  passwordChangeSchema,
  profileSchema,
  signUpSchema,
  verificationSchema,
} from './input.ts';
import { requestPasswordReset, resetPassword } from '../passwords/password-changes.ts';
import type { PeopleParts } from './people.ts';
import { sendSignUpAgain, signUp, verifyEmail } from './sign-up.ts';

/**
 * People under `/api/console`. Faulty members: 400 `invalid_request` that names them all. 429 `too_many_requests`
 * with Retry-After where an address or a recipient had too many mails. 503 while Postgres is away, or while too
 * many passwords wait to be hashed.
 */

/** `GET /api/console/sign-up`: 200 `{enabled}`. */
export function signUpSettingEndpoint(enabled: boolean): RequestHandler {
  return (_req, res) => {
    res.json({ enabled });
  };
}

/** Behind it is what only a Tollgate that takes sign-ups does. @throws {Problem} forbidden */
export function requireSignUpEnabled(enabled: boolean): RequestHandler {
  return (_req, _res, next) => {
    if (!enabled) throw new Problem('forbidden', { detail: 'Sign-up is switched off here.' });
    next();
  };
}

/**
 * `POST /api/console/sign-up` with `{email, name, password}`: 202 `{}`, the same whether the address has an account
 * or not; a mail says how it goes on. 403 where sign-up is switched off.
 */
export function signUpEndpoint(parts: PeopleParts): RequestHandler {
  return async (req, res) => {
    await signUp(parts, bodyOf(req, signUpSchema), strangerOf(req, res));
    res.status(202).json({});
  };
}

/** `POST /api/console/sign-up/resend` with `{email}`: 202 `{}`; the link of a sign-up is sent again. */
export function resendEndpoint(parts: PeopleParts): RequestHandler {
  return async (req, res) => {
    await sendSignUpAgain(parts, bodyOf(req, addressSchema).email, strangerOf(req, res));
    res.status(202).json({});
  };
}

/**
 * `POST /api/console/verify-email` with `{token, password}` of a sign-up, or with the `{token}` of the mail to a new
 * address: 200 `{email}`, the account's address from now on. It signs in no one. 400 for a token that is unknown,
 * used or expired, and for a password that isn't the sign-up's; the link stays good then.
 */
export function verifyEmailEndpoint(parts: SessionParts): RequestHandler {
  return async (req, res) => {
    const email = await verifyEmail(parts, bodyOf(req, verificationSchema), strangerOf(req, res));
    res.json({ email });
  };
}

/** `POST /api/console/password-reset` with `{email}`: 202 `{}`, the same whether the address has an account or not. */
export function requestResetEndpoint(parts: PeopleParts): RequestHandler {
  return async (req, res) => {
    await requestPasswordReset(parts, bodyOf(req, addressSchema).email, strangerOf(req, res));
    res.status(202).json({});
  };
}

/** `POST /api/console/password-reset/confirm` with `{token, password}`: 204; all sessions of the account end. */
export function resetPasswordEndpoint(parts: PeopleParts): RequestHandler {
  return async (req, res) => {
    await resetPassword(parts, bodyOf(req, newPasswordSchema), strangerOf(req, res));
    res.status(204).end();
  };
}

/** `PATCH /api/console/account` with `{name}`: 200, what GET /api/console/session says. */
export function changeProfileEndpoint({ query }: PeopleParts): RequestHandler {
  return async (req, res) => {
    const { account_id, session, token } = signedIn(res);
    await setName(query, account_id, bodyOf(req, profileSchema).name);
    const account = await findAccount(query, account_id);
    if (account === undefined) throw new Problem('unauthorized');
    res.json(sessionAnswer({ token, session: { ...session, account } }));
  };
}

/**
 * `PUT /api/console/account/password` with `{current_password, new_password}`: 200, the new session and its cookie;
 * all other sessions end.
 */
export function changePasswordEndpoint(parts: SessionParts): RequestHandler {
  return async (req, res) => {
    const stranger = strangerOf(req, res);
    const origin = { address: stranger.address, userAgent: req.get('user-agent') ?? '' };
    const wanted = bodyOf(req, passwordChangeSchema);
    const begun = await changePassword(parts, signedIn(res), wanted, origin, stranger);
    parts.cookie.set(res, begun.token, begun.session.expires_at);
    res.json(sessionAnswer(begun));
  };
}

/**
 * `POST /api/console/account/email` with `{email, current_password}`: 202 `{}`. The new address counts when the link
 * of its mail is used; the old one is told then.
 */
export function changeEmailEndpoint(parts: SessionParts): RequestHandler {
  return async (req, res) => {
    await requestEmailChange(parts, signedIn(res), bodyOf(req, emailChangeSchema), strangerOf(req, res));
    res.status(202).json({});
  };
}
