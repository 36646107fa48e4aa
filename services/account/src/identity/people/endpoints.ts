import type { RequestHandler } from 'express';
import { Problem } from '@tollgate/http/problem';
import { bodyOf } from '../../http/input/json-body.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { addressSchema } from '../accounts/input.ts';
import { lockAccount, setName } from '../accounts/account-store.ts';
import { callerOf } from '../../http/caller-address.ts';
import { sessionAnswer } from '../sessions/endpoints.ts';
import { signedIn } from '../sessions/require-session.ts';
import { requestEmailChange } from './email-change.ts';
import {
  emailChangeSchema,
  newPasswordSchema,
  passwordChangeSchema,
  profileSchema,
  signUpSchema,
  verificationSchema,
} from './input.ts';
import { changePassword, requestPasswordReset, resetPassword } from './password-changes.ts';
import type { PeopleParts } from './people.ts';
import { sendSignUpAgain, signUp, verifyEmail } from './sign-up.ts';

/**
 * Sign-up and the account holder's own data, under `/api/console`. All: 400 `invalid_request` with the invalid fields;
 * 429 `too_many_requests` with Retry-After; 503 while Postgres is unavailable or too many passwords wait to be hashed.
 */

export function signUpSettingEndpoint(enabled: boolean): RequestHandler {
  return (_req, res) => {
    res.json({ enabled });
  };
}

export function requireSignUpEnabled(enabled: boolean): RequestHandler {
  return (_req, _res, next) => {
    if (!enabled) throw new Problem('forbidden', { detail: 'Sign-up is disabled.' });
    next();
  };
}

/** `POST /api/console/sign-up` with `{email, name, password}`: 202 `{}` for any address. 403 if sign-up is disabled. */
export function signUpEndpoint(parts: PeopleParts): RequestHandler {
  return async (req, res) => {
    await signUp(parts, bodyOf(req, signUpSchema), callerOf(req, res));
    res.status(202).json({});
  };
}

/** `POST /api/console/sign-up/resend` with `{email}`: 202 `{}`; sends the link of a sign-up again. */
export function resendEndpoint(parts: PeopleParts): RequestHandler {
  return async (req, res) => {
    await sendSignUpAgain(parts, bodyOf(req, addressSchema).email, callerOf(req, res));
    res.status(202).json({});
  };
}

/**
 * `POST /api/console/verify-email` with `{token, password}` of a sign-up, or `{token}` of a change of address: 200
 * `{email}`. Doesn't sign in. 400 for an invalid token, or a wrong password, after which the link stays valid.
 */
export function verifyEmailEndpoint(parts: PeopleParts): RequestHandler {
  return async (req, res) => {
    const email = await verifyEmail(parts, bodyOf(req, verificationSchema), callerOf(req, res));
    res.json({ email });
  };
}

/** `POST /api/console/password-reset` with `{email}`: 202 `{}`, whether or not the address has an account. */
export function requestResetEndpoint(parts: PeopleParts): RequestHandler {
  return async (req, res) => {
    await requestPasswordReset(parts, bodyOf(req, addressSchema).email, callerOf(req, res));
    res.status(202).json({});
  };
}

/** `POST /api/console/password-reset/confirm` with `{token, password}`: 204; ends all sessions of the account. */
export function resetPasswordEndpoint(parts: PeopleParts): RequestHandler {
  return async (req, res) => {
    await resetPassword(parts, bodyOf(req, newPasswordSchema), callerOf(req, res));
    res.status(204).end();
  };
}

/** `PATCH /api/console/account` with `{name}`: 200, as `GET /api/console/session`. */
export function changeProfileEndpoint({ transact }: PeopleParts): RequestHandler {
  return async (req, res) => {
    const { account_id, session, token, actor } = signedIn(res);
    const { name } = bodyOf(req, profileSchema);
    const account = await transact(async (inside) => {
      const before = await lockAccount(inside, account_id);
      if (before === undefined) throw new Problem('unauthorized');
      if (before.name === name) return before;
      await setName(inside, account_id, name);
      const details = { name_before: before.name, name };
      const entry = { ...actor, application_id: null, account_id, details };
      await recordAudit(inside, { ...entry, action: 'account_changed' });
      return { ...before, name };
    });
    res.json(sessionAnswer({ token, session: { ...session, account } }));
  };
}

/** `PUT /api/console/account/password` with `{current_password, new_password}`: 200, a new session and its cookie. */
export function changePasswordEndpoint(parts: PeopleParts): RequestHandler {
  return async (req, res) => {
    const caller = callerOf(req, res);
    const origin = { address: caller.address, userAgent: req.get('user-agent') ?? '' };
    const wanted = bodyOf(req, passwordChangeSchema);
    const begun = await changePassword(parts, signedIn(res), wanted, origin, caller);
    parts.cookie.set(res, begun.token, begun.session.expires_at);
    res.json(sessionAnswer(begun));
  };
}

/** `POST /api/console/account/email` with `{email, current_password}`: 202 `{}`; sends a link to the new address. */
export function changeEmailEndpoint(parts: PeopleParts): RequestHandler {
  return async (req, res) => {
    await requestEmailChange(parts, signedIn(res), bodyOf(req, emailChangeSchema), callerOf(req, res));
    res.status(202).json({});
  };
}
