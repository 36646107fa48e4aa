import { z } from 'zod';

/** In Redis as JSON. The token itself isn't stored anywhere. */
export const tokenRecordSchema = z.object({
  client_id: z.string(),
  account_id: z.int(),
  application_id: z.int(),
  scope: z.string(),
  /** Unix seconds, like `exp`. */
  iat: z.int(),
  exp: z.int(),
  epoch: z.int(),
  /** Of a connection's token: the client ID of the application that acts. */
  via: z.string().optional(),
  /** The resource server that it was asked for (RFC 8707). */
  aud: z.string().optional(),
});

export type TokenRecord = z.infer<typeof tokenRecordSchema>;
