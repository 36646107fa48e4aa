import { z } from 'zod';
import { nameSchema } from '../../http/input/name.ts';
import { describedAs } from '../../http/input/described-as.ts';
import { givenPasswordField } from '../passwords/input.ts';
import { isSecretToken } from '../secret-token.ts';
import { assertionSchema, registrationSchema } from './passkeys/input.ts';

/** A token that can't exist is refused like one that has expired: with `unauthorized`. */
const signInTokenField = describedAs(z.string('must be text').max(200, 'is too long'), {
  type: 'string',
  maxLength: 200,
  description: 'The `sign_in_token` of `POST /api/console/session`.',
});

export const signInTokenOf = (token: string) => (isSecretToken(token) ? token : '');

const totpCodeField = describedAs(
  z
    .string('must be text')
    .transform((code) => code.replace(/\s/g, ''))
    .refine((code) => /^\d{6}$/.test(code), 'must be the 6 digits that the app shows'),
  { type: 'string', pattern: '^[0-9]{6}$', description: 'The code that the authenticator app shows now.' },
);

const recoveryCodeField = z
  .string('must be text')
  .min(1, 'must not be empty')
  .max(100, 'is too long')
  .meta({ description: 'One of the recovery codes. Case, spaces and hyphens do not matter.' });

export const totpStepSchema = z.strictObject({ sign_in_token: signInTokenField, code: totpCodeField });
export const recoveryStepSchema = z.strictObject({
  sign_in_token: signInTokenField,
  code: recoveryCodeField,
});
export const passkeyStepOptionsSchema = z.strictObject({
  sign_in_token: signInTokenField.optional().meta({
    description:
      'The `sign_in_token` of `POST /api/console/session`. Without it, the passkey replaces the password.',
  }),
});
export const passkeyStepSchema = z.strictObject({
  sign_in_token: signInTokenField.optional().meta({
    description: 'As for the options.',
  }),
  credential: assertionSchema,
});
export const passwordConfirmationSchema = z.strictObject({ password: givenPasswordField });
export const passkeyConfirmationSchema = z.strictObject({ credential: assertionSchema });
export const totpConfirmationSchema = z.strictObject({ code: totpCodeField });
export const recoveryConfirmationSchema = z.strictObject({ code: recoveryCodeField });
export const newPasskeySchema = z.strictObject({ name: nameSchema, credential: registrationSchema });
export const passkeyNameSchema = z.strictObject({ name: nameSchema });
