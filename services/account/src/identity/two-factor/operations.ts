import { z } from 'zod';
import type { Answer } from '@tollgate/contracts/api-description';
import { anyone, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import type { Request, Response } from 'express';
import { Problem } from '@tollgate/http/problem';
import { refuseExceeded } from '../attempts/attempt-counts.ts';
import type { AttemptCounts } from '../attempts/attempt-counts.ts';
import { passkeyOptionsAttempt } from '../attempts/second-step-limits.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { callerOf } from '../../http/caller-address.ts';
import { browserOf, setSession } from '../sessions/operations.ts';
import { findPendingSignIn } from '../sessions/pending-sign-ins.ts';
import { session } from '../sessions/require-session.ts';
import { addPasskey, confirmTotp, removePasskey, removeTotp, renewCodes, setUpTotp } from './changes.ts';
import {
  confirmWithPasskey,
  confirmWithPassword,
  confirmWithRecoveryCode,
  confirmWithTotp,
  requireConfirmed,
} from './confirmation.ts';
import { assertionOptions } from './passkeys/assertion.ts';
import type { PasskeyNeeds } from './passkeys/assertion.ts';
import { listPasskeys, renamePasskey } from './passkeys/passkey-store.ts';
import { registrationOptions } from './passkeys/registration.ts';
import { countRecoveryCodes } from './recovery-codes.ts';
import {
  completeWithPasskey,
  completeWithRecoveryCode,
  completeWithTotp,
  signInExpired,
  signInWithPasskey,
} from './sign-in/second-step.ts';
import { totpEnabledAt } from './totp/totp-store.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { sessionSchema } from '../sessions/answers.ts';
import {
  addedPasskeySchema,
  enabledSchema,
  recoveryCodesSchema,
  renamedPasskeySchema,
  totpSetupSchema,
  twoFactorSchema,
  waysToSignInSchema,
  webauthnOptionsSchema,
} from './answers.ts';
import {
  newPasskeySchema,
  passkeyConfirmationSchema,
  passkeyNameSchema,
  passkeyStepOptionsSchema,
  passkeyStepSchema,
  passwordConfirmationSchema,
  recoveryConfirmationSchema,
  recoveryStepSchema,
  signInTokenOf,
  totpConfirmationSchema,
  totpStepSchema,
} from './input.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import type { SignInLimits } from '../attempts/sign-in-limits.ts';
import type { SessionCookie } from '../sessions/session-cookie.ts';

const SIGN_IN_TOKEN = 'b3J2aWxsZS13cmlnaHQtYW5kLXdpbGJ1ci13cmlnaHQ';
const CODE = '492039';

const CREDENTIAL = { id: 'p4N8yAfKz1dRk3Jt', rawId: 'p4N8yAfKz1dRk3Jt', type: 'public-key' };
const CLIENT_DATA = 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0';

const ASSERTION = {
  ...CREDENTIAL,
  response: {
    clientDataJSON: CLIENT_DATA,
    authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ',
    signature: 'MEUCIQDx0cPpVZx2yK3vR9cTz0o8',
  },
};

const REGISTRATION = {
  ...CREDENTIAL,
  response: { clientDataJSON: CLIENT_DATA, attestationObject: 'o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YQ' },
};

const SIGNED_IN = {
  description: 'The new session.',
  schema: sessionSchema,
  headers: { 'Set-Cookie': "The session's cookie." },
} satisfies Answer;

const OPTIONS = {
  description: 'Options for `navigator.credentials.get()`.',
  schema: webauthnOptionsSchema,
} satisfies Answer;

const CONFIRMED =
  'Needs a session that was signed in or confirmed within 15 minutes, with a second factor if the account has one, ' +
  'else returns `confirmation_required`.';

const ENDS_OTHERS = 'The account’s other sessions and its temporary token end.';

const passkeyParams = z.object({ passkey_id: idParameter });

export const ownerSignIn = {
  title: 'Two-factor sign-in',
  description:
    'The second step of a sign-in, after `POST /api/console/session` has returned 202. An expired or used ' +
    '`sign_in_token` is `unauthorized`; a wrong code leaves the token valid.',
  operations: [
    operation('GET /api/console/sign-in', {
      operationId: 'getWaysToSignIn',
      summary: 'Get the ways to sign in',
      caller: anyone,
      answers: { 200: { description: 'What this installation offers.', schema: waysToSignInSchema } },
      handle: ({ relyingParty }: Pick<PasskeyNeeds, 'relyingParty'>) => ({
        passkeys: relyingParty === undefined ? null : { origin: relyingParty.origin },
      }),
    }),
    operation('POST /api/console/session/totp', {
      operationId: 'signInWithTotp',
      summary: 'Complete a sign-in with a code from the authenticator app',
      description: 'Each code is accepted once.',
      caller: anyone,
      body: totpStepSchema,
      example: { sign_in_token: SIGN_IN_TOKEN, code: CODE },
      answers: { 201: SIGNED_IN },
      problems: ['unauthorized', 'too_many_requests'],
      handle: async (
        needs: Parameters<typeof completeWithTotp>[0] & { cookie: SessionCookie },
        { body: { sign_in_token, code }, req, res },
      ) => {
        const request = { sign_in_token: signInTokenOf(sign_in_token), code, ...fromOf(needs, req, res) };
        return setSession(res, needs.cookie, await completeWithTotp(needs, request));
      },
    }),
    operation('POST /api/console/session/recovery-code', {
      operationId: 'signInWithRecoveryCode',
      summary: 'Complete a sign-in with a recovery code',
      description: 'Each code is accepted once. The owner is notified by email.',
      caller: anyone,
      body: recoveryStepSchema,
      example: { sign_in_token: SIGN_IN_TOKEN, code: '7g2m-x4kq-9v0d-w3hr' },
      answers: { 201: SIGNED_IN },
      problems: ['unauthorized', 'too_many_requests'],
      handle: async (
        needs: Parameters<typeof completeWithRecoveryCode>[0] & { cookie: SessionCookie },
        { body: { sign_in_token, code }, req, res },
      ) => {
        const request = { sign_in_token: signInTokenOf(sign_in_token), code, ...fromOf(needs, req, res) };
        return setSession(res, needs.cookie, await completeWithRecoveryCode(needs, request));
      },
    }),
    operation('POST /api/console/session/passkey/options', {
      operationId: 'getPasskeySignInOptions',
      summary: 'Get the options for signing in with a passkey',
      caller: anyone,
      body: passkeyStepOptionsSchema,
      example: {},
      answers: { 200: OPTIONS },
      problems: ['unauthorized', 'passkeys_unavailable', 'too_many_requests'],
      handle: async (
        needs: PasskeyNeeds & { counts: AttemptCounts; signInLimits: SignInLimits },
        { body: { sign_in_token }, req, res },
      ) => {
        if (sign_in_token === undefined) {
          const { addressGroup } = callerOf(req, res);
          // Each leaves a row until it expires.
          refuseExceeded(await needs.counts.take(passkeyOptionsAttempt(needs.signInLimits, addressGroup)));
          return assertionOptions(needs, { purpose: 'sign_in', accountId: null });
        }
        const accountId = await findPendingSignIn(needs.query, signInTokenOf(sign_in_token));
        if (accountId === undefined) throw signInExpired();
        return assertionOptions(needs, { purpose: 'second_step', accountId });
      },
    }),
    operation('POST /api/console/session/passkey', {
      operationId: 'signInWithPasskey',
      summary: 'Sign in with a passkey',
      description:
        'With a `sign_in_token`, completes that sign-in. Without one, the passkey replaces the password; the ' +
        'authenticator must then have verified its user.',
      caller: anyone,
      body: passkeyStepSchema,
      example: { sign_in_token: SIGN_IN_TOKEN, credential: ASSERTION },
      answers: { 201: SIGNED_IN },
      problems: ['unauthorized', 'passkeys_unavailable', 'too_many_requests'],
      handle: async (
        needs: Parameters<typeof signInWithPasskey>[0] &
          Parameters<typeof completeWithPasskey>[0] & { cookie: SessionCookie },
        { body: { sign_in_token, credential }, req, res },
      ) => {
        const request = { credential, ...fromOf(needs, req, res) };
        const begun =
          sign_in_token === undefined
            ? await signInWithPasskey(needs, request)
            : await completeWithPasskey(needs, { ...request, sign_in_token: signInTokenOf(sign_in_token) });
        return setSession(res, needs.cookie, begun);
      },
    }),
    operation('POST /api/console/session/confirm', {
      operationId: 'confirmSession',
      summary: 'Confirm the session with the password',
      description:
        'For 15 minutes, the session can then change how the account signs in. An account with a second factor ' +
        'returns `second_factor_required`: confirm with that.',
      caller: session,
      body: passwordConfirmationSchema,
      example: { password: 'correct horse battery staple' },
      answers: { 204: { description: 'The session is confirmed.' } },
      problems: ['second_factor_required', 'too_many_requests'],
      handle: (needs: Parameters<typeof confirmWithPassword>[0], { by, body, req, res }) =>
        confirmWithPassword(needs, by, body.password, callerOf(req, res)),
    }),
    operation('POST /api/console/session/confirm/totp', {
      operationId: 'confirmSessionWithTotp',
      summary: 'Confirm the session with a code from the authenticator app',
      description: 'Each code is accepted once.',
      caller: session,
      body: totpConfirmationSchema,
      example: { code: CODE },
      answers: { 204: { description: 'The session is confirmed.' } },
      problems: ['too_many_requests'],
      handle: (needs: Parameters<typeof confirmWithTotp>[0], { by, body, req, res }) =>
        confirmWithTotp(needs, by, body.code, callerOf(req, res)),
    }),
    operation('POST /api/console/session/confirm/recovery-code', {
      operationId: 'confirmSessionWithRecoveryCode',
      summary: 'Confirm the session with a recovery code',
      description: 'Each code is accepted once. The owner is notified by email.',
      caller: session,
      body: recoveryConfirmationSchema,
      example: { code: '7g2m-x4kq-9v0d-w3hr' },
      answers: { 204: { description: 'The session is confirmed.' } },
      problems: ['too_many_requests'],
      handle: (needs: Parameters<typeof confirmWithRecoveryCode>[0], { by, body, req, res }) =>
        confirmWithRecoveryCode(needs, by, body.code, callerOf(req, res)),
    }),
    operation('POST /api/console/session/confirm/passkey/options', {
      operationId: 'getConfirmationOptions',
      summary: 'Get the options for confirming the session with a passkey',
      caller: session,
      answers: { 200: OPTIONS },
      problems: ['passkeys_unavailable'],
      handle: (needs: Parameters<typeof assertionOptions>[0], { by }) =>
        assertionOptions(needs, { purpose: 'confirm', accountId: by.account_id }),
    }),
    operation('POST /api/console/session/confirm/passkey', {
      operationId: 'confirmSessionWithPasskey',
      summary: 'Confirm the session with a passkey',
      caller: session,
      body: passkeyConfirmationSchema,
      example: { credential: ASSERTION },
      answers: { 204: { description: 'The session is confirmed.' } },
      problems: ['passkeys_unavailable', 'too_many_requests'],
      handle: (needs: Parameters<typeof confirmWithPasskey>[0], { by, body, req, res }) =>
        confirmWithPasskey(needs, by, body.credential, callerOf(req, res)),
    }),
  ],
} satisfies Chapter;

export const ownerTwoFactor = {
  title: 'Two-factor authentication',
  description: 'The authenticator app, passkeys and recovery codes of an account.',
  operations: [
    operation('GET /api/console/two-factor', {
      operationId: 'getTwoFactor',
      summary: 'Get the second factors of the account',
      caller: session,
      answers: { 200: { description: 'The second factors.', schema: twoFactorSchema } },
      handle: async ({ query }: { query: Query }, { by: { account_id } }) => {
        const [enabledAt, passkeys, recovery_codes_left] = await Promise.all([
          totpEnabledAt(query, account_id),
          listPasskeys(query, account_id),
          countRecoveryCodes(query, account_id),
        ]);
        return {
          enabled: enabledAt !== undefined || passkeys.length > 0,
          totp: enabledAt === undefined ? null : { enabled_at: enabledAt },
          passkeys,
          recovery_codes_left,
        };
      },
    }),
    operation('POST /api/console/two-factor/totp', {
      operationId: 'setUpTotp',
      summary: 'Set up an authenticator app',
      description: `The secret counts once a code has confirmed it, within an hour. ${CONFIRMED}`,
      caller: session,
      guard: requireConfirmed,
      answers: { 201: { description: 'The secret for the app.', schema: totpSetupSchema } },
      problems: ['confirmation_required', 'totp_enabled'],
      handle: (needs: Parameters<typeof setUpTotp>[0], { by }) => setUpTotp(needs, by),
    }),
    operation('POST /api/console/two-factor/totp/confirm', {
      operationId: 'confirmTotp',
      summary: 'Enable the authenticator app with its first code',
      description: ENDS_OTHERS,
      caller: session,
      body: totpConfirmationSchema,
      example: { code: CODE },
      answers: { 200: { description: 'The app is enabled.', schema: enabledSchema } },
      problems: ['too_many_requests'],
      handle: (needs: Parameters<typeof confirmTotp>[0], { by, body, req, res }) =>
        confirmTotp(needs, by, body.code, callerOf(req, res)),
    }),
    operation('DELETE /api/console/two-factor/totp', {
      operationId: 'removeTotp',
      summary: 'Remove the authenticator app',
      description: CONFIRMED,
      caller: session,
      guard: requireConfirmed,
      answers: { 204: { description: 'The app is removed.' } },
      problems: ['confirmation_required', 'not_found', 'sso_needs_second_factor'],
      handle: (needs: Parameters<typeof removeTotp>[0], { by }) => removeTotp(needs, by),
    }),
    operation('POST /api/console/two-factor/passkeys/options', {
      operationId: 'getPasskeyOptions',
      summary: 'Get the options for adding a passkey',
      description: CONFIRMED,
      caller: session,
      guard: requireConfirmed,
      answers: {
        200: { ...OPTIONS, description: 'Options for `navigator.credentials.create()`.' },
      },
      problems: ['confirmation_required', 'passkeys_unavailable'],
      handle: (needs: Parameters<typeof registrationOptions>[0], { by }) =>
        registrationOptions(needs, by.session.account),
    }),
    operation('POST /api/console/two-factor/passkeys', {
      operationId: 'addPasskey',
      summary: 'Add a passkey',
      description: ENDS_OTHERS,
      caller: session,
      body: newPasskeySchema,
      example: { name: 'Laptop', credential: REGISTRATION },
      answers: { 201: { description: 'The passkey.', schema: addedPasskeySchema } },
      problems: ['passkey_limit_reached', 'passkeys_unavailable'],
      handle: (needs: Parameters<typeof addPasskey>[0], { by, body }) => addPasskey(needs, by, body),
    }),
    operation('PATCH /api/console/two-factor/passkeys/{passkey_id}', {
      operationId: 'renamePasskey',
      summary: 'Rename a passkey',
      caller: session,
      params: passkeyParams,
      body: passkeyNameSchema,
      example: { name: 'Laptop' },
      answers: { 200: { description: 'The passkey.', schema: renamedPasskeySchema } },
      handle: (
        { transact }: { transact: Transact },
        { by: { account_id, actor }, params: { passkey_id }, body: { name } },
      ) =>
        transact(async (inside) => {
          const passkey = await renamePasskey(inside, account_id, passkey_id, name);
          if (passkey === undefined) throw new Problem('not_found');
          const entry = { ...actor, application_id: null, account_id, details: { passkey_id, name } };
          await recordAudit(inside, { ...entry, action: 'passkey_renamed' });
          return passkey;
        }),
    }),
    operation('DELETE /api/console/two-factor/passkeys/{passkey_id}', {
      operationId: 'removePasskey',
      summary: 'Remove a passkey',
      description: CONFIRMED,
      caller: session,
      guard: requireConfirmed,
      params: passkeyParams,
      answers: { 204: { description: 'The passkey is removed.' } },
      problems: ['confirmation_required', 'sso_needs_second_factor'],
      handle: (needs: Parameters<typeof removePasskey>[0], { by, params }) =>
        removePasskey(needs, by, params.passkey_id),
    }),
    operation('POST /api/console/two-factor/recovery-codes', {
      operationId: 'renewRecoveryCodes',
      summary: 'Generate new recovery codes',
      description: `The former codes end. ${CONFIRMED}`,
      caller: session,
      guard: requireConfirmed,
      answers: { 201: { description: 'Ten codes.', schema: recoveryCodesSchema } },
      problems: ['confirmation_required', 'two_factor_disabled'],
      handle: (needs: Parameters<typeof renewCodes>[0], { by }) => renewCodes(needs, by),
    }),
  ],
} satisfies Chapter;

/** The browser and the caller of a sign-in. */
function fromOf({ cookie }: { cookie: SessionCookie }, req: Request, res: Response) {
  return { browser: browserOf(req, cookie), by: callerOf(req, res) };
}
