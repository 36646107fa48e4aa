import { z } from 'zod';
import { invalidFields } from '@tollgate/http/invalid-fields';
import { emailField } from '../../identity/accounts/input.ts';
import { givenPasswordField } from '../../identity/passwords/input.ts';

export const deletionSchema = z.strictObject({
  email: emailField.meta({ description: 'The address of the account, as a confirmation.' }),
  current_password: givenPasswordField,
});

export function wrongEmail() {
  return invalidFields([{ field: 'email', message: 'is not the email address of this account' }]);
}
