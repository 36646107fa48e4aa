import { z } from 'zod';
import { idField, idQueryField } from '../../http/input/fields.ts';
import { nameSchema } from '../../http/input/name.ts';
import { pageFields } from '../../http/input/page.ts';
import { searchField } from '../../http/input/search.ts';
import { REDIRECT_URIS_MAX, REDIRECT_URI_MAX_CHARACTERS } from '../redirect-uris/redirect-uri.ts';
import { OVERLAP_SEC, TOKEN_LIFESPAN_SEC } from './rules.ts';

const type = z.enum(['automatic', 'manual', 'authorization'], 'must be automatic, manual or authorization');
const token_lifespan_sec = wholeSeconds(TOKEN_LIFESPAN_SEC);

/** Of applications of type `authorization`; redirect-uris decides which can be registered. */
const redirect_uris = z
  .array(z.string().max(REDIRECT_URI_MAX_CHARACTERS, 'must have at most 2,000 characters'))
  .max(REDIRECT_URIS_MAX, 'must have at most 10 entries')
  .meta({
    description:
      'For type `authorization`, 1 to 10: where people are sent back to. `https`, `http` to the loopback address, or a ' +
      'private-use scheme such as `com.example.app:/callback`.',
  });

const public_client = z.boolean('must be true or false').meta({
  description:
    'For type `authorization`: the application gets no client secret, because it can’t keep one, such as an app on a phone.',
});

export const ownApplicationSchema = z.strictObject({
  name: nameSchema,
  type,
  token_lifespan_sec,
  redirect_uris: redirect_uris.optional(),
  public_client: public_client.optional(),
});

export const newApplicationSchema = z.strictObject({ account_id: idField, ...ownApplicationSchema.shape });

export const changesSchema = z.strictObject({
  name: nameSchema.optional(),
  token_lifespan_sec: token_lifespan_sec.optional(),
  redirect_uris: redirect_uris.optional(),
});

/** What people read of a verified application. Compared only, so the rules for what is typed don't apply. */
export const verificationSchema = z.strictObject({
  name: z.string('must be text'),
  developer: z
    .string('must be text')
    .nullable()
    .meta({ description: 'The name of its account; null if it registered itself.' }),
  redirect_uris: z.array(z.string('must be text')),
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
