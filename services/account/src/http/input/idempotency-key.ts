import { z } from 'zod';

export const idempotencyKeyField = z
  .string('must be text')
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters without spaces');
