import { z } from 'zod';
import { delivered, id, instant, nextCursor } from '../../http/answer-fields.ts';

const tokenRecordSchema = z
  .object({
    token_id: id,
    application_id: id,
    name: z.string(),
    status: z.enum(['Active', 'Expired', 'Revoked']),
    issued_at: instant,
    expires_at: instant,
    revoked_at: instant.nullable(),
    last_used_at: instant.nullable(),
  })
  .meta({ id: 'Token' });

const access_token = z.string().meta({ description: 'The token itself. Keep it secret.' });

export const tokenPageSchema = z.object({ tokens: z.array(tokenRecordSchema), next_cursor: nextCursor });

export const accountTokenPageSchema = z.object({
  tokens: z.array(tokenRecordSchema.extend({ application_name: z.string() }).meta({ id: 'AccountToken' })),
  next_cursor: nextCursor,
});

export const issuedTokenSchema = tokenRecordSchema.extend({ access_token, delivered });

export const copiedTokenSchema = tokenRecordSchema.extend({ access_token });

export const revokedTokenSchema = tokenRecordSchema.extend({ delivered });

export const temporaryTokenSchema = z.object({ access_token, expires_at: instant });

export const temporaryTokenEndSchema = z.object({
  expires_at: instant.nullable().meta({ description: 'Null if no temporary token is active.' }),
});

export const deliveredSchema = z.object({ delivered });
