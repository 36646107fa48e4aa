import type { RequestHandler } from 'express';
import { refuseExceeded } from '../../attempts/attempt-counts.ts';
import { passkeyOptionsAttempt } from '../../attempts/second-step-limits.ts';
import { bodyOf } from '../../../http/input/json-body.ts';
import { callerOf } from '../../../http/caller-address.ts';
import { browserOf, sendSession } from '../../sessions/endpoints.ts';
import { signedIn } from '../../sessions/require-session.ts';
import {
  confirmWithPasskey,
  confirmWithPassword,
  confirmWithRecoveryCode,
  confirmWithTotp,
} from '../confirmation.ts';
import {
  passkeyConfirmationSchema,
  passkeyStepOptionsSchema,
  passkeyStepSchema,
  passwordConfirmationSchema,
  recoveryConfirmationSchema,
  recoveryStepSchema,
  signInTokenOf,
  totpConfirmationSchema,
  totpStepSchema,
} from '../input.ts';
import { assertionOptions } from '../passkeys/assertion.ts';
import { findPendingSignIn } from '../../sessions/pending-sign-ins.ts';
import {
  completeWithPasskey,
  completeWithRecoveryCode,
  completeWithTotp,
  signInExpired,
  signInWithPasskey,
} from './second-step.ts';
import type { TwoFactorParts } from '../two-factor.ts';

/**
 * The second step of a sign-in, under `/api/console/session`: 201, the session and its cookie, as without a second
 * step. All: 401 `unauthorized` for a `sign_in_token` that has expired or was used; 400 for a wrong factor, after which
 * the token stays valid; 429 `too_many_requests` with Retry-After.
 */

/** `GET /api/console/sign-in`: 200 `{passkeys}`. */
export function waysToSignInEndpoint({ relyingParty }: TwoFactorParts): RequestHandler {
  return (_req, res) => {
    res.json({ passkeys: relyingParty === undefined ? null : { origin: relyingParty.origin } });
  };
}

/** `POST …/totp` with `{sign_in_token, code}`. */
export function totpStepEndpoint(parts: TwoFactorParts): RequestHandler {
  return async (req, res) => {
    const { sign_in_token, code } = bodyOf(req, totpStepSchema);
    const request = { sign_in_token: signInTokenOf(sign_in_token), code };
    const from = { browser: browserOf(req, parts.cookie), by: callerOf(req, res) };
    sendSession(res, parts.cookie, await completeWithTotp(parts, { ...request, ...from }));
  };
}

/** `POST …/recovery-code` with `{sign_in_token, code}`. */
export function recoveryStepEndpoint(parts: TwoFactorParts): RequestHandler {
  return async (req, res) => {
    const { sign_in_token, code } = bodyOf(req, recoveryStepSchema);
    const request = { sign_in_token: signInTokenOf(sign_in_token), code };
    const from = { browser: browserOf(req, parts.cookie), by: callerOf(req, res) };
    sendSession(res, parts.cookie, await completeWithRecoveryCode(parts, { ...request, ...from }));
  };
}

/** `POST …/passkey/options` with `{sign_in_token?}`: 200, for `navigator.credentials.get()`. 409 `passkeys_unavailable`. */
export function passkeyStepOptionsEndpoint(parts: TwoFactorParts): RequestHandler {
  return async (req, res) => {
    const { sign_in_token } = bodyOf(req, passkeyStepOptionsSchema);
    if (sign_in_token === undefined) {
      // Each leaves a row until it expires.
      refuseExceeded(
        await parts.counts.take(passkeyOptionsAttempt(parts.signInLimits, callerOf(req, res).addressGroup)),
      );
      res.json(await assertionOptions(parts, { purpose: 'sign_in', accountId: null }));
      return;
    }
    const accountId = await findPendingSignIn(parts.query, signInTokenOf(sign_in_token));
    if (accountId === undefined) throw signInExpired();
    res.json(await assertionOptions(parts, { purpose: 'second_step', accountId }));
  };
}

/** `POST …/passkey` with `{sign_in_token?, credential}`; without the token, the passkey replaces the password. */
export function passkeyStepEndpoint(parts: TwoFactorParts): RequestHandler {
  return async (req, res) => {
    const { sign_in_token, credential } = bodyOf(req, passkeyStepSchema);
    const request = { credential, browser: browserOf(req, parts.cookie), by: callerOf(req, res) };
    const begun =
      sign_in_token === undefined
        ? await signInWithPasskey(parts, request)
        : await completeWithPasskey(parts, { ...request, sign_in_token: signInTokenOf(sign_in_token) });
    sendSession(res, parts.cookie, begun);
  };
}

/**
 * `POST …/confirm` with `{password}`: 204. For what answers 403 `confirmation_required`. 409 `second_factor_required`
 * where the account has one.
 */
export function confirmEndpoint(parts: TwoFactorParts): RequestHandler {
  return async (req, res) => {
    const { password } = bodyOf(req, passwordConfirmationSchema);
    await confirmWithPassword(parts, signedIn(res), password, callerOf(req, res));
    res.status(204).end();
  };
}

/** `POST …/confirm/totp` with `{code}`: 204. */
export function confirmWithTotpEndpoint(parts: TwoFactorParts): RequestHandler {
  return async (req, res) => {
    const { code } = bodyOf(req, totpConfirmationSchema);
    await confirmWithTotp(parts, signedIn(res), code, callerOf(req, res));
    res.status(204).end();
  };
}

/** `POST …/confirm/recovery-code` with `{code}`: 204. */
export function confirmWithRecoveryCodeEndpoint(parts: TwoFactorParts): RequestHandler {
  return async (req, res) => {
    const { code } = bodyOf(req, recoveryConfirmationSchema);
    await confirmWithRecoveryCode(parts, signedIn(res), code, callerOf(req, res));
    res.status(204).end();
  };
}

/** `POST …/confirm/passkey/options`: 200, for `navigator.credentials.get()`. 409 `passkeys_unavailable`. */
export function confirmOptionsEndpoint(parts: TwoFactorParts): RequestHandler {
  return async (_req, res) => {
    const { account_id: accountId } = signedIn(res);
    res.json(await assertionOptions(parts, { purpose: 'confirm', accountId }));
  };
}

/** `POST …/confirm/passkey` with `{credential}`: 204. */
export function confirmWithPasskeyEndpoint(parts: TwoFactorParts): RequestHandler {
  return async (req, res) => {
    const { credential } = bodyOf(req, passkeyConfirmationSchema);
    await confirmWithPasskey(parts, signedIn(res), credential, callerOf(req, res));
    res.status(204).end();
  };
}
