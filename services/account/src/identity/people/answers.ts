import { z } from 'zod';

/** Empty, so that it doesn't tell whether the address has an account. */
export const acceptedSchema = z.object({});

export const signUpSettingSchema = z.object({
  enabled: z.boolean().meta({ description: 'Whether new accounts can sign up.' }),
});

export const verifiedSchema = z.object({
  email: z.string().meta({ description: 'The confirmed address.' }),
});
