import type { RequestHandler } from 'express';
import { Problem } from '@tollgate/http/problem';
import { idOf } from '../../http/input/id-parameter.ts';
import { bodyOf } from '../../http/input/json-body.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { signedIn } from '../sessions/require-session.ts';
import { addPasskey, confirmTotp, removePasskey, removeTotp, renewCodes, setUpTotp } from './changes.ts';
import { newPasskeySchema, passkeyNameSchema, totpConfirmationSchema } from './input.ts';
import { listPasskeys, renamePasskey } from './passkeys/passkey-store.ts';
import { registrationOptions } from './passkeys/registration.ts';
import { countRecoveryCodes } from './recovery-codes.ts';
import { totpEnabledAt } from './totp/totp-store.ts';
import type { TwoFactorParts } from './two-factor.ts';

/**
 * The account's second factors, under `/api/console/two-factor`. What adds or removes one needs a confirmed session
 * (403 `confirmation_required`). Codes and secrets are in no other response.
 */

/** `GET …`: 200 `{enabled, totp, passkeys, recovery_codes_left}`. */
export function twoFactorEndpoint({ query }: TwoFactorParts): RequestHandler {
  return async (_req, res) => {
    const { account_id } = signedIn(res);
    const [enabledAt, passkeys, recovery_codes_left] = await Promise.all([
      totpEnabledAt(query, account_id),
      listPasskeys(query, account_id),
      countRecoveryCodes(query, account_id),
    ]);
    res.json({
      enabled: enabledAt !== undefined || passkeys.length > 0,
      totp: enabledAt === undefined ? null : { enabled_at: enabledAt },
      passkeys,
      recovery_codes_left,
    });
  };
}

/** `POST …/totp`: 201 `{secret, otpauth_url}`; counts once confirmed. 409 `totp_enabled`. */
export function setUpTotpEndpoint(parts: TwoFactorParts): RequestHandler {
  return async (_req, res) => {
    res.status(201).json(await setUpTotp(parts, signedIn(res)));
  };
}

/** `POST …/totp/confirm` with `{code}`: 200 `{recovery_codes}`. 400 for a wrong code. */
export function confirmTotpEndpoint(parts: TwoFactorParts): RequestHandler {
  return async (req, res) => {
    const { code } = bodyOf(req, totpConfirmationSchema);
    res.json(await confirmTotp(parts, signedIn(res), code));
  };
}

/** `DELETE …/totp`: 204; 404 if there is none. */
export function removeTotpEndpoint(parts: TwoFactorParts): RequestHandler {
  return async (_req, res) => {
    await removeTotp(parts, signedIn(res));
    res.status(204).end();
  };
}

/** `POST …/passkeys/options`: 200, for `navigator.credentials.create()`. 409 `passkeys_unavailable`. */
export function passkeyOptionsEndpoint(parts: TwoFactorParts): RequestHandler {
  return async (_req, res) => {
    res.json(await registrationOptions(parts, signedIn(res).session.account));
  };
}

/** `POST …/passkeys` with `{name, credential}`: 201 `{passkey, recovery_codes}`. 400, 409 `passkey_limit_reached`. */
export function addPasskeyEndpoint(parts: TwoFactorParts): RequestHandler {
  return async (req, res) => {
    res.status(201).json(await addPasskey(parts, signedIn(res), bodyOf(req, newPasskeySchema)));
  };
}

/** `PATCH …/passkeys/{passkey_id}` with `{name}`: 200, the passkey. 404. */
export function renamePasskeyEndpoint({ transact }: TwoFactorParts): RequestHandler {
  return async (req, res) => {
    const { name } = bodyOf(req, passkeyNameSchema);
    const { account_id, actor } = signedIn(res);
    const renamed = await transact(async (inside) => {
      const passkey = await renamePasskey(inside, account_id, idOf(req, 'passkey_id'), name);
      if (passkey === undefined) throw new Problem('not_found');
      const details = { passkey_id: passkey.passkey_id, name };
      const entry = { ...actor, application_id: null, account_id, details };
      await recordAudit(inside, { ...entry, action: 'passkey_renamed' });
      return passkey;
    });
    res.json(renamed);
  };
}

/** `DELETE …/passkeys/{passkey_id}`: 204. 404. */
export function removePasskeyEndpoint(parts: TwoFactorParts): RequestHandler {
  return async (req, res) => {
    await removePasskey(parts, signedIn(res), idOf(req, 'passkey_id'));
    res.status(204).end();
  };
}

/** `POST …/recovery-codes`: 201 `{recovery_codes}`; former ones end. 409 `two_factor_disabled`. */
export function renewCodesEndpoint(parts: TwoFactorParts): RequestHandler {
  return async (_req, res) => {
    res.status(201).json(await renewCodes(parts, signedIn(res)));
  };
}
