import { z } from 'zod';

/** Empty, so that it doesn't tell whether the address has an account. */
export const acceptedSchema = z.object({});

export const signUpSettingSchema = z.object({
  enabled: z.boolean().meta({ description: 'Whether new accounts can sign up.' }),
  offer: z
    .object({
      plan_name: z.string(),
      points_limit: z.int().nullable().meta({ description: 'In one billing period; null if unlimited.' }),
      days: z.int().nullable().meta({ description: 'Length of the trial; null for a monthly subscription.' }),
    })
    .nullable()
    .meta({ description: 'The plan that a new account gets; null if an operator chooses one.' }),
});

export const verifiedSchema = z.object({
  email: z.string().meta({ description: 'The confirmed address.' }),
});
