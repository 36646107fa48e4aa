import { z } from 'zod';
import { invalidFields } from '@tollgate/http/invalid-fields';
import { describedAs } from '../../http/input/described-as.ts';
import { PASSWORD_CHARACTERS, passwordFault } from './password-rules.ts';

/** An existing password: only compared, so the rules for new ones don't apply. */
export const givenPasswordField = describedAs(
  z
    .string('must be text')
    .min(1, 'must not be empty')
    .refine(
      (value) => Array.from(value).length <= PASSWORD_CHARACTERS.max,
      `must have at most ${String(PASSWORD_CHARACTERS.max)} characters`,
    ),
  { type: 'string', format: 'password', minLength: 1, maxLength: PASSWORD_CHARACTERS.max },
);

/** Its rules also need the email address: `passwordFault`. */
export const newPasswordField = describedAs(z.string('must be text'), {
  type: 'string',
  format: 'password',
  minLength: PASSWORD_CHARACTERS.min,
  maxLength: PASSWORD_CHARACTERS.max,
  description: 'Must not be a common password or contain the email address.',
});

/** @throws {Problem} invalid_request if the new password breaks a rule */
export function assertPasswordFits(field: string, password: string, address: string): void {
  const message = passwordFault(password, address);
  if (message !== undefined) throw invalidFields([{ field, message }]);
}
