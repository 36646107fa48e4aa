import { z } from 'zod';
import { invalidFields } from '@tollgate/http/invalid-fields';
import { describedAs } from '../../http/input/described-as.ts';
import { nameSchema } from '../../http/input/name.ts';
import { emailAddressOf } from './email-address.ts';
import { isSecretToken } from '../secret-token.ts';
import { PASSWORD_CHARACTERS, passwordFault } from '../passwords/password-rules.ts';

const EMAIL_MAX_CHARACTERS = 254;

/**
 * Kept in ASCII, without quoted local parts: two addresses that look alike are then one, for us as for Postgres'
 * lower(), and nothing in them means anything in a mail's header.
 */
const email = describedAs(
  z
    .string('must be text')
    .max(EMAIL_MAX_CHARACTERS, `must have at most ${String(EMAIL_MAX_CHARACTERS)} characters`)
    .transform((value, context) => {
      const address = emailAddressOf(value);
      if (address !== undefined && address.length <= EMAIL_MAX_CHARACTERS) return address;
      context.addIssue({ code: 'custom', message: 'must be an e-mail address' });
      return z.NEVER;
    }),
  { type: 'string', format: 'email', maxLength: EMAIL_MAX_CHARACTERS },
);

/** A password that is compared, not chosen: whatever could be one. */
const givenPassword = describedAs(
  z
    .string('must be text')
    .min(1, 'must not be empty')
    .refine(
      (value) => Array.from(value).length <= PASSWORD_CHARACTERS.max,
      `must have at most ${String(PASSWORD_CHARACTERS.max)} characters`,
    ),
  { type: 'string', format: 'password', minLength: 1, maxLength: PASSWORD_CHARACTERS.max },
);

/** Held to its rules together with the address (password-rules.ts). */
const newPassword = describedAs(z.string('must be text'), {
  type: 'string',
  format: 'password',
  minLength: PASSWORD_CHARACTERS.min,
  maxLength: PASSWORD_CHARACTERS.max,
  description: 'None of the commonest passwords, and without the e-mail address.',
});

const UNKNOWN_TOKEN = 'is unknown, used or expired';

/** What a link's token may look like; whether it is good is another question, with the same answer. */
const token = describedAs(z.string('must be text').refine(isSecretToken, UNKNOWN_TOKEN), {
  type: 'string',
  pattern: '^[A-Za-z0-9_-]{43}$',
  description: "Of the mail's link.",
});

/** The 400 for a link's token that is no good (any more). */
export function unknownToken() {
  return invalidFields([{ field: 'token', message: UNKNOWN_TOKEN }]);
}

/** The 400 for a sign-up's link without the password that was chosen at the sign-up. */
export function missingSignUpPassword() {
  return invalidFields([{ field: 'password', message: 'is required to confirm a sign-up' }]);
}

/** The 400 for another password: the link is that of another sign-up with the address, or it was mistyped. */
export function wrongSignUpPassword() {
  return invalidFields([{ field: 'password', message: 'is not the one that this sign-up was made with' }]);
}

/** The 400 for a current password that is wrong. It isn't a 401: the session is good. */
export function wrongCurrentPassword() {
  return invalidFields([{ field: 'current_password', message: 'is wrong' }]);
}

/** Holds a new password to the rules where the address is known only now. */
export function assertPasswordFits(field: string, password: string, address: string): void {
  const message = passwordFault(password, address);
  if (message !== undefined) throw invalidFields([{ field, message }]);
}

export const signUpSchema = z.strictObject({ email, name: nameSchema, password: newPassword }).check(
  z.superRefine(
    ({ email: address, password }: { email: unknown; password: unknown }, context) => {
      if (typeof password !== 'string') return;
      const message = passwordFault(password, typeof address === 'string' ? address : '');
      if (message !== undefined) context.addIssue({ code: 'custom', path: ['password'], message });
    },
    // Named together with the faults of the other fields, not only once those are mended.
    { when: ({ value }) => typeof value === 'object' && value !== null },
  ),
);

export const addressSchema = z.strictObject({ email });
export const tokenSchema = z.strictObject({ token });
export const verificationSchema = z.strictObject({
  token,
  password: givenPassword.optional().meta({
    description: 'The password that was chosen at the sign-up. Not needed for a change of address.',
  }),
});
export const signInSchema = z.strictObject({ email, password: givenPassword });
export const newPasswordSchema = z.strictObject({ token, password: newPassword });
export const passwordChangeSchema = z.strictObject({
  current_password: givenPassword,
  new_password: newPassword,
});
export const emailChangeSchema = z.strictObject({ email, current_password: givenPassword });
export const profileSchema = z.strictObject({ name: nameSchema });
