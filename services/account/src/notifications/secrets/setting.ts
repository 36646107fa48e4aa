import { z } from 'zod';

/** The setting of a signing secret of webhooks: two during a rotation. */
export const signingSecrets = z
  .string()
  .transform((value) => value.split(',').map((secret) => secret.trim()))
  .refine(
    (secrets) => secrets.length <= 2 && secrets.every((secret) => /^whsec_[\w+/=-]{8,255}$/.test(secret)),
    'must be one or two signing secrets (whsec_…), separated by a comma',
  )
  .meta({ values: '`whsec_…`; two, separated by a comma, during a rotation', isSecret: true });
