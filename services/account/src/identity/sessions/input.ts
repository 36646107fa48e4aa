import { z } from 'zod';
import { emailField } from '../accounts/input.ts';
import { givenPasswordField } from '../passwords/input.ts';

export const signInSchema = z.strictObject({ email: emailField, password: givenPasswordField });
