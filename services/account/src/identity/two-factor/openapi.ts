import { z } from 'zod';
import type { Answer, ApiChapter } from '../../http/operation.ts';
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
  totpConfirmationSchema,
  totpStepSchema,
} from './input.ts';

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

const SIGNED_IN: Answer = {
  description: 'The new session.',
  schema: sessionSchema,
  headers: { 'Set-Cookie': "The session's cookie." },
};

const OPTIONS: Answer = {
  description: 'Options for `navigator.credentials.get()`.',
  schema: webauthnOptionsSchema,
};

const CONFIRMED =
  'Needs a session that was signed in or confirmed within 15 minutes, with a second factor if the account has one, ' +
  'else returns `confirmation_required`.';

const ENDS_OTHERS = 'The account’s other sessions and its temporary token end.';

const passkeyParams = z.object({ passkey_id: idParameter });

export const signInApi: ApiChapter = {
  title: 'Two-factor sign-in',
  description:
    'The second step of a sign-in, after `POST /api/console/session` has returned 202. An expired or used ' +
    '`sign_in_token` is `unauthorized`; a wrong code leaves the token valid.',
  operations: {
    'GET /api/console/sign-in': {
      operationId: 'getWaysToSignIn',
      summary: 'Get the ways to sign in',
      caller: 'anyone',
      answers: { 200: { description: 'What this installation offers.', schema: waysToSignInSchema } },
    },
    'POST /api/console/session/totp': {
      operationId: 'signInWithTotp',
      summary: 'Complete a sign-in with a code from the authenticator app',
      description: 'Each code is accepted once.',
      caller: 'anyone',
      body: totpStepSchema,
      example: { sign_in_token: SIGN_IN_TOKEN, code: CODE },
      answers: { 201: SIGNED_IN },
      problems: ['unauthorized', 'too_many_requests'],
    },
    'POST /api/console/session/recovery-code': {
      operationId: 'signInWithRecoveryCode',
      summary: 'Complete a sign-in with a recovery code',
      description: 'Each code is accepted once. The owner is notified by email.',
      caller: 'anyone',
      body: recoveryStepSchema,
      example: { sign_in_token: SIGN_IN_TOKEN, code: '7g2m-x4kq-9v0d-w3hr' },
      answers: { 201: SIGNED_IN },
      problems: ['unauthorized', 'too_many_requests'],
    },
    'POST /api/console/session/passkey/options': {
      operationId: 'getPasskeySignInOptions',
      summary: 'Get the options for signing in with a passkey',
      caller: 'anyone',
      body: passkeyStepOptionsSchema,
      example: {},
      answers: { 200: OPTIONS },
      problems: ['unauthorized', 'passkeys_unavailable', 'too_many_requests'],
    },
    'POST /api/console/session/passkey': {
      operationId: 'signInWithPasskey',
      summary: 'Sign in with a passkey',
      description:
        'With a `sign_in_token`, completes that sign-in. Without one, the passkey replaces the password; the ' +
        'authenticator must then have verified its user.',
      caller: 'anyone',
      body: passkeyStepSchema,
      example: { sign_in_token: SIGN_IN_TOKEN, credential: ASSERTION },
      answers: { 201: SIGNED_IN },
      problems: ['unauthorized', 'passkeys_unavailable', 'too_many_requests'],
    },
    'POST /api/console/session/confirm': {
      operationId: 'confirmSession',
      summary: 'Confirm the session with the password',
      description:
        'For 15 minutes, the session can then change how the account signs in. An account with a second factor ' +
        'returns `second_factor_required`: confirm with that.',
      caller: 'session',
      body: passwordConfirmationSchema,
      example: { password: 'correct horse battery staple' },
      answers: { 204: { description: 'The session is confirmed.' } },
      problems: ['second_factor_required', 'too_many_requests'],
    },
    'POST /api/console/session/confirm/totp': {
      operationId: 'confirmSessionWithTotp',
      summary: 'Confirm the session with a code from the authenticator app',
      description: 'Each code is accepted once.',
      caller: 'session',
      body: totpConfirmationSchema,
      example: { code: CODE },
      answers: { 204: { description: 'The session is confirmed.' } },
      problems: ['too_many_requests'],
    },
    'POST /api/console/session/confirm/recovery-code': {
      operationId: 'confirmSessionWithRecoveryCode',
      summary: 'Confirm the session with a recovery code',
      description: 'Each code is accepted once. The owner is notified by email.',
      caller: 'session',
      body: recoveryConfirmationSchema,
      example: { code: '7g2m-x4kq-9v0d-w3hr' },
      answers: { 204: { description: 'The session is confirmed.' } },
      problems: ['too_many_requests'],
    },
    'POST /api/console/session/confirm/passkey/options': {
      operationId: 'getConfirmationOptions',
      summary: 'Get the options for confirming the session with a passkey',
      caller: 'session',
      answers: { 200: OPTIONS },
      problems: ['passkeys_unavailable'],
    },
    'POST /api/console/session/confirm/passkey': {
      operationId: 'confirmSessionWithPasskey',
      summary: 'Confirm the session with a passkey',
      caller: 'session',
      body: passkeyConfirmationSchema,
      example: { credential: ASSERTION },
      answers: { 204: { description: 'The session is confirmed.' } },
      problems: ['passkeys_unavailable', 'too_many_requests'],
    },
  },
};

export const twoFactorApi: ApiChapter = {
  title: 'Two-factor authentication',
  description: 'The authenticator app, passkeys and recovery codes of an account.',
  operations: {
    'GET /api/console/two-factor': {
      operationId: 'getTwoFactor',
      summary: 'Get the second factors of the account',
      caller: 'session',
      answers: { 200: { description: 'The second factors.', schema: twoFactorSchema } },
    },
    'POST /api/console/two-factor/totp': {
      operationId: 'setUpTotp',
      summary: 'Set up an authenticator app',
      description: `The secret counts once a code has confirmed it, within an hour. ${CONFIRMED}`,
      caller: 'session',
      answers: { 201: { description: 'The secret for the app.', schema: totpSetupSchema } },
      problems: ['confirmation_required', 'totp_enabled'],
    },
    'POST /api/console/two-factor/totp/confirm': {
      operationId: 'confirmTotp',
      summary: 'Enable the authenticator app with its first code',
      description: ENDS_OTHERS,
      caller: 'session',
      body: totpConfirmationSchema,
      example: { code: CODE },
      answers: { 200: { description: 'The app is enabled.', schema: enabledSchema } },
    },
    'DELETE /api/console/two-factor/totp': {
      operationId: 'removeTotp',
      summary: 'Remove the authenticator app',
      description: CONFIRMED,
      caller: 'session',
      answers: { 204: { description: 'The app is removed.' } },
      problems: ['confirmation_required', 'not_found'],
    },
    'POST /api/console/two-factor/passkeys/options': {
      operationId: 'getPasskeyOptions',
      summary: 'Get the options for adding a passkey',
      description: CONFIRMED,
      caller: 'session',
      answers: {
        200: { ...OPTIONS, description: 'Options for `navigator.credentials.create()`.' },
      },
      problems: ['confirmation_required', 'passkeys_unavailable'],
    },
    'POST /api/console/two-factor/passkeys': {
      operationId: 'addPasskey',
      summary: 'Add a passkey',
      description: ENDS_OTHERS,
      caller: 'session',
      body: newPasskeySchema,
      example: { name: 'Laptop', credential: REGISTRATION },
      answers: { 201: { description: 'The passkey.', schema: addedPasskeySchema } },
      problems: ['passkey_limit_reached', 'passkeys_unavailable'],
    },
    'PATCH /api/console/two-factor/passkeys/{passkey_id}': {
      operationId: 'renamePasskey',
      summary: 'Rename a passkey',
      caller: 'session',
      params: passkeyParams,
      body: passkeyNameSchema,
      example: { name: 'Laptop' },
      answers: { 200: { description: 'The passkey.', schema: renamedPasskeySchema } },
    },
    'DELETE /api/console/two-factor/passkeys/{passkey_id}': {
      operationId: 'removePasskey',
      summary: 'Remove a passkey',
      description: CONFIRMED,
      caller: 'session',
      params: passkeyParams,
      answers: { 204: { description: 'The passkey is removed.' } },
      problems: ['confirmation_required'],
    },
    'POST /api/console/two-factor/recovery-codes': {
      operationId: 'renewRecoveryCodes',
      summary: 'Generate new recovery codes',
      description: `The former codes end. ${CONFIRMED}`,
      caller: 'session',
      answers: { 201: { description: 'Ten codes.', schema: recoveryCodesSchema } },
      problems: ['confirmation_required', 'two_factor_disabled'],
    },
  },
};
