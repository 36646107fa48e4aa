import { z } from 'zod';

/** Answers about people, as the API's document describes them. */

/** What is asked for happens by mail, or doesn't: the answer tells nobody who has an account. */
export const acceptedSchema = z.object({});

export const signUpSettingSchema = z.object({
  enabled: z.boolean().meta({ description: 'Whether new accounts can sign up.' }),
});

export const verifiedSchema = z.object({
  email: z.string().meta({ description: 'The confirmed address.' }),
});
