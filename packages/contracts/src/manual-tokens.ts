import { z } from 'zod';
import { tokenHashSchema } from './client-record.ts';

/** Response of `GET /private/manual-tokens/clients?after=0`; `next_after` is null at the end. */
export const clientPageSchema = z.object({
  client_ids: z.array(z.uuid()),
  next_after: z.int().nullable(),
});

export type ClientPage = z.infer<typeof clientPageSchema>;

export const MAX_USES_PER_REPORT = 10_000;

/** Body of `POST /private/manual-tokens/uses`; idempotent. Unknown tokens are ignored. */
export const tokenUsesSchema = z.strictObject({
  uses: z
    .array(
      z.strictObject({
        token_hash: tokenHashSchema,
        /** Seconds since the epoch. */
        used_at: z.int().min(0).max(253_402_300_799),
      }),
    )
    .max(MAX_USES_PER_REPORT),
});

export type TokenUses = z.infer<typeof tokenUsesSchema>;

/** Body of `POST /private/clients/{client_id}/revoked-tokens` (RFC 7009); idempotent, 204 once committed. */
export const clientRevocationSchema = z.strictObject({
  token_hash: tokenHashSchema,
  /** The token's `exp`, if auth knows it. */
  expires_at: z.int().min(0).max(253_402_300_799).optional(),
  /** The client's IP address, for the audit log. */
  address: z.string().min(1).max(100),
});

export type ClientRevocation = z.infer<typeof clientRevocationSchema>;
