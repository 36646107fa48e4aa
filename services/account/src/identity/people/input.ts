import { z } from 'zod';
import { invalidFields } from '@tollgate/http/invalid-fields';
import { describedAs } from '../../http/input/described-as.ts';
import { nameSchema } from '../../http/input/name.ts';
import { emailField } from '../accounts/input.ts';
import { givenPasswordField, newPasswordField } from '../passwords/input.ts';
import { isSecretToken } from '../secret-token.ts';

const UNKNOWN_TOKEN = 'is unknown, used or expired';

/** A token that can't exist gets the same error as one that doesn't. */
const tokenField = describedAs(z.string('must be text').refine(isSecretToken, UNKNOWN_TOKEN), {
  type: 'string',
  pattern: '^[A-Za-z0-9_-]{43}$',
  description: 'The token from the link in the email.',
});

export function unknownToken() {
  return invalidFields([{ field: 'token', message: UNKNOWN_TOKEN }]);
}

export function missingSignUpPassword() {
  return invalidFields([{ field: 'password', message: 'is required to confirm a sign-up' }]);
}

/** A 400, not a 401: the session is valid. */
export function wrongCurrentPassword() {
  return invalidFields([{ field: 'current_password', message: 'is wrong' }]);
}

export const signUpSchema = z.strictObject({ email: emailField, name: nameSchema });

export const tokenSchema = z.strictObject({ token: tokenField });
export const verificationSchema = z.strictObject({
  token: tokenField,
  password: newPasswordField.optional().meta({
    description: 'The password of a new account. Not needed to confirm a new email address.',
  }),
});
export const newPasswordSchema = z.strictObject({ token: tokenField, password: newPasswordField });
export const passwordChangeSchema = z.strictObject({
  current_password: givenPasswordField,
  new_password: newPasswordField,
});
export const emailChangeSchema = z.strictObject({ email: emailField, current_password: givenPasswordField });
export const profileSchema = z.strictObject({ name: nameSchema });
