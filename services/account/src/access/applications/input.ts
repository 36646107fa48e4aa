import { z } from 'zod';
import { idField, idQueryField } from '../../http/input/fields.ts';
import { nameSchema } from '../../http/input/name.ts';
import { pageFields } from '../../http/input/page.ts';
import { searchField } from '../../http/input/search.ts';
import { OVERLAP_SEC, TOKEN_LIFESPAN_SEC } from './rules.ts';

const type = z.enum(['automatic', 'manual'], 'must be automatic or manual');
const token_lifespan_sec = wholeSeconds(TOKEN_LIFESPAN_SEC);

export const ownApplicationSchema = z.strictObject({ name: nameSchema, type, token_lifespan_sec });

export const newApplicationSchema = z.strictObject({ account_id: idField, ...ownApplicationSchema.shape });

export const changesSchema = z.strictObject({
  name: nameSchema.optional(),
  token_lifespan_sec: token_lifespan_sec.optional(),
});

export const applicationListSchema = z.strictObject({
  ...pageFields,
  status: z.enum(['active', 'revoked'], 'must be active or revoked').optional(),
  type: type.optional(),
  search: searchField.optional(),
});

export const operatedListSchema = z.strictObject({
  ...applicationListSchema.shape,
  account_id: idQueryField.optional(),
});

export const rotationSchema = z.strictObject({ overlap_sec: wholeSeconds(OVERLAP_SEC) });

function wholeSeconds({ min, max }: { min: number; max: number }) {
  const wanted = `must be a whole number of seconds from ${String(min)} to ${String(max)}`;
  return z.int(wanted).min(min, wanted).max(max, wanted);
}
