import { z } from 'zod';
import { describedAs } from '../../http/input/described-as.ts';
import { emailAddressOf } from '../../mail/email-address.ts';

const EMAIL_MAX_CHARACTERS = 254;

/** ASCII, unquoted: addresses compare under Postgres' lower(), and no character has a meaning in a mail header. */
export const emailField = describedAs(
  z
    .string('must be text')
    .max(EMAIL_MAX_CHARACTERS, `must have at most ${String(EMAIL_MAX_CHARACTERS)} characters`)
    .transform((value, context) => {
      const address = emailAddressOf(value);
      if (address !== undefined && address.length <= EMAIL_MAX_CHARACTERS) return address;
      context.addIssue({ code: 'custom', message: 'must be an email address' });
      return z.NEVER;
    }),
  { type: 'string', format: 'email', maxLength: EMAIL_MAX_CHARACTERS },
);

export const addressSchema = z.strictObject({ email: emailField });
