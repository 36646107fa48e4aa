import { z } from 'zod';
import { idQueryField } from '../../http/input/fields.ts';
import { nameSchema } from '../../http/input/name.ts';
import { pageFields } from '../../http/input/page.ts';
import { searchField } from '../../http/input/search.ts';

export const newTokenSchema = z.strictObject({ name: nameSchema });

export const tokenListSchema = z.strictObject({
  ...pageFields,
  status: z.enum(['Active', 'Expired', 'Revoked'], 'must be Active, Expired or Revoked').optional(),
  search: searchField.optional(),
});

export const accountTokenListSchema = z.strictObject({
  ...tokenListSchema.shape,
  application_id: idQueryField.optional(),
});
