import { z } from 'zod';

/** The only scope (service specification, section 5). */
export const SCOPE = 'api';

/** What Redis holds of a token, as JSON. The token itself is nowhere stored. */
export const tokenRecordSchema = z.object({
  client_id: z.string(),
  account_id: z.int(),
  application_id: z.int(),
  scope: z.string(),
  /** Seconds since the epoch, like `exp`. */
  iat: z.int(),
  exp: z.int(),
  /** The application's revocation epoch when the token was issued. */
  epoch: z.int(),
});

export type TokenRecord = z.infer<typeof tokenRecordSchema>;
