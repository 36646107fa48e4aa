import { z } from 'zod';
import { TRUSTED_DOCUMENTS_MAX, TRUSTED_DOCUMENT_MAX_LENGTH } from '@tollgate/contracts/trusted-documents';
import { describedAs } from '../../http/input/described-as.ts';

const apiVersion = z.enum(['v1', 'v2'], 'must be v1 or v2').default('v2');

/** Postgres stores no NUL. */
function textUpTo(maxLength: number) {
  return describedAs(
    z
      .string('must be text')
      .min(1, 'must not be empty')
      .max(maxLength, `must have at most ${String(maxLength)} characters`)
      .refine((text) => text.isWellFormed() && !text.includes('\0'), 'must be Unicode text without NUL'),
    { type: 'string', minLength: 1, maxLength },
  );
}

const document = z.strictObject({
  document_id: textUpTo(200)
    .nullable()
    .default(null)
    .meta({ description: 'By which callers may name it, beside its SHA-256.' }),
  text: textUpTo(TRUSTED_DOCUMENT_MAX_LENGTH),
});

export const registrationSchema = z.strictObject({
  api_version: apiVersion,
  documents: z
    .array(document, 'must be a list')
    .max(TRUSTED_DOCUMENTS_MAX, `must have at most ${String(TRUSTED_DOCUMENTS_MAX)} documents`),
  dry_run: z.boolean('must be true or false').default(false).meta({
    description: 'Only report what would be new.',
  }),
});

export const enforcementSchema = z.strictObject({ enforced: z.boolean('must be true or false') });

export const versionSchema = z.strictObject({ api_version: apiVersion });

export type NewDocument = z.output<typeof document>;
